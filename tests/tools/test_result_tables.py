"""Numbers in the texts are those of the result files."""
import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measured(name, microseconds, peer=False, **more):
    return {"name": name, "peer": peer, "failure": None, "correct": True, "median_seconds": microseconds * 1e-6, "low_seconds": microseconds * 1e-6,
            "high_seconds": microseconds * 1e-6, "groups": 11, "setup_seconds": 0.0, "setup": {"upload_seconds": 0.0}, "bandwidth_share": 0.5, **more}


def case(source, kind, *measurements):
    return {"source": source, "type": kind, "nonzeros": 2500000, "measurements": list(measurements)}


@pytest.fixture
def root(tmp_path):
    """A tree with one result file of schema 2: cuSPARSE's best csr takes 100 us."""
    folder = tmp_path / "bench/results"
    folder.mkdir(parents=True)
    peers = [measured("cusparse:csr-alg1", 100, True), measured("cusparse:csr-alg2", 120, True), measured("cusparse:sell", 80, True)]
    file = {"schema": 2, "tool": "weft bench", "command": "weft bench a --device gpu", "machine": {"commit": "abc1234", "compiler": "GNU 12"},
            "device": {"name": "A GPU"}, "bandwidth_bytes_per_second": 4.5e12, "parameters": {"seconds": 0.1}, "cases": [
                case("gen:a", "f64", measured("csr", 80), measured("sell", 50, setup_seconds=0.011, setup={"upload_seconds": 0.001, "partition_seconds": 0.009}), *peers),
                case("gen:a", "f32", measured("csr", 40), measured("sell", 50), *peers),
                case("/data/b.mtx", "f64", measured("csr", 200), {"name": "sell", "peer": False, "failure": "too much padding"}, *peers),
                case("/data/b.mtx", "f32", measured("csr", 100), measured("sell", 10, correct=False), *peers)]}
    (folder / "r.json").write_text(json.dumps(file))
    return tmp_path


@pytest.fixture
def render(inside, root):
    tables = inside("result_tables.py")
    return lambda text, folder=None: tables.render(text, root, folder or root).strip().splitlines()


def test_a_table_has_ratios_to_the_best_of_the_peers_named(render):
    lines = render("r.json | table | against cusparse:csr | columns nonzeros, csr, sell, share")
    assert lines[:4] == ["| matrix | nonzeros | `csr` | `sell` | of bandwidth |", "|---|---|---|---|---|",
                         "| `gen:a` | 2.5 M | 1.25x **2.50x** | **2.00x** 2.00x | 50 % 50 % |",
                         "| `b.mtx` | 2.5 M | **0.50x 1.00x** | refused WRONG | 50 % 50 % |"]
    assert lines[5] == "<sub>[r.json](bench/results/r.json), A GPU, 4.50 TB/s measured, commit abc1234: `weft bench a --device gpu`</sub>"


def test_without_a_name_the_fastest_of_all_peers_counts(render):
    assert render("r.json | table | columns best, peer | matrices gen:a")[2] == "| `gen:a` | `sell` 1.60x `csr` 2.00x | `cusparse:sell` |"


def test_links_are_relative_to_the_text(render, root):
    (root / "docs").mkdir()
    assert "](../bench/results/r.json)" in render("r.json | table | columns csr", root / "docs")[-1]


def test_a_headline_has_the_geometric_mean_and_names_what_is_lost(render):
    line, = render("r.json | headline | against cusparse:csr | called the best")
    assert line.startswith("- **1.00x (f64) and 1.58x (f32)** the speed of the best: geometric mean over 2 matrices")
    assert line.endswith("Faster on 1, within 5 % on none and 1, slower on 1 and none: `b.mtx` 0.50x (f64).")


def test_set_up_is_told_in_products_and_by_its_parts(render):
    assert render("r.json | setup | columns sell | matrices gen:a")[2:4] == ["| `gen:a`, f64 | 180 + 20 |", "| `gen:a`, f32 | 0.0 |"]


@pytest.mark.parametrize("text, words", [("none.json | table | columns csr", "none.json: No such file"), ("r.json | chart", "'chart' is no kind of text"),
                                         ("r.json | table | columns ell", "no format ell, expected one of csr, sell"), ("r.json", "'' is no kind of text"),
                                         ("r.json | table | matrices c", "no matrix c, expected one of gen:a, b.mtx"), ("r.json | about | rows 3", "about has no 'rows'"),
                                         ("r.json | headline | against mkl", "no peer mkl")])
def test_a_wrong_request_is_one_sentence(render, inside, text, words):
    with pytest.raises(Exception, match=re.escape(words)) as caught:
        render(text)
    assert type(caught.value).__name__ == "BadFile" and "\n" not in str(caught.value)


def test_every_kept_result_is_described(inside):
    text = (ROOT / "bench/results/README.md").read_text()
    for path in sorted((ROOT / "bench/results").glob("*.json")):
        assert f"\n## {path.name}\n" in text, f"bench/results/README.md has no section {path.name}"


def test_no_number_of_the_speed_section_is_written_by_hand():
    section = re.search(r"^## How fast it is today$(.*?)^## ", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    by_hand = re.sub(r"<!-- results: .*?<!-- end -->", "", section, flags=re.DOTALL)
    assert re.findall(r"\d[\d.]*(?:x| %| ms| us| TB/s| GB/s)", by_hand) == ["2x"], "only the explanation of what 2x means"


def test_gpu_table_reads_schema_1_and_2(root):
    done = subprocess.run([ROOT / "tools/gpu-table", root / "bench/results/r.json", ROOT / "bench/results/h200-parts.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[2][:4] == ["a", "f64", "1.25x", "2.00x"] and lines[5][-2:] == ["WRONG", "RESULTS"]
    assert ["a", "f64", "0", "180+20"] in [line[:4] for line in lines] or ["a", "f64", "-", "180+20"] in [line[:4] for line in lines]
    assert any(line[:2] == ["fem:bracket.msh:poisson:p2", "f64"] for line in lines)
