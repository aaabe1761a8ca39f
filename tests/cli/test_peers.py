"""Other libraries beside ours: found, right, and none of them can bring the tool down."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

FAST = ["--seconds", "0.01", "--repeat", "3", "--formats", "csr"]
CPU = ["eigen", "mkl", "librsb", "librsb:tuned", "petsc:aij", "scipy"]


def bench(succeed, *arguments, **options):
    return json.loads(succeed("bench", *arguments, *FAST, "--json", "-", **options))


def measurement(report, name):
    return next(one for one in report["cases"][0]["measurements"] if one["name"] == name)


@pytest.fixture(scope="session")
def need(weft_bin):
    """Skips the test where a library is absent, unless all are required."""
    told = subprocess.run([weft_bin, "doctor", "--json"], capture_output=True, text=True, timeout=120, check=True).stdout
    found = {one["name"]: one for one in json.loads(told)["peers"]}

    def check(library):
        if not found[library]["found"]:
            assert "WEFT_REQUIRE_PEERS" not in os.environ, found[library]["why_none"]
            pytest.skip(found[library]["why_none"])

    return check


def test_every_library_for_the_cpu_is_there_and_right(weft):
    done = weft("bench", "gen:elasticity3d:8", "--peers", "all", *FAST, "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    names = [one["name"] for one in report["cases"][0]["measurements"]]
    missing = [note.split()[3].rstrip(":") for note in report["notes"]]
    assert done.stderr.splitlines() == [f"weft: {note}" for note in report["notes"]]
    assert [name for name in CPU if name.split(":")[0] not in missing] == names[1:]
    for one in report["cases"][0]["measurements"]:
        assert one["failure"] is None and one["correct"] is True, one["name"]
        assert one["median_seconds"] > 0 and one["bytes"] > 0
    if "WEFT_REQUIRE_PEERS" in os.environ:
        assert report["notes"] == []
    elif missing:
        pytest.skip("; ".join(report["notes"]))


def test_petsc_keeps_its_place_when_it_refuses_single_precision(succeed, need):
    need("petsc")
    one = measurement(bench(succeed, "gen:poisson2d:9", "--peers", "petsc", "--type", "f32"), "petsc:aij")
    assert "f64" in one["failure"]


@pytest.mark.parametrize("library, file", [("mkl", "libmkl_rt.so"), ("scipy", "scipy")])
def test_what_is_absent_is_one_line_that_says_how_to_get_it(weft_bin, weft, tmp_path, need, library, file):
    need(library)
    # Elsewhere the tool does not know of the virtual environment beside its build.
    tool = tmp_path / "weft"
    shutil.copy(weft_bin, tool)
    empty = tmp_path / "python"
    empty.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    empty.chmod(0o755)
    command = [str(tool), "bench", "gen:poisson2d:9", "--peers", library, *FAST]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "WEFT_PYTHON": str(empty)}
    environment.pop("WEFT_PEERS", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    if library == "mkl" and done.returncode == 0 and done.stderr == "":
        pytest.skip("MKL lies in a place of the system's own")
    assert done.returncode == 0 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"weft: no comparison with {library}: ") and file in done.stderr
    assert done.stderr.endswith("; make peers installs it\n")

    environment["WEFT_PEERS"] = "/nonexistent:" + str(pathlib.Path(sys.prefix) / "lib")
    environment["WEFT_PYTHON"] = sys.executable
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "" and f"\n{library} " in done.stdout


def test_a_library_for_another_device_needs_no_word_but_when_it_is_named(weft):
    done = weft("bench", "gen:poisson2d:9", "--peers", "torch", *FAST)
    assert done.returncode == 0 and done.stderr == "weft: no comparison with torch: it runs on a GPU only\n"


def test_help_and_errors_name_every_library(succeed, refuse):
    names = ["eigen", "mkl", "librsb", "petsc", "scipy", "cusparse", "cupy", "torch"]
    help_text = " ".join(succeed("bench", "--help").split())
    sentence = refuse(2, "bench", "gen:poisson2d:4", "--peers", "abacus")
    assert "'abacus'" in sentence
    for name in names:
        assert name in sentence and name in help_text
    assert [one["name"] for one in json.loads(succeed("doctor", "--json"))["peers"]] == names


def python_that(tmp_path, behaviour):
    """A Python whose driver does something else, before `main`, in one of its answers."""
    program = tmp_path / "python"
    program.write_text(f"""#!{sys.executable}
