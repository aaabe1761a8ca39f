"""The matrix types in programs that know nothing of Weft: tests/cases.cpp compares all products with AIJ's."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import MPI

ROOT = pathlib.Path(__file__).resolve().parents[3]

SMALL = ["-mat_weft_small", "0"]
TYPE = ["-mat_type", "aijweft", *SMALL]
CASES = ["products", "values-change", "values-by-hand", "pattern-changes", "zero-rows", "assembly-in-pieces", "coordinates",
         "conversions", "offspring", "dense", "unsorted-rows", "empty"]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_products_are_aijs(succeed, case, ranks):
    formats = ["auto", "sell"] if ranks == 1 else ["sell"]
    for name in formats:
        text = succeed(ranks, "-case", case, *TYPE, "-mat_weft_format", name, "-mat_weft_view")
        assert f"{case}: right" in text
        # Weft multiplied, and did not leave everything to AIJ.
        assert re.search(r"nonzeros?( in \d+ rows?)?: ", text) or case in ("unsorted-rows",), text


def test_a_matrix_that_is_small_is_aijs_own(succeed):
    text = succeed(1, "-case", "products", "-mat_type", "aijweft", "-n", 8, "-mat_weft_view")
    assert "AIJ's own product: 3200 nonzeros are few (-mat_weft_small 10000)" in text


def test_every_sequential_block_is_reached_without_the_programs_consent(succeed):
    text = succeed(2, "-case", "products", "-mat_type", "mpiaij", "-mat_seqaij_type", "seqaijweft", *SMALL, "-mat_weft_view")
    assert text.count("AIJ's own") == 0 and text.count(" nonzeros") >= 4


def test_values_that_change_a_thousand_times_stay_on_petscs_own_array(succeed):
    text = succeed(1, "-case", "values-change-often", "-repeat", 1000, *TYPE, "-mat_weft_view")
    assert "csr" in text and "on PETSc's own arrays, too small to look for another format" in text and "999 updates" in text


def test_another_format_is_left_when_values_keep_changing(succeed):
    text = succeed(1, "-case", "values-change-often", "-n", 25, "-repeat", 50, *TYPE, "-mat_weft_products", 10000, "-mat_weft_view")
    chosen = re.search(r"nonzeros: (\S+) .*", text)
    assert chosen[1].startswith("csr") and ("values change too often" in text or "chosen: " in text)


def test_values_that_change_a_thousand_times_are_converted_where_a_format_is_named(succeed):
    for ranks in (1, 2):
        text = succeed(ranks, "-case", "values-change-often", "-repeat", 1000, *TYPE, "-mat_weft_format", "bro-sell", "-mat_weft_view")
        assert "bro-sell" in text and "999 updates" in text


def test_a_pattern_that_changes_is_planned_for_the_products_that_the_last_one_had(succeed):
    text = succeed(1, "-case", "pattern-changes", "-n", 25, "-repeat", 4, *TYPE, "-mat_weft_view")
    assert text.count("matrix 15625 x 15625") >= 5  # one plan for each pattern
    assert "for so few products nothing else pays" in text


def test_any_number_of_threads_gives_the_same_bits(succeed):
    texts = [succeed(1, "-case", "same-bits", "-n", 25, "-repeat", 20, *TYPE, "-mat_weft_format", "sell", "-mat_weft_threads", threads)
             for threads in (1, 2)]
    assert texts[0] == texts[1] and "norm 0x" in texts[0]


def test_runs_give_the_same_bits(succeed):
    texts = [succeed(3, "-case", "same-bits", *TYPE, "-mat_weft_format", "sell") for _ in range(2)]
    assert texts[0] == texts[1] and "norm 0x" in texts[0]


SOLVERS = {
    "ilu": ["-ksp_type", "gmres", "-pc_type", "bjacobi", "-sub_pc_type", "ilu"],
    "icc": ["-symmetric", "-ksp_type", "cg", "-pc_type", "bjacobi", "-sub_pc_type", "icc"],
    "gamg": ["-symmetric", "-ksp_type", "cg", "-pc_type", "gamg"],
    "hypre": ["-symmetric", "-ksp_type", "cg", "-pc_type", "hypre"],
    "mumps": ["-ksp_type", "richardson", "-pc_type", "lu", "-pc_factor_mat_solver_type", "mumps"],
}


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_need_as_many_iterations(succeed, solver, ranks):
    words = ["-case", "solve", "-n", 20, *SOLVERS[solver], "-ksp_rtol", "1e-8"]
    expected = succeed(ranks, *words, "-mat_type", "aij", weft=False)
    assert succeed(ranks, *words, *TYPE) == expected
    assert succeed(ranks, *words, "-mat_type", "aij", "-mat_seqaij_type", "seqaijweft", *SMALL, "-mat_weft_format", "sell") == expected
    assert re.search(r"^\d+ iterations$", expected, re.MULTILINE)


def test_an_unknown_format_is_a_petsc_error_with_the_formats_there_are(start):
    done = start(1, "-mat_weft_format", "origami")
    assert done.returncode != 0 and "Weft: there is no format 'origami'; there are: auto, csr" in done.stderr + done.stdout


def test_a_number_out_of_range_is_a_petsc_error(start):
    done = start(1, *TYPE, "-mat_weft_products", "0")
    assert done.returncode != 0 and "-mat_weft_products must be 1 or more, not 0" in done.stderr + done.stdout


def test_a_rank_that_fails_ends_the_job_with_one_sentence(start):
    done = start(3, "-case", "one-rank-fails", *TYPE)
    text = done.stderr + done.stdout
    assert done.returncode != 0
    assert text.count("Weft: there is no format 'origami'") == 1


def test_help_lists_the_options(succeed):
    text = succeed(1, "-help", *TYPE)
    for option in ("format", "products", "small", "threads", "view"):
        assert f"-mat_weft_{option}" in text


def test_log_view_has_events_for_planning_and_products(succeed):
    text = succeed(1, "-case", "values-change", *TYPE, "-mat_weft_format", "sell", "-log_view")
    for event in ("MatWeftPlan", "MatWeftUpdate", "MatWeftMult"):
        assert re.search(rf"^{event} +\d+", text, re.MULTILINE), event


def test_info_reports_a_plan_when_it_is_made(succeed):
    text = succeed(1, "-case", "products", *TYPE, "-info", ":mat")
    assert re.search(r"Weft: matrix 1728 x 1728, 11232 nonzeros: ", text)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_prefix_has_options_of_its_own(succeed, ranks):
    text = succeed(ranks, "-case", "products", "-prefix", "inner_", "-inner_mat_type", "aijweft", *SMALL, "-mat_weft_format", "sell",
                   "-inner_mat_weft_format", "csr", "-mat_weft_view")
    assert ": csr:" in text and ": sell" not in text and "of inner_" in text


@pytest.mark.parametrize("ranks, mask, threads", [(1, "0-1", 2), (2, "0-1", 1), (1, "0", 1), (2, "0", 1)])
def test_ranks_share_the_cores_of_their_masks(succeed, cases, ranks, mask, threads):
    cores = subprocess.run(["nproc", "--all"], capture_output=True, text=True, check=True).stdout
    if int(cores) < 2:
        pytest.skip("one core only")
    text = succeed(ranks, "taskset", "-c", mask, cases, *TYPE, "-mat_weft_view")
    assert text.count(f", {threads} thread") == ranks


def test_openmps_variable_lowers_the_number_of_threads_and_the_option_decides(succeed):
    assert ", 1 thread (" in succeed(1, *TYPE, "-mat_weft_view", env={"OMP_NUM_THREADS": "1"})
    assert ": -mat_weft_threads)" in succeed(1, *TYPE, "-mat_weft_view", "-mat_weft_threads", 1)
    assert "-mat_weft_threads is more than its cores)" in succeed(1, *TYPE, "-mat_weft_view", "-mat_weft_threads", 500)


def test_only_public_headers_of_weft_are_included():
    for path in [*(ROOT / "integrations/petsc").glob("*.?pp"), *(ROOT / "integrations/petsc/tests").glob("*.?pp")]:
        for included in re.findall(r'#include [<"]([^">]+)[">]', path.read_text()):
            ours = (path.parent / included).exists() or (ROOT / "include" / included).exists()
            assert ours or not (ROOT / "src" / included).exists(), f"{path.name} includes {included}"


@pytest.mark.parametrize("ranks", [1, 2])
def test_petsc4py_takes_the_type_by_its_name(succeed, plugin, ranks):
    """With Debian's interpreter, which has petsc4py; not the one that runs the tests."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import petsc4py"], capture_output=True).returncode != 0:
        pytest.skip(f"{python} has no petsc4py: tools/install-packages petsc")
    program = pathlib.Path(__file__).parent / "with_petsc4py.py"
    text = succeed(ranks, python, program, *SMALL, "-mat_weft_view")
    assert ("seqaijweft" if ranks == 1 else "mpiaijweft") + ": right" in text
    assert "3600 x 3600" in text or "1800 x 1800" in text


