"""The Matrix Market reader against SciPy's: every file reads equally, or weft refuses it with one sentence.

WEFT_BIN names the weft program. The files are those of ../shared/matrices/parser, where that folder exists, and of
tests/data, which always does.
"""

import fnmatch
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

GOOD_FILES = sorted(DATA.glob("good/*.mtx*"))
BAD_FILES = sorted(DATA.glob("bad/*.mtx*"))
PARSER_FILES = sorted(PARSER.glob("*.mtx*")) if PARSER.is_dir() else []

# What weft refuses although SciPy reads it: part of the sentence, and the files it is meant for. Complex matrices, which
# weft does not have, are told by their first line.
DEPARTURES = {
    # A matrix with nan or inf is of no use.
    "is not a finite number": ["value_infinite.*", "value_nan.*", "*__skew_fp32*", "*__skew_fp64*"],
    # SciPy reads infinity.
    "is too large for f64": ["value_too_large.*", "*__longdouble_*", "*__overflow_value_gt_float*"],
    # SciPy drops what follows an entry on its line.
    "stands after the end of the entry": ["array_two_on_a_line.*", "pattern_with_value.*", "text_after_value.*",
                                          "*__mangled[56]*"],
    # SciPy takes the beginning of a word for the number.
    "stands where a value belongs": ["value_comma.*"],
    "is not a whole number, as the header promises": ["integer_fraction.*"],
    "does not fit 64 bits": ["integer_past_int64_exponent.*"],
    # No such matrix is symmetric or skew-symmetric.
    "must be square": ["symmetric_not_square.*"],
    "no entries other than zero on its diagonal": ["skew_diagonal.*", "*__matrix_coordinate_real_skew-symmetric*"],
}
# What weft reads although SciPy refuses it: comments between entries, plus signs, any case of the banner.
LENIENT = ["free_format.*", "duplicate_entry.*", "*__fullrsa*"]

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


def is_departure(path, text, sentence):
    if "complex matrices are not supported" in sentence:
        return b"complex" in text.split(b"\n", 1)[0].lower()
    return any(part in sentence and any(fnmatch.fnmatch(path.name, name) for name in names)
               for part, names in DEPARTURES.items())


@pytest.mark.parametrize("path", GOOD_FILES, ids=lambda path: path.name)
def test_good_files_are_read(path, tmp_path):
    result = convert(path, tmp_path / "result.mtx")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", GOOD_FILES + BAD_FILES + PARSER_FILES, ids=lambda path: path.name)
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
            assert is_departure(path, plain.read_bytes(), result.stderr), result.stderr
        return
    assert expected is not TOO_LARGE, "weft read a file that claims more than a machine can hold"
    if expected is None:
        assert any(fnmatch.fnmatch(path.name, name) for name in LENIENT), "SciPy refuses this file"
        return
    found = scipy.sparse.csr_matrix(scipy.io.mmread(target))
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
