"""What the tests of tools/ share: running a script, and the tools with planted kernels, built when first asked for."""
import os
import pathlib
import subprocess

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
        targets = subprocess.run(["cmake", "--build", BUILD, "--target", f"weft_{name}"], capture_output=True, text=True)
        if "unknown target" in targets.stdout + targets.stderr:
            pytest.skip(f"this build has no weft_{name}")
        assert targets.returncode == 0, targets.stdout + targets.stderr
        return BUILD / "tests/bin" / f"weft_{name}"

    return build
