"""Code compiled for AVX-512 stays inside its namespace, and the tool that looks for leaks finds one."""
import os
import pathlib
import platform
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check-isa-objects"
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="this CPU has one instruction set only")


def test_kernels_leave_no_avx_code_for_others():
    result = subprocess.run([TOOL, os.environ["WEFT_BUILD"]], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_leak_is_found(tmp_path):
    source = tmp_path / "leak.cpp"
    source.write_text("#include <algorithm>\n"
                      "namespace weft::isa_avx512 { void sort(int* a, int* b) { std::sort(a, b); } }\n")
    folder = tmp_path / "CMakeFiles/weft_kernels_avx512.dir"
    folder.mkdir(parents=True)
    subprocess.run(["g++", "-std=c++20", "-O1", "-c", source, "-o", folder / "leak.o"], check=True)
    result = subprocess.run([TOOL, tmp_path], capture_output=True, text=True)
    assert result.returncode == 1 and "introsort" in result.stdout
