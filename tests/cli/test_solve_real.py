"""weft solve on small real matrices, beside SciPy's direct solver: what is reported must be true whether it converges or not."""

import csv
import io
import json
import lzma
import pathlib

import numpy
import pytest
import scipy.io
import scipy.sparse
import scipy.sparse.linalg

MATRICES = pathlib.Path(__file__).parents[3] / "shared" / "matrices"
COUNT = 30
RTOL = 1e-8

pytestmark = pytest.mark.skipif(not (MATRICES / "INDEX.tsv").exists(), reason="no folder of real matrices beside this checkout")


def candidates():
    """(name, file) of the small square real matrices, by name."""
    with open(MATRICES / "INDEX.tsv") as index:
        for row in sorted(csv.DictReader(index, delimiter="\t"), key=lambda row: row["name"]):
            if row["rows"] == row["cols"] and 20 <= int(row["rows"]) <= 1300 and "complex" not in row["format"] and "/" not in row["name"]:
                yield row["name"], MATRICES / row["file"]


def read(path):
    return scipy.sparse.csc_array(scipy.io.mmread(io.BytesIO(lzma.decompress(path.read_bytes()))), dtype=float)


def is_positive_definite(matrix):
    try:
        numpy.linalg.cholesky(matrix.toarray())
        return True
    except numpy.linalg.LinAlgError:
        return False


@pytest.fixture(scope="module")
def matrices():
    """Thirty symmetric positive definite ones and thirty unsymmetric ones: (name, file, matrix, condition number)."""
    definite, unsymmetric = [], []
    for name, path in candidates():
        if len(definite) == COUNT and len(unsymmetric) == COUNT:
            break
        matrix = read(path)
        symmetric = (matrix != matrix.T).nnz == 0
        group = definite if symmetric else unsymmetric
        if len(group) == COUNT or (symmetric and not is_positive_definite(matrix)):
            continue
        condition = numpy.linalg.cond(matrix.toarray())
        if condition < 1e14:
            group.append((name, path, matrix, condition))
    assert len(definite) == len(unsymmetric) == COUNT
    return definite, unsymmetric


def outcome(weft, tmp_path, case, *arguments):
    """Runs the solver and checks what it says against SciPy; returns (converged, line of the table)."""
    name, path, matrix, condition = case
    b = numpy.random.default_rng(7).standard_normal(matrix.shape[0])
    scipy.io.mmwrite(tmp_path / "b.mtx", b[:, None], precision=17)
    done = weft("solve", path, "b.mtx", "-o", "x.mtx", "--rtol", RTOL, "--max-iterations", "3000", "--json", *arguments)
    assert done.returncode in (0, 3), f"{name}: {done.stderr}"
    report = json.loads(done.stdout)
    assert report["converged"] == (done.returncode == 0) == (report["status"] == "converged"), name
    x = scipy.io.mmread(tmp_path / "x.mtx").ravel()
    assert numpy.isfinite(x).all(), name
    residual = numpy.linalg.norm(b - matrix @ x) / numpy.linalg.norm(b)
    # Rounding of A x itself, which no residual is below.
    rounding = 1e-15 * scipy.sparse.linalg.norm(matrix) * numpy.linalg.norm(x) / numpy.linalg.norm(b)
    assert residual == pytest.approx(report["relative_residual"], rel=1e-3, abs=10 * rounding), name
    assert (residual <= RTOL * 1.001 + 10 * rounding) if report["converged"] else (residual > RTOL * 0.999 - 10 * rounding), name
    direct = scipy.sparse.linalg.spsolve(matrix, b)
    error = numpy.linalg.norm(x - direct) / numpy.linalg.norm(direct)
    if report["converged"]:
        assert error <= 10 * condition * (RTOL + 1e-15), f"{name}: {error}"
    line = f"{name:26} n {matrix.shape[0]:5} cond {condition:7.1e} {report['method']:9} {report['preconditioner']:7} {report['status']:22} {report['iterations']:5} it  residual {residual:.1e} error {error:.1e}"
    return report["converged"], line


def test_definite_matrices(weft, tmp_path, matrices):
    lines = []
    for case in matrices[0]:
        converged, line = outcome(weft, tmp_path, case)
        lines.append(line)
        if case[3] < 1e7:
            assert converged, line
    print("\n".join(lines))


@pytest.mark.parametrize("method", ["bicgstab", "gmres"])
def test_unsymmetric_matrices(weft, tmp_path, matrices, method):
    lines = []
    converged = 0
    for case in matrices[1]:
        arguments = ["--method", method, *(["--restart", "200"] if method == "gmres" else [])]
        has_converged, line = outcome(weft, tmp_path, case, *arguments)
        lines.append(line)
        converged += has_converged
    print("\n".join(lines))
    assert converged >= COUNT // 3
