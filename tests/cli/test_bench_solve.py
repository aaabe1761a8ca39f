"""weft bench --solve: the time to the answer, what it came to, and files that say so."""
import csv
import io
import json
import pathlib
import xml.etree.ElementTree

import pytest

FAST = ["--seconds", "0.02", "--repeat", "3"]
SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "bench/report/solve_schema.json").read_text())


def bench(succeed, *arguments):
    return json.loads(succeed("bench", "--solve", *arguments, *FAST, "--json", "-"))


def write_matrix(path, size, entries):
    lines = [f"{row} {column} {value}" for row, column, value in entries]
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{size} {size} {len(lines)}\n" + "\n".join(lines) + "\n")


def test_table_stays_as_agreed(succeed, golden):
    text = succeed("bench", "--solve", "gen:poisson2d:20", "--formats", "csr,sell", *FAST)
    machine, rest = text.split("\n", 1)
    assert "thread" in machine
    table, verdict = rest.split("\nSoonest: ")
    golden("bench-solve", table)
    assert verdict.startswith(("csr", "sell"))


def test_times_add_up_and_the_residual_is_the_true_one(succeed, tmp_path):
    entries = [(i, i, 4) for i in range(1, 61)] + [(i, i + 1, -1) for i in range(1, 60)] + [(i + 1, i, -2) for i in range(1, 60)]
    write_matrix(tmp_path / "convection.mtx", 60, entries)
    report = bench(succeed, "gen:poisson2d:20", "convection.mtx", "--formats", "csr,auto")
    assert [(case["source"], case["measurements"][0]["method"]) for case in report["cases"]] == [
        ("gen:poisson2d:20", "cg"), ("convection.mtx", "bicgstab")]
    for case in report["cases"]:
        assert [one["name"] for one in case["measurements"]] == ["csr", "auto"]
        for one in case["measurements"]:
            assert one["reached"] is True and one["status"] == "converged" and one["repeatable"] is True
            assert one["relative_residual"] <= 2 * case["rtol"] == 2e-8
            assert one["setup_seconds"] == pytest.approx(one["plan_seconds"] + one["preconditioner_seconds"])
            assert one["total_seconds"] == pytest.approx(one["setup_seconds"] + one["median_seconds"])
            assert one["iteration_seconds"] == pytest.approx(one["median_seconds"] / one["iterations"])
            assert 0 < one["low_seconds"] <= one["median_seconds"] <= one["high_seconds"]
            assert 1 <= one["solves"] <= 3 and one["peer_ratio"] is None and one["recipe"]
        assert min(one["rank"] for one in case["measurements"]) == 1
    assert report["parameters"] == {"seconds": 0.02, "repeats": 3, "products": 1000, "max_iterations": 20000, "seed": 1}


def test_every_method_with_every_preconditioner_once(succeed):
    report = bench(succeed, "gen:poisson2d:12", "--method", "cg,minres,auto", "--preconditioner", "none,jacobi")
    solvers = [(one["method"], one["preconditioner"]) for one in report["cases"][0]["measurements"]]
    assert solvers == [("cg", "none"), ("cg", "jacobi"), ("minres", "none"), ("minres", "jacobi")]
    assert all(one["reached"] for one in report["cases"][0]["measurements"])


def test_both_types_have_tolerances_of_their_own(succeed):
    report = bench(succeed, "gen:poisson2d:12", "--type", "both")
    assert [(case["type"], case["rtol"]) for case in report["cases"]] == [("f64", 1e-8), ("f32", 1e-5)]
    report = bench(succeed, "gen:poisson2d:12", "--type", "both", "--rtol", "1e-3")
    assert [case["rtol"] for case in report["cases"]] == [1e-3, 1e-3]


def test_what_misses_its_tolerance_is_marked_and_exits_3(weft):
    done = weft("bench", "--solve", "gen:poisson2d:30", "--max-iterations", "3", *FAST)
    assert done.returncode == 3 and " MISSED" in done.stdout and "Soonest" not in done.stdout
    assert "Not within the tolerance: auto cg+jacobi (not converged)." in done.stdout
    assert done.stderr == "weft: a solver of weft did not come to its tolerance, see MISSED in the table\n"
    done = weft("bench", "--solve", "gen:poisson2d:30", "--max-iterations", "3", "--json", "-", *FAST)
    one = json.loads(done.stdout)["cases"][0]["measurements"][0]
    assert done.returncode == 3 and one["rank"] is None and one["reached"] is False and one["iterations"] == 3