def test_the_pages_commands_run(plugin, cases, session_folder, tmp_path):
    """Those of docs/petsc.md that need PETSc, with a program of ours and the plug-in where it was built."""
    (tmp_path / "program").symlink_to(cases)
    page = (ROOT / "docs/petsc.md").read_text()
    blocks = [block for block in re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE) if "libweft_petsc" in block]
    assert len(blocks) == 2
    for block in blocks:
        script = block.replace("/usr/local/lib/libweft_petsc.so", str(plugin)).replace("mpirun ", "mpirun --oversubscribe ")
        done = subprocess.run(["bash", "-euc", script + "./program -mat_type aij -mat_weft_view"], capture_output=True, text=True, cwd=tmp_path,
                              env={**os.environ, **MPI, "TMPDIR": session_folder})
        assert done.returncode == 0 and "products: right" in done.stdout, done.stdout + done.stderr
        assert "Weft: rank 0 of" in done.stdout


def test_the_pages_table_is_the_models():
    page = (ROOT / "docs/petsc.md").read_text()
    shown = re.search(r"<!-- model -->\n(.*?)<!-- end -->", page, re.DOTALL)[1]
    model = ROOT / "integrations/petsc/bench/model.py"
    assert subprocess.run([sys.executable, model], capture_output=True, text=True, check=True).stdout == shown
