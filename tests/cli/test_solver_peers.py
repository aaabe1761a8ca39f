"""Other libraries' solvers beside ours: found, right, and none of them can bring the tool down."""
import json
import os
import subprocess
import sys

import pytest

FAST = ["--seconds", "0.02", "--repeat", "3", "--formats", "csr"]
CPU = ["eigen:cg+jacobi", "petsc:cg+jacobi", "petsc:cg+icc", "petsc:cg+gamg", "scipy:cg+jacobi"]


def bench(succeed, *arguments, **options):
    return json.loads(succeed("bench", "--solve", *arguments, *FAST, "--json", "-", **options))


def by_name(report):
    return {f"{one['name']}:{one['method']}+{one['preconditioner']}": one for one in report["cases"][0]["measurements"]}


@pytest.fixture(scope="session")
def need(weft_bin):
    """Skips the test where a library is absent, unless all are required."""
    told = subprocess.run([weft_bin, "doctor", "--json"], capture_output=True, text=True, timeout=120, check=True).stdout
    found = {one["name"]: one for one in json.loads(told)["peers"]}

    def check(library):
        if not found[library]["found"]:
            assert "WEFT_REQUIRE_PEERS" not in os.environ, found[library]["why_none"]
            pytest.skip(found[library]["why_none"])

    return check


def test_every_library_for_the_cpu_solves_the_same(weft):
    done = weft("bench", "--solve", "gen:elasticity3d:6", "--peers", "all", *FAST, "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    missing = [note.split()[3].rstrip(":") for note in report["notes"]]
    assert done.stderr.splitlines() == [f"weft: {note}" for note in report["notes"]]
    found = by_name(report)
    assert [name for name in CPU if name.split(":")[0] not in missing] == list(found)[1:]
    ours = found["csr:cg+jacobi"]
    for name, one in found.items():
        assert one["failure"] is None and one["reached"] is True, name
        assert one["relative_residual"] <= 2e-8 and one["total_seconds"] >= one["median_seconds"] > 0
        if name.endswith("cg+jacobi"):  # the same method: rounding moves the end by an iteration or two
            assert abs(one["iterations"] - ours["iterations"]) <= 2, name
    if "WEFT_REQUIRE_PEERS" in os.environ:
        assert report["notes"] == []
    elif missing:
        pytest.skip("; ".join(report["notes"]))


def test_ratios_relate_to_the_soonest_peer_and_to_the_same_solver(succeed, need):
    need("petsc")
    found = by_name(bench(succeed, "gen:poisson2d:25", "--peers", "petsc"))
    ours = found.pop("csr:cg+jacobi")
    assert ours["peer_ratio"] == pytest.approx(min(one["total_seconds"] for one in found.values()) / ours["total_seconds"])
    assert ours["iteration_ratio"] == pytest.approx(found["petsc:cg+jacobi"]["iteration_seconds"] / ours["iteration_seconds"])
    text = succeed("bench", "--solve", "gen:poisson2d:25", "--peers", "petsc", *FAST)
    assert "vs peer" in text and "\npetsc " in text


@pytest.mark.parametrize("library", ["eigen", "petsc", "scipy"])
def test_unsymmetric_matrices_get_the_method_for_them(succeed, need, tmp_path, library):
    need(library)
    entries = [(i, i, 4) for i in range(1, 61)] + [(i, i + 1, -1) for i in range(1, 60)] + [(i + 1, i, -2) for i in range(1, 60)]
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n60 60 178\n" +
                                    "".join(f"{row} {column} {value}\n" for row, column, value in entries))
    found = by_name(bench(succeed, "a.mtx", "--peers", library))
    assert f"{library}:bicgstab+jacobi" in found and all(one["reached"] for one in found.values())
    assert (f"{library}:bicgstab+ilu" in found) == (library == "petsc")


def test_one_solver_of_a_library_can_be_named(succeed, need):
    need("petsc")
    assert list(by_name(bench(succeed, "gen:poisson2d:9", "--peers", "petsc:cg+icc"))) == ["csr:cg+jacobi", "petsc:cg+icc"]


def test_petsc_keeps_its_place_when_it_refuses_single_precision(succeed, need):
    need("petsc")
    found = by_name(bench(succeed, "gen:poisson2d:9", "--peers", "petsc:cg+jacobi", "--type", "f32"))
    assert "f64" in found["petsc:cg+jacobi"]["failure"] and found["csr:cg+jacobi"]["iteration_ratio"] is None


def test_a_library_without_solvers_says_so_when_it_is_named(weft):
    done = weft("bench", "--solve", "gen:poisson2d:9", "--peers", "mkl,torch", *FAST)
    assert done.returncode == 0
    assert done.stderr == ("weft: no comparison with mkl: the bench compares its products only\n"
                           "weft: no comparison with torch: the bench compares its products only\n")
    done = weft("bench", "--solve", "gen:poisson2d:9", "--method", "minres", "--peers", "eigen", *FAST)
    assert done.returncode == 0 and "eigen: it has no minres that the bench knows" in done.stderr


def python_that(tmp_path, behaviour):
    """A Python whose driver does something else, before `main`, in one of its answers."""
    program = tmp_path / "python"
    program.write_text(f"""#!{sys.executable}
import os, sys, time
names = {{"__name__": "driver"}}
exec(sys.argv[2], names)
Driver = names["Driver"]
{behaviour}
names["main"]()
""")
    program.chmod(0o755)
    return {"WEFT_PYTHON": str(program), "WEFT_PEER_TIMEOUT": "4"}


@pytest.mark.parametrize("behaviour, sentence", [
    ("Driver.do_solve = lambda self, question: os._exit(7)", "scipy: Python's process ended with exit code 7"),
    ("Driver.do_solve = lambda self, question: time.sleep(1000)", "scipy: Python's process did not answer within 4 s"),
    ("Driver.do_solve = lambda self, question: {'seconds': 1}", "an answer without iterations"),
    ("Driver.do_solve = lambda self, question: {'seconds': -1}", "makes no sense"),
    ("def refuse(self, question): raise ValueError('one\\ntwo')\nDriver.do_solve = refuse", "scipy: one"),
])
def test_a_driver_that_misbehaves_costs_its_own_row_only(succeed, need, tmp_path, behaviour, sentence):
    need("scipy")
    found = by_name(bench(succeed, "gen:poisson2d:9", "--peers", "scipy", env=python_that(tmp_path, behaviour)))
    assert sentence in found["scipy:cg+jacobi"]["failure"] and found["csr:cg+jacobi"]["failure"] is None


def test_a_peer_that_is_wrong_is_marked_and_fails_nothing(weft, need, tmp_path):
    need("scipy")
    behaviour = ("right = Driver.do_solve\ndef wrong(self, question):\n  answer = right(self, question)\n"
                 "  self.shared['y'][3] += 1\n  return answer\nDriver.do_solve = wrong")
    done = weft("bench", "--solve", "gen:poisson2d:9", "--peers", "scipy", *FAST, "--json", "-",
                env=python_that(tmp_path, behaviour))
    found = by_name(json.loads(done.stdout))
    assert done.returncode == 0
    assert found["scipy:cg+jacobi"]["reached"] is False and found["scipy:cg+jacobi"]["status"] == "converged"
    assert found["csr:cg+jacobi"]["reached"] is True and found["csr:cg+jacobi"]["peer_ratio"] is None