def test_a_preconditioner_that_refuses_keeps_its_place(succeed, tmp_path):
    write_matrix(tmp_path / "a.mtx", 2, [(1, 2, 1), (2, 1, 1)])
    report = bench(succeed, "a.mtx", "--method", "minres", "--preconditioner", "jacobi,none")
    jacobi, none = report["cases"][0]["measurements"]
    assert "row 0 is missing" in jacobi["failure"] and "median_seconds" not in jacobi
    assert none["failure"] is None and none["reached"] is True
    assert "minres+jacobi: " in succeed("bench", "--solve", "a.mtx", "--method", "minres", "--preconditioner",
                                        "jacobi,none", *FAST)


def test_json_is_as_its_schema_says(succeed, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="no jsonschema here: pip install -r tests/python/requirements.txt")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    write_matrix(tmp_path / "a.mtx", 2, [(1, 2, 1), (2, 1, 1)])
    report = bench(succeed, "gen:poisson2d:12", "a.mtx", "--method", "minres", "--preconditioner", "jacobi,none",
                   "--peers", "eigen,petsc")
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    described = SCHEMA["properties"]["cases"]["items"]["properties"]["measurements"]["items"]["properties"]
    written = {name for case in report["cases"] for one in case["measurements"] for name in one}
    assert written == set(described), "neither more nor less"
    for spoil in (lambda r: r.update(schema=2), lambda r: r.pop("command"), lambda r: r.update(surprise=1),
                  lambda r: r["cases"][0]["measurements"][0].pop("iterations")):
        wrong = json.loads(json.dumps(report))
        spoil(wrong)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_csv_has_a_line_for_each_solver(succeed, tmp_path):
    write_matrix(tmp_path / "a.mtx", 2, [(1, 2, 1), (2, 1, 1)])
    text = succeed("bench", "--solve", "gen:poisson2d:12", "a.mtx", "--method", "minres", "--preconditioner",
                   "jacobi,none", "--csv", "-", *FAST)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["source"], row["preconditioner"]) for row in rows] == [
        ("gen:poisson2d:12", "jacobi"), ("gen:poisson2d:12", "none"), ("a.mtx", "jacobi"), ("a.mtx", "none")]
    assert float(rows[0]["total_seconds"]) > 0 and rows[0]["failure"] == ""
    assert rows[2]["total_seconds"] == "" and "row 0 is missing" in rows[2]["failure"]
    assert all(None not in row and None not in row.values() for row in rows)


def test_svg_has_a_bar_for_each_solver(succeed, tmp_path):
    succeed("bench", "--solve", "gen:poisson2d:12", "--formats", "csr,sell", "--svg", "chart.svg", *FAST)
    root = xml.etree.ElementTree.parse(tmp_path / "chart.svg").getroot()
    texts = ["".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "csr cg+jacobi" in texts and "sell cg+jacobi" in texts and "plan" in texts
    assert "The soonest on gen:poisson2d:12: " in "".join(root.itertext())


def test_options_that_do_not_go_together_are_refused(refuse, tmp_path):
    assert "--vectors" in refuse(2, "bench", "--solve", "gen:poisson2d:5", "--vectors", "2")
    assert "--order, --patience" in refuse(2, "bench", "--solve", "gen:poisson2d:5", "--patience", "2", "--order", "rcm")
    assert "--rtol goes with --solve" in refuse(2, "bench", "gen:poisson2d:5", "--rtol", "1e-3")
    assert "bicgstab" in refuse(2, "bench", "--solve", "gen:poisson2d:5", "--method", "cg,lu")
    assert "jacobi" in refuse(2, "bench", "--solve", "gen:poisson2d:5", "--preconditioner", "")
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n")
    assert "only square" in refuse(1, "bench", "--solve", "wide.mtx")


def test_an_error_after_the_first_matrix_keeps_what_was_measured(weft, tmp_path):
    done = weft("bench", "--solve", "gen:poisson2d:5", "absent.mtx", "--json", "r.json", *FAST)
    assert done.returncode == 1 and "absent.mtx" in done.stderr
    assert [case["source"] for case in json.loads((tmp_path / "r.json").read_text())["cases"]] == ["gen:poisson2d:5"]
