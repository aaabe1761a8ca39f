"""tools/count-instructions notices a kernel that takes more instructions than recorded."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["WEFT_BUILD"])
ONLY = ["--only", "gen:poisson3d:24"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """What this build counts, so that these tests do not depend on the compiler of the kept record."""
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind here")
    if not (BUILD / "bench/weft_count_products").exists():
        pytest.skip("this build has no weft_count_products")
    path = tmp_path_factory.mktemp("record") / "instructions.json"
    script = pathlib.Path(__file__).resolve().parents[2] / "tools/count-instructions"
    subprocess.run([script, BUILD, "--record", path, "--update", *ONLY], check=True)
    return path


def test_counts_are_the_same_every_time(script, recorded, tmp_path):
    done = script("count-instructions", BUILD, "--record", "again.json", "--update", *ONLY)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(recorded.read_text())


def test_every_format_is_counted_in_both_types(recorded):
    counts = json.loads(recorded.read_text())["instructions_per_nonzero"]["gen:poisson3d:24"]
    for setting in ("f64 baseline", "f32 baseline"):
        assert {"csr", "coo", "ell", "sell", "hyb", "bce", "bro-ell", "bro-coo", "bro-hyb", "bro-sell", "ehyb"} <= set(counts[setting])
        assert all(1 < count < 100 for count in counts[setting].values()), counts


def test_a_slowed_kernel_is_named_and_no_other(script, recorded, planted):
    done = script("count-instructions", BUILD, "--record", recorded, "--program", planted("count_slowed"), *ONLY)
    assert done.returncode == 1
    title, *lines, verdict = done.stdout.splitlines()
    assert title == "more instructions:"
    assert [line.split(":")[0].strip() for line in lines] == ["csr on gen", "csr on gen"] and all("baseline" in line for line in lines)
    assert "2 take more instructions, 0 fewer" in verdict


def test_single_steps_count_what_callgrind_counts(recorded):
    program = BUILD / "bench/weft_count_products"
    known = json.loads(recorded.read_text())["instructions_per_nonzero"]["gen:poisson3d:24"]["f64 baseline"]
    done = subprocess.run([program, "--step", "gen:poisson3d:24", "f64", "sell"], capture_output=True, text=True,
                          env=dict(os.environ, WEFT_ISA="baseline"))
    assert done.returncode == 0, done.stderr
    name, _, nonzeros, steps = done.stdout.splitlines()[1].split()
    assert name == "sell" and int(steps) / int(nonzeros) == pytest.approx(known["sell"], rel=1e-3)


def test_other_matrices_are_counted_into_another_file(script, recorded, tmp_path):
    done = script("count-instructions", BUILD, "--record", "counts.json", "--update", "--source", "gen:poisson2d:9", "--source",
                  "gen:poisson3d:5", "--isa", "baseline", "--formats", "csr,sell")
    assert done.returncode == 0, done.stderr
    counts = json.loads((tmp_path / "counts.json").read_text())["instructions_per_nonzero"]
    assert set(counts) == {"gen:poisson2d:9", "gen:poisson3d:5"}
    assert all(set(settings) == {"f64 baseline", "f32 baseline"} and set(settings["f64 baseline"]) == {"csr", "sell"} for settings in counts.values())
    refused = script("count-instructions", BUILD, "--update", "--source", "gen:poisson2d:9")
    assert refused.returncode == 2 and "--record" in refused.stderr


@pytest.mark.parametrize("counted, worse, better", [(10.19, 0, 0), (10.21, 1, 0), (9.81, 0, 0), (9.79, 0, 1)])
def test_two_percent_decide(inside, counted, worse, better):
    found = inside("count-instructions").compare({"a": {"f64 avx2": {"csr": 10.0, "coo": 7}}}, {"a": {"f64 avx2": {"csr": counted, "coo": 7}}})
    assert [len(lines) for lines in found[:3]] == [worse, better, 0] and found[3] == 2
    if worse:
        assert found[0] == ["csr on a, f64 avx2: 10.000 -> 10.210 instructions a nonzero (+2.1 %)"]


def test_a_format_without_a_record_and_one_that_went_are_told(inside):
    unknown = inside("count-instructions").compare({"a": {"f64 avx2": {"csr": 1, "old": 1}}}, {"a": {"f64 avx2": {"csr": 1, "new": 1}}})[2]
    assert unknown == ["new on a, f64 avx2: not recorded", "old on a, f64 avx2: recorded, but not there"]


def test_another_compiler_is_not_compared(script, recorded, tmp_path):
    record = json.loads(recorded.read_text())
    record["build"] = "Other 1.0, Release"
    (tmp_path / "other.json").write_text(json.dumps(record))
    done = script("count-instructions", BUILD, "--record", "other.json", *ONLY)
    assert done.returncode == 0 and done.stdout.startswith("count-instructions: recorded with Other 1.0") and done.stdout.count("\n") == 1
