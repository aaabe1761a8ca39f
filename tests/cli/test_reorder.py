import json
import signal
import subprocess
import time

import pytest


def read_numbers(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [int(line) for line in lines[1:]]


def entries_of(path):
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("%")]
    return {(int(row), int(column)): float(value) for row, column, value in lines[1:]}


def has_amd(succeed):
    return json.loads(succeed("doctor", "--json"))["build"]["AMD"]


def test_summary_stays_as_agreed(succeed, golden):
    golden("reorder", succeed("reorder", "gen:circuit:500", "--by", "rcm", "-o", "b.mtx"))


@pytest.mark.parametrize("ordering", ["length", "rcm", "amd", "bar"])
def test_the_permutation_leads_back(succeed, tmp_path, ordering):
    if ordering == "amd" and not has_amd(succeed):
        pytest.skip("this build has no AMD")
    succeed("gen", "gen:rmat:8", "-o", "a.mtx")
    succeed("reorder", "a.mtx", "--by", ordering, "-o", "b.mtx")
    numbers = read_numbers(tmp_path / "b.perm.mtx")
    assert sorted(numbers) == list(range(1, 257))
    columns = numbers if ordering in ("rcm", "amd") else range(1, 257)
    back = {(numbers[row - 1], columns[column - 1]): value
            for (row, column), value in entries_of(tmp_path / "b.mtx").items()}
    assert back == entries_of(tmp_path / "a.mtx")


def test_json_says_before_and_after(succeed, tmp_path):
    summary = json.loads(succeed("reorder", "gen:rmat:8", "--by", "bar", "-o", "b.weft", "--json", "--permutation", "p.txt"))
    assert (summary["rows"], summary["ordering"], summary["columns_too"]) == (256, "bar", False)
    assert summary["after"]["bar_objective"] <= summary["before"]["bar_objective"]
    assert summary["ordering_seconds"] > 0 and summary["permutation"] == "p.txt"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.weft", "p.txt"]
    info = json.loads(succeed("info", "b.weft", "--json"))
    assert info["bandwidth"] == summary["after"]["bandwidth"]


def test_the_permutation_is_a_vector(succeed, tmp_path):
    succeed("reorder", "gen:poisson2d:6", "--by", "rcm", "-o", "b.mtx.gz")
    succeed("spmv", "gen:diagonal:36", "--x", "b.perm.mtx", "--check")


def test_notes_say_what_was_written(weft):
    done = weft("reorder", "gen:poisson2d:5", "--by", "length", "-o", "b.mtx")
    assert done.stderr == ("weft: wrote b.mtx: 25 x 25, 105 nonzeros\n"
                           "weft: wrote b.perm.mtx: the row of the source that each row is\n")


def test_what_cannot_be_ordered_or_written(refuse, tmp_path):
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 5\n")
    assert "must be square, not 2 x 3" in refuse(1, "reorder", "wide.mtx", "--by", "rcm", "-o", "b.mtx")
    assert "missing.mtx" in refuse(1, "reorder", "missing.mtx", "--by", "rcm", "-o", "b.mtx")
    assert "no folder" in refuse(1, "reorder", "wide.mtx", "--by", "bar", "-o", "none/b.mtx")
    assert "no folder" in refuse(1, "reorder", "wide.mtx", "--by", "bar", "-o", "b.mtx", "--permutation", "none/p.mtx")
    assert [path.name for path in tmp_path.iterdir()] == ["wide.mtx"]


def test_amd_says_what_is_missing(succeed, refuse, tmp_path):
    if has_amd(succeed):
        pytest.skip("this build has AMD")
    assert "libsuitesparse-dev" in refuse(1, "reorder", "gen:poisson2d:4", "--by", "amd", "-o", "b.mtx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ordering", ["length", "rcm", "bar"])
@pytest.mark.parametrize("transpose", [[], ["--transpose"]])
def test_products_in_another_order_are_the_same(succeed, ordering, transpose):
    text = succeed("spmv", "gen:rmat:9", "--x", "random:3", "--order", ordering, "--check", *transpose)
    assert "check     correct" in text and f"\norder     {ordering}, in " in text
    summary = json.loads(succeed("spmv", "gen:rmat:9", "--order", ordering, "--json", *transpose))
    assert summary["ordering"] == ordering and summary["ordering_seconds"] > 0


def test_bench_stores_matrices_in_another_order(succeed):
    fast = ["--seconds", "0.01", "--repeat", "2", "--formats", "csr,sell"]
    text = succeed("bench", "gen:rmat:9", "--order", "length", *fast)
    assert "f64, stored in the order length, found in " in text
    case = json.loads(succeed("bench", "gen:rmat:9", "--order", "bar", "--json", "-", *fast))["cases"][0]
    assert case["ordering"] == "bar"
    assert all(one["correct"] and one["setup"]["order_seconds"] > 0 for one in case["measurements"])
    case = json.loads(succeed("bench", "gen:rmat:9", "--json", "-", *fast))["cases"][0]
    assert case["ordering"] == "none" and all(one["setup"]["order_seconds"] == 0 for one in case["measurements"])


def test_interrupted_it_ends_by_the_signal_and_leaves_nothing(weft_bin, tmp_path):
    process = subprocess.Popen([weft_bin, "reorder", "gen:poisson3d:150", "--by", "bar", "-o", "b.mtx"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)  # reading and ordering take longer
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (-signal.SIGINT, b"", b"")
    assert list(tmp_path.iterdir()) == []
