"""Ctrl-C, and the progress bar that only a terminal gets to see."""

import os
import signal
import subprocess
import time

import pytest


def writes_into(process, folder):
    """Whether the process has a file of that folder open."""
    try:
        for name in os.listdir(f"/proc/{process.pid}/fd"):
            if os.readlink(f"/proc/{process.pid}/fd/{name}").startswith(str(folder)):
                return True
    except OSError:
        pass
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", ["f.mtx", "f.weft"])
def test_an_interrupted_write_leaves_nothing(weft_bin, tmp_path, number, name):
    process = subprocess.Popen([weft_bin, "gen", "gen:poisson3d:200", "-o", name], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 100
    while process.poll() is None and not writes_into(process, tmp_path) and time.monotonic() < deadline:
        time.sleep(0.002)
    assert writes_into(process, tmp_path)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == -number, errors
    assert (output, errors) == (b"", b"")
    assert list(tmp_path.iterdir()) == []


LONG = ["gen", "gen:poisson3d:120", "-o", "f.mtx"]


def test_long_work_shows_a_bar_on_a_terminal_and_takes_it_away(weft_bin, tmp_path, on_terminal):
    begin = time.monotonic()
    drawn, output = on_terminal([weft_bin, *LONG], tmp_path)
    seconds = time.monotonic() - begin
    assert "writing f.mtx [" in drawn and " %" in drawn
    assert output == ""
    assert "weft: wrote f.mtx" in drawn.rsplit("\r\033[K", 1)[1]
    assert drawn.count("%") <= 10 * seconds + 2, "redrawn more often than ten times a second"


@pytest.mark.parametrize("option", ["--no-progress", "--quiet"])
def test_no_bar_when_not_wanted(weft_bin, tmp_path, on_terminal, option):
    drawn, _ = on_terminal([weft_bin, *LONG, option], tmp_path)
    assert "[" not in drawn


def test_no_bar_without_a_terminal(weft):
    assert weft(*LONG).stderr == "weft: wrote f.mtx: 1,728,000 x 1,728,000, 12,009,600 nonzeros\n"


def test_tuning_shows_its_rounds(weft_bin, tmp_path, on_terminal):
    drawn, output = on_terminal([weft_bin, "tune-kernels", "gen:rmat:7", "--device", "emulator", "--type", "f32", "--tiles", "8",
                                 "--bunches", "8", "--seconds", "0.2", "--repeat", "4"], tmp_path)
    assert "round 1, gen:rmat:7 f32 [" in drawn
    assert drawn.endswith("\r\033[K") and "the values kept" in output
