"""What the tests of tools/ share: running a script, and the tools with planted kernels, built when first asked for."""
import fcntl
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WEFT_BUILD"])


@pytest.fixture
def script(tmp_path):
    """Runs tools/NAME in an empty folder; returns the finished process."""

    def run(name, *arguments, **options):
        return subprocess.run([ROOT / "tools" / name, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True, **options)

    return run


@pytest.fixture(scope="session")
def planted():
    """planted("slowed"): the path of the tool with that csr kernel, see tests/tools/kernels."""

    def build(name):
        with open(BUILD / "planted.lock", "w") as lock:  # one build in a folder at a time
            fcntl.flock(lock, fcntl.LOCK_EX)
            targets = subprocess.run(["cmake", "--build", BUILD, "--target", f"weft_{name}"], capture_output=True, text=True)
        if "unknown target" in targets.stdout + targets.stderr:
            pytest.skip(f"this build has no weft_{name}")
        assert targets.returncode == 0, targets.stdout + targets.stderr
        return BUILD / "tests/bin" / f"weft_{name}"

    return build


@pytest.fixture(scope="session")
def inside():
    """inside("perf-guard"): the script as a module, for tests of its functions."""
    sys.path.insert(0, str(ROOT / "tools"))

    def load(script):
        name = script.replace("-", "_")
        loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / script))
        module = sys.modules[name] = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
        loader.exec_module(module)
        return module

    yield load
    sys.path.remove(str(ROOT / "tools"))
