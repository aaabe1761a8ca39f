"""The Matrix Market reader against SciPy's: every file reads equally, or weft refuses it with one sentence.

WEFT_BIN names the weft program. The files are those of ../shared/matrices/parser, where that folder exists, and of
tests/data, which always does.
"""

import gzip
import lzma
import os
import pathlib
import shutil
import subprocess
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
PARSER = ROOT.parent / "shared" / "matrices" / "parser"
WEFT = os.environ.get("WEFT_BIN") or shutil.which("weft")

OWN_FILES = sorted(DATA.glob("good/*.mtx*")) + sorted(DATA.glob("bad/*.mtx*"))
PARSER_FILES = sorted(PARSER.glob("*.mtx*")) if PARSER.is_dir() else []

# What weft refuses although SciPy reads it: part of the sentence, and why.
DEPARTURES = {
    "complex matrices are not supported": "weft has no complex values yet",
    "is not a finite number": "a matrix with nan or inf is of no use",
    "is too large for f64": "SciPy reads infinity",
    "that are supported": "more than 2^31-1 rows or columns",
    "stands after the end of the entry": "SciPy drops what follows an entry on its line",
    "is not a whole number, as the header promises": "SciPy drops the fraction",
    "no entries other than zero on its diagonal": "no such matrix is skew-symmetric",
    "must be square": "no such matrix is symmetric",
    "stands where a value belongs": "SciPy takes the beginning of a word for the number",
}

pytestmark = pytest.mark.skipif(WEFT is None, reason="set WEFT_BIN to the weft program")


TOO_LARGE = object()


def unpack(path):
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content)
    if content.startswith(b"\xfd7zXZ"):
        return lzma.decompress(content)
    return content


def read_with_scipy(path):
    """The matrix, None where SciPy refuses the file, or TOO_LARGE where reading it would fill the memory."""
    try:
        rows, cols, entries, *_ = scipy.io.mminfo(path)
        if max(rows, cols) > 10**8 or entries > 10**8:
            return TOO_LARGE
        return scipy.sparse.csr_matrix(scipy.io.mmread(path))
    except (ValueError, OverflowError, MemoryError, EOFError, TypeError):
        return None


def convert(source, target):
    return subprocess.run([WEFT, "convert", str(source), "-o", str(target)], capture_output=True, text=True, timeout=120)


def assert_refused_with_one_sentence(result, target):
    assert result.returncode == 1, result
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert not target.exists()


@pytest.mark.parametrize("path", OWN_FILES + PARSER_FILES, ids=lambda path: path.name)
def test_reads_as_scipy_reads_it_or_refuses(path, tmp_path):
    plain, target = tmp_path / "plain.mtx", tmp_path / "result.mtx"
    result = convert(path, target)
    try:
        plain.write_bytes(unpack(path))
    except (EOFError, OSError, lzma.LZMAError, zlib.error):
        assert_refused_with_one_sentence(result, target)
        return
    expected = read_with_scipy(plain)
    if result.returncode != 0:
        assert_refused_with_one_sentence(result, target)
        if expected is not None and expected is not TOO_LARGE:
            assert any(part in result.stderr for part in DEPARTURES), result.stderr
        return
    found = scipy.sparse.csr_matrix(scipy.io.mmread(target))
    if expected is None:
        return  # weft takes comments between entries, plus signs and any case of the banner; SciPy does not
    expected = expected.astype(np.float64)
    assert found.shape == expected.shape
    assert (found != expected).nnz == 0


def test_no_parser_file_is_left_out():
    if not PARSER.is_dir():
        pytest.skip(f"no folder {PARSER}")
    assert len(PARSER_FILES) == len(list(PARSER.iterdir())) > 200


@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz", ".weft"])
def test_every_ending_reads_back_the_same(ending, tmp_path):
    matrix = scipy.sparse.random(300, 200, density=0.05, random_state=1, format="coo")
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix, precision=17)
    assert convert(tmp_path / "a.mtx", tmp_path / ("b" + ending)).returncode == 0
    assert convert(tmp_path / ("b" + ending), tmp_path / "c.mtx").returncode == 0
    found = scipy.io.mmread(tmp_path / "c.mtx")
    assert (scipy.sparse.csr_matrix(found) != scipy.sparse.csr_matrix(matrix)).nnz == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["a.mtx", "b" + ending, "c.mtx"])
