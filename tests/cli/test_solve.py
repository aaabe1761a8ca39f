import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree

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


def write_columns(path, *columns):
    numbers = [str(number) for column in columns for number in column]
    path.write_text(f"%%MatrixMarket matrix array real general\n{len(columns[0])} {len(columns)}\n" + "\n".join(numbers) + "\n")


def test_each_column_of_b_is_a_right_side(succeed, solve, tmp_path):
    write_matrix(tmp_path / "a.mtx", 3, [(1, 1, 2), (2, 2, 4), (3, 3, 8)])
    write_columns(tmp_path / "b.mtx", [2, 8, 24], [0, 0, 0], [-2, 4, 1])
    result = solve("a.mtx", "b.mtx", "-o", "x.mtx", "--rtol", "1e-12")
    assert (tmp_path / "x.mtx").read_text().splitlines()[2] == "3 3"
    assert vector(tmp_path / "x.mtx") == pytest.approx([1, 2, 3, 0, 0, 0, -1, 1, 1 / 8])
    assert result["right_sides"] == 3 and result["converged"] is True and "iterations" not in result
    assert [one["status"] for one in result["solutions"]] == ["converged"] * 3
    assert [one["method"] for one in result["solutions"]] == ["cg"] * 3 and result["solutions"][1]["iterations"] == 0
    # One plan and one preconditioner, and the guesses are columns as well.
    again = solve("a.mtx", "b.mtx", "--x0", "x.mtx", "--rtol", "1e-12")
    assert [one["iterations"] for one in again["solutions"]] == [0, 0, 0]
    text = succeed("solve", "a.mtx", "b.mtx")
    table = re.search(r"^b +result +iterations +residual +time\n-+\n(.*)", text, re.DOTALL | re.MULTILINE)[1].splitlines()
    assert [row.split()[:2] for row in table] == [[str(i), "converged"] for i in (1, 2, 3)]


def test_the_right_side_that_was_not_solved_is_named(weft, tmp_path):
    write_matrix(tmp_path / "singular.mtx", 2, [(1, 1, 1), (2, 1, 1)])
    write_columns(tmp_path / "b.mtx", [1, 1], [1, 0])
    done = weft("solve", "singular.mtx", "b.mtx", "--method", "gmres", "--preconditioner", "none", "--json")
    assert done.returncode == 3 and done.stderr.startswith("weft: right side 2: gmres: stalled; ")
    result = json.loads(done.stdout)
    assert result["converged"] is False and [one["converged"] for one in result["solutions"]] == [True, False]


def test_several_right_sides_are_solved_as_each_alone(solve, tmp_path):
    numbers = [[((7 * i + 3 * j) % 11) - 5 for i in range(400)] for j in range(2)]
    write_columns(tmp_path / "both.mtx", *numbers)
    for j in range(2):
        write_columns(tmp_path / f"{j}.mtx", numbers[j])
    both = solve("gen:poisson2d:20", "both.mtx", "--format", "csr")["solutions"]
    alone = [solve("gen:poisson2d:20", f"{j}.mtx", "--format", "csr") for j in range(2)]
    assert [one["residuals"] for one in both] == [one["residuals"] for one in alone]


