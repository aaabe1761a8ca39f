import json
import re

import pytest


def vector(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [float(line) for line in lines[1:]]


@pytest.fixture
def solve(succeed):
    return lambda *arguments: json.loads(succeed("solve", *arguments, "--json"))


def write_matrix(path, size, entries):
    lines = [f"{row} {column} {value}" for row, column, value in entries]
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{size} {size} {len(lines)}\n" + "\n".join(lines) + "\n")


def test_the_known_answer_is_found(solve):
    result = solve("gen:poisson3d:12", "--rtol", "1e-10")
    assert result["converged"] and result["method"] == "cg" and result["preconditioner"] == "jacobi"
    assert result["error"] < 1e-8 and result["relative_residual"] <= 1e-10
    assert len(result["residuals"]) == result["iterations"] + 1


@pytest.mark.parametrize("method", ["cg", "minres", "gmres", "fgmres", "bicgstab"])
@pytest.mark.parametrize("preconditioner", ["none", "jacobi"])
@pytest.mark.parametrize("value_type", ["f32", "f64"])
def test_each_method_can_be_asked_for(solve, method, preconditioner, value_type):
    result = solve("gen:poisson2d:15", "--method", method, "--preconditioner", preconditioner, "--type", value_type,
                   "--rtol", "1e-5")
    assert result["converged"] and result["method"] == method and result["preconditioner"] == preconditioner
    assert result["error"] < 1e-2 and result["type"] == value_type


def test_what_is_chosen_goes_by_the_matrix(solve, tmp_path):
    write_matrix(tmp_path / "unsymmetric.mtx", 3, [(1, 1, 4), (1, 2, 1), (2, 2, 3), (3, 1, 1), (3, 3, 5)])
    assert solve("unsymmetric.mtx")["method"] == "bicgstab"
    write_matrix(tmp_path / "saddle.mtx", 3, [(1, 1, 2), (1, 3, 1), (2, 2, 2), (2, 3, 1), (3, 1, 1), (3, 2, 1)])
    result = solve("saddle.mtx")
    assert result["method"] == "minres" and result["preconditioner"] == "none" and result["error"] < 1e-4
    # A positive diagonal, and still not positive definite.
    write_matrix(tmp_path / "hidden.mtx", 2, [(1, 1, 1), (1, 2, 3), (2, 1, 3), (2, 2, 1)])
    result = solve("hidden.mtx")
    assert result["method"] == "minres" and result["converged"]


def test_right_side_guess_and_answer_are_files(succeed, solve, tmp_path):
    write_matrix(tmp_path / "a.mtx", 3, [(1, 1, 2), (2, 2, 4), (3, 3, 8)])
    (tmp_path / "b.txt").write_text("2\n8\n24\n")
    succeed("solve", "a.mtx", "b.txt", "-o", "x.mtx")
    assert vector(tmp_path / "x.mtx") == pytest.approx([1, 2, 3])
    assert solve("a.mtx", "b.txt", "--x0", "x.mtx")["iterations"] == 0
    assert solve("a.mtx", "ones", "-o", "y.mtx")["converged"]
    assert vector(tmp_path / "y.mtx") == pytest.approx([1 / 2, 1 / 4, 1 / 8])


def test_the_text_is_for_people(succeed):
    text = succeed("solve", "gen:poisson2d:20")
    assert re.search(r"^method +cg, preconditioner jacobi \(A is symmetric, its diagonal positive\)$", text, re.MULTILINE)
    assert re.search(r"^result +converged after \d+ iterations$", text, re.MULTILINE)
    table = re.search(r"iteration +residual\n-+\n(.*)", text, re.DOTALL)[1].splitlines()
    assert 2 <= len(table) <= 10 and table[0].split()[0] == "0"
    assert max(map(len, text.splitlines())) <= 140


def test_what_is_not_solved_exits_3(weft, tmp_path):
    write_matrix(tmp_path / "singular.mtx", 2, [(1, 1, 1), (2, 1, 1)])
    (tmp_path / "b.txt").write_text("1\n0\n")
    done = weft("solve", "singular.mtx", "b.txt", "--method", "gmres")
    assert done.returncode == 3
    assert done.stderr.startswith("weft: gmres: stalled; |b - A x| is ") and "converged" not in done.stdout
    done = weft("solve", "gen:poisson2d:30", "--max-iterations", "3")
    assert done.returncode == 3 and "not converged" in done.stderr


def test_refusals_say_what_is_expected(refuse, tmp_path):
    write_matrix(tmp_path / "a.mtx", 2, [(1, 1, 1), (2, 2, 1)])
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n")
    (tmp_path / "b.txt").write_text("1\n2\n3\n")
    (tmp_path / "zero.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n")
    assert "only square" in refuse(1, "solve", "wide.mtx")
    assert "b has 3 entries, but the matrix has 2 rows" in refuse(1, "solve", "a.mtx", "b.txt")
    assert "x0 has 3 entries" in refuse(1, "solve", "a.mtx", "ones", "--x0", "b.txt")
    assert "row 1 is missing" in refuse(1, "solve", "zero.mtx", "--preconditioner", "jacobi")
    assert "bicgstab" in refuse(2, "solve", "a.mtx", "--method", "lu")
    assert "jacobi" in refuse(2, "solve", "a.mtx", "--preconditioner", "ilu")
    for arguments in (["--rtol", "-1"], ["--rtol", "nan"], ["--max-iterations", "0"], ["--restart", "0"]):
        refuse(2, "solve", "a.mtx", *arguments)
