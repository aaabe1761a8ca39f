"""What the tests of the built tool share: running it, and comparing what it prints with golden files.

WEFT_BIN names the tool. After an intended change of output: pytest tests/cli --update-golden
"""

import os
import pathlib
import pty
import re
import signal
import subprocess
import threading

import pytest

# Shells start what runs in the background with interrupts ignored, nohup with hang-ups: the tool would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

GOLDEN = pathlib.Path(__file__).parent / "golden"
BUILD = pathlib.Path(__file__).parents[2] / "build"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write what the tool prints as the new golden files")


@pytest.fixture(scope="session")
def weft_bin():
    candidates = [os.environ.get("WEFT_BIN"), BUILD / "release/bin/weft", BUILD / "dev/bin/weft"]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    pytest.fail("no tool to test: build it (cmake --build --preset release) or set WEFT_BIN")


@pytest.fixture
def weft(weft_bin, tmp_path):
    """Runs the tool in a fresh folder; returns the finished process."""

    def run(*arguments, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("timeout", 120)
        environment = {**os.environ, "OMP_NUM_THREADS": "2", **options.pop("env", {})}
        return subprocess.run([weft_bin, *map(str, arguments)], cwd=tmp_path, env=environment, text=True, **options)

    return run


@pytest.fixture
def succeed(weft):
    """Runs the tool and expects success; returns standard output."""

    def run(*arguments, **options):
        done = weft(*arguments, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def refuse(weft):
    """Runs the tool, expects an exit code, one sentence on standard error and no result; returns the sentence."""

    def run(code, *arguments, **options):
        done = weft(*arguments, **options)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert done.stdout in ("", None)
        assert done.stderr.startswith("weft: ") and done.stderr.endswith("\n"), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    return run


@pytest.fixture
def on_terminal():
    def run(command, folder):
        """Runs with standard error on a terminal; returns what was drawn there and standard output."""
        master, slave = pty.openpty()
        drawn = []

        def read():
            try:
                while block := os.read(master, 4096):
                    drawn.append(block)
            except OSError:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=slave,
                              env={**os.environ, "TERM": "xterm"}, timeout=120)
        os.close(slave)
        reader.join(timeout=10)
        os.close(master)
        assert done.returncode == 0
        return b"".join(drawn).decode(), done.stdout.decode()

    return run


NUMBER = re.compile(
    r"(?<![\w:.])-?\d+(,\d{3})*(\.\d+)?([eE][+-]?\d+)?( (ns|us|ms|s|kB|MB|GB|TB|bytes|%)(?![\w/]))?(x(?!\w))?")


def mask(text):
    """Numbers with their units become <n>, column widths do not matter."""
    lines = []
    for line in text.splitlines():
        line = NUMBER.sub("<n>", line)
        line = re.sub(r"-{4,}", "----", line)
        line = re.sub(r"(?<=\S) +", " ", line)
        lines.append(re.sub(r"(?<= )-(?= |$)", "<n>", line))
    return "\n".join(lines) + "\n"


@pytest.fixture
def golden(request):
    """Compares text with golden/NAME.txt, with numbers masked unless exact."""

    def compare(name, text, exact=False):
        text = text if exact else mask(text)
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text)
        assert path.exists(), f"{path} is missing; make it with --update-golden"
        assert text == path.read_text()

    return compare


@pytest.fixture
def small_mtx(tmp_path):
    """Rows (4 -1 0), empty, (2 0 3)."""
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4\n1 2 -1\n3 1 2\n3 3 3\n")
    return path