import os, sys, time
names = {{"__name__": "driver"}}
exec(sys.argv[2], names)
Driver = names["Driver"]
{behaviour}
names["main"]()
""")
    program.chmod(0o755)
    return {"WEFT_PYTHON": str(program), "WEFT_PEER_TIMEOUT": "4"}


@pytest.mark.parametrize("behaviour, sentence", [
    ("Driver.do_run = lambda self, question: os._exit(7)", "scipy: Python's process ended with exit code 7"),
    ("Driver.do_time = lambda self, question: os.abort()", "scipy: Python's process was ended by signal 6"),
    ("Driver.do_prepare = lambda self, question: os.write(0, b'hello\\n')", "makes no sense"),
    ("Driver.do_run = lambda self, question: os.write(0, b'[1]\\n')", "makes no sense"),
    ("Driver.do_run = lambda self, question: [os.write(0, b'x' * 50000) for _ in range(9)]", "makes no sense"),
    ("Driver.do_time = lambda self, question: time.sleep(1000)", "scipy: Python's process did not answer within 4 s"),
    ("Driver.do_time = lambda self, question: {}", "an answer without seconds"),
    ("Driver.do_time = lambda self, question: {'seconds': float('nan')}", "scipy: Python's process gave an answer"),
    ("Driver.do_time = lambda self, question: {'seconds': -1}", "makes no sense"),
    ("def refuse(self, question): raise MemoryError\nDriver.do_prepare = refuse", "scipy: not enough memory"),
    ("def refuse(self, question): raise ValueError('one\\ntwo')\nDriver.do_prepare = refuse", "scipy: one"),
])
def test_a_driver_that_misbehaves_costs_its_own_row_only(succeed, need, tmp_path, behaviour, sentence):
    need("scipy")
    begin = time.monotonic()
    report = bench(succeed, "gen:poisson2d:9", "--peers", "scipy,eigen", env=python_that(tmp_path, behaviour))
    assert sentence in measurement(report, "scipy")["failure"]
    assert measurement(report, "csr")["failure"] is None
    assert time.monotonic() - begin < 60
    assert not left_over(str(tmp_path / "python")), "a process was left behind"


def left_over(text):
    """Processes that were started with this text."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [number for number in found if number != os.getpid()]


@pytest.mark.parametrize("script, sentence", [
    ("exit 5", "exit code 5"), ("echo hello >&0", "makes no sense"), ("sleep 1000", "did not answer within 1 s"),
])
def test_something_that_is_no_python_is_told_in_one_line(weft, tmp_path, script, sentence):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    done = weft("bench", "gen:poisson2d:9", "--peers", "scipy", *FAST,
                env={"WEFT_PYTHON": str(program), "WEFT_PEER_TIMEOUT": "1"})
    assert done.returncode == 0
    assert done.stderr.startswith("weft: no comparison with scipy: ") and done.stderr.count("\n") == 1
    assert sentence in done.stderr
    done = weft("bench", "gen:poisson2d:9", "--peers", "scipy", *FAST, env={"WEFT_PYTHON": "/nonexistent/python"})
    assert done.returncode == 0 and "/nonexistent/python cannot be started" in done.stderr


def test_a_wrong_peer_is_marked_and_fails_nothing(succeed, need, tmp_path):
    need("scipy")
    behaviour = "right = Driver.do_run\ndef wrong(self, question):\n  right(self, question)\n  self.shared['y'][3] += 1\n  return {}\nDriver.do_run = wrong"
    report = bench(succeed, "gen:poisson2d:9", "--peers", "scipy", env=python_that(tmp_path, behaviour))
    assert measurement(report, "scipy")["correct"] is False and measurement(report, "csr")["correct"] is True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_with_all_libraries_loaded_a_signal_ends_the_tool_as_ever(weft_bin, need, tmp_path, number):
    need("scipy")
    environment = {**os.environ, **python_that(tmp_path, ""), "OMP_NUM_THREADS": "2", "WEFT_PEER_TIMEOUT": "60"}
    tool = subprocess.Popen([weft_bin, "bench", "gen:poisson2d:30", "--formats", "csr", "--peers", "all", "--seconds",
                             "60", "--json", str(tmp_path / "r.json")], env=environment, cwd=tmp_path,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # SciPy is the last: when its process maps the shared memory, all the others are prepared.
        end = time.monotonic() + 60
        while time.monotonic() < end and not maps_shared_memory(str(tmp_path / "python")):
            time.sleep(0.05)
        assert tool.poll() is None
        time.sleep(0.3)
        tool.send_signal(number)
        assert tool.wait(timeout=20) == -number
    finally:
        tool.kill()
    end = time.monotonic() + 20
    while left_over(str(tmp_path / "python")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left_over(str(tmp_path / "python")), "Python lives on without the tool"
    assert not (tmp_path / "r.json").exists() and not list(tmp_path.glob("r.json*"))


def maps_shared_memory(program):
    for number in left_over(program):
        try:
            maps = pathlib.Path(f"/proc/{number}/maps").read_text()
        except OSError:
            continue
        if "memfd:weft" in maps and os.readlink(f"/proc/{number}/exe") != program and "python" in maps:
            return True
    return False


def test_petsc_works_without_mpirun_and_leaves_nothing_behind(weft, need, tmp_path):
    need("petsc")
    (tmp_path / "tmp").mkdir()
    done = weft("bench", "gen:poisson2d:9", "--peers", "petsc", *FAST, env={"TMPDIR": str(tmp_path / "tmp")})
    assert done.returncode == 0 and done.stderr == "" and "\npetsc:aij " in done.stdout
    assert list((tmp_path / "tmp").iterdir()) == []