MESH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
2
1 4 2 0 1 1 2 3 4
2 4 2 0 1 2 3 4 5
$EndElements
"""


@pytest.mark.parametrize("equation", ["poisson", "elasticity"])
def test_a_smooth_answer_is_known_on_a_mesh_and_elsewhere(solve, tmp_path, equation):
    (tmp_path / "part.msh").write_text(MESH)
    result = solve(f"fem:part.msh:{equation}:p2", "smooth", "-o", "x.mtx", "--rtol", "1e-12")
    assert result["converged"] and result["error"] < 1e-8
    x = vector(tmp_path / "x.mtx")
    # The node at the origin: cos(0) + sin(0) + 0, and the phases of the other unknowns.
    assert x[0] == pytest.approx(1, abs=1e-6) and (equation == "poisson" or x[1] == pytest.approx(0.5403023, abs=1e-6))
    result = solve("gen:poisson2d:15", "smooth", "-o", "y.mtx", "--rtol", "1e-10")
    y = vector(tmp_path / "y.mtx")
    assert result["error"] < 1e-6 and max(abs(a - b) for a, b in zip(y, y[1:])) < 0.02 and y[0] == pytest.approx(1, abs=1e-4)


def test_a_manufactured_answer_is_that_of_the_equation(solve, succeed, refuse, tmp_path):
    (tmp_path / "part.msh").write_text(MESH)
    errors = {}
    for order in ("p1", "p2"):
        result = solve(f"fem:part.msh:poisson:{order}", "manufactured", "--rtol", "1e-12")
        assert result["converged"]
        errors[order] = result["error"]
    assert 1e-3 < errors["p2"] < errors["p1"] < 1, "two elements are coarse, and quadratic ones better"
    assert "of |x|, the field's: that of the mesh is in it" in succeed("solve", "fem:part.msh:poisson:p1", "manufactured")
    assert "'smooth' is of any matrix" in refuse(1, "solve", "gen:poisson2d:4", "manufactured")


def test_svg_shows_the_residual_and_the_tolerance(succeed, tmp_path):
    succeed("solve", "gen:poisson2d:20", "--rtol", "1e-7", "--svg", "picture.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "picture.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(element.itertext()) for element in root.iter(name + "text")]
    assert "tolerance 1.0e-07" in texts and "iteration" in texts and "|b - A x| / |b|" in texts
    lines = [element for element in root.iter(name + "polyline")]
    assert len(lines) == 1
    heights = [float(point.split(",")[1]) for point in lines[0].get("points").split()]
    marker = next(float(element.get("y1")) for element in root.iter(name + "line") if element.get("class") == "marker")
    assert heights[0] < heights[-1] and heights[-1] >= marker > heights[-2], "it crosses the tolerance at the end"
    # A line for each right side, and standard output for a pipe.
    write_columns(tmp_path / "b.mtx", [1] * 400, list(range(400)))
    root = xml.etree.ElementTree.fromstring(succeed("solve", "gen:poisson2d:20", "b.mtx", "--svg", "-"))
    assert len(list(root.iter(name + "polyline"))) == 2
    assert "b 2" in ["".join(element.itertext()) for element in root.iter(name + "text")]


LONG = ["solve", "gen:poisson2d:700", "--rtol", "1e-14", "--preconditioner", "none", "--format", "csr"]


def test_a_terminal_shows_the_residual_as_it_falls(weft_bin, tmp_path, on_terminal):
    drawn, output = on_terminal([weft_bin, "solve", "gen:poisson2d:300", "--format", "csr", "--rtol", "1e-10"], tmp_path)
    shown = re.findall(r"solving: residual (\S+) of 1.0e-10, iteration (\d+)", drawn)
    assert shown and drawn.endswith("\r\033[K") and "converged" in output
    iterations = [int(iteration) for _, iteration in shown]
    assert iterations == sorted(iterations) and all(float(residual) > 1e-10 for residual, _ in shown)


def test_nothing_is_drawn_where_nobody_looks(weft):
    assert weft("solve", "gen:poisson2d:300", "--format", "csr", "--rtol", "1e-10").stderr == ""


@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_solve_ends_at_once_and_leaves_nothing(weft_bin, tmp_path, number):
    process = subprocess.Popen([weft_bin, *LONG, "-o", "x.mtx", "--svg", "picture.svg"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "2"})
    time.sleep(1.5)
    assert process.poll() is None, process.communicate()
    begin = time.monotonic()
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert time.monotonic() - begin < 0.2
    assert process.returncode == -number and (output, errors) == (b"", b"")
    assert list(tmp_path.iterdir()) == []


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
    write_columns(tmp_path / "two.mtx", [1, 1], [2, 2])
    assert "x0 has 2 columns, b has 1" in refuse(1, "solve", "a.mtx", "ones", "--x0", "two.mtx")
    assert "there is no folder" in refuse(1, "solve", "a.mtx", "--svg", "absent/picture.svg")
    assert "--json and --svg" in refuse(2, "solve", "a.mtx", "--svg", "-", "--json")
    assert "bicgstab" in refuse(2, "solve", "a.mtx", "--method", "lu")
    assert "jacobi" in refuse(2, "solve", "a.mtx", "--preconditioner", "ilu")
    for arguments in (["--products", "0"], ["--rtol", "-1"], ["--rtol", "nan"], ["--max-iterations", "0"], ["--restart", "0"]):
        refuse(2, "solve", "a.mtx", *arguments)
