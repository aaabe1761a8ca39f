import json
import signal
import subprocess
import time

import pytest


def numbers_of(path):
    return [int(line) for line in path.read_text().splitlines()]


def has_metis(succeed):
    return json.loads(succeed("doctor", "--json"))["build"]["METIS"]


def test_summary_stays_as_agreed(succeed, golden):
    golden("partition", succeed("partition", "gen:elasticity3d:8", "--parts", "6", "--method", "grow", "-o", "a.part"))


@pytest.mark.parametrize("method", ["automatic", "metis", "grow", "contiguous"])
def test_no_part_is_larger_than_allowed(succeed, tmp_path, method):
    if method == "metis" and not has_metis(succeed):
        pytest.skip("this build has no METIS")
    summary = json.loads(succeed("partition", "gen:elasticity3d:9", "--most-rows", "100", "--method", method,
                                 "-o", "a.part", "--json"))
    parts = numbers_of(tmp_path / "a.part")
    sizes = [parts.count(part) for part in range(summary["parts"])]
    assert len(parts) == summary["rows"] == 2187 and summary["block"] == 3
    assert (max(sizes), min(sizes)) == (summary["largest"], summary["smallest"])
    assert max(sizes) <= 100 and summary["parts"] == 23  # parts of 99 rows: nodes of three are whole
    assert all(parts[row] == parts[row // 3 * 3] for row in range(len(parts)))
    assert 0 < summary["cut_share"] < 1 and summary["cut_share"] == summary["cut"] / summary["nonzeros"]
    assert summary["partition_seconds"] > 0 and summary["output"] == "a.part"


def test_without_an_output_it_only_tells(succeed, tmp_path):
    assert "parts  largest" in succeed("partition", "gen:poisson2d:20", "--parts", "4")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_partition_is_refused(refuse, tmp_path):
    assert "--parts N, --most-rows N or both" in refuse(2, "partition", "gen:poisson2d:4")
    assert "--parts" in refuse(2, "partition", "gen:poisson2d:4", "--parts", "0")
    assert "--block" in refuse(2, "partition", "gen:poisson2d:4", "--parts", "2", "--block", "none")
    assert "scotch" in refuse(2, "partition", "gen:poisson2d:4", "--parts", "2", "--method", "scotch")
    assert "cannot hold nodes of 3 rows" in refuse(1, "partition", "gen:poisson2d:4", "--most-rows", "2", "--block", "3")
    assert "must be square, not 10 x 20" in refuse(1, "partition", "gen:lp:10:20", "--parts", "2", "--method", "grow")
    assert "no folder" in refuse(1, "partition", "gen:poisson2d:4", "--parts", "2", "-o", "none/a.part")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["spmv"], ["bench", "--seconds", "0.01", "--formats", "csr"],
                                     ["convert", "-o", "b.weft"]])
def test_other_commands_take_the_file(succeed, refuse, tmp_path, command):
    succeed("partition", "gen:poisson2d:8", "--parts", "4", "-o", "a.part")
    succeed(*command, "gen:poisson2d:8", "--partition", "a.part")
    assert "a.part:65: the file ends after 64 numbers, but the matrix has 81 rows" in refuse(
        1, *command, "gen:poisson2d:9", "--partition", "a.part")
    assert "a.part:50: here is another number" in refuse(1, *command, "gen:poisson2d:7", "--partition", "a.part")
    (tmp_path / "b.part").write_text("0\nx\n")
    assert "b.part:2: expected one part number from 0, found 'x'" in refuse(
        1, *command, "gen:poisson2d:8", "--partition", "b.part")
    assert "c.part" in refuse(1, *command, "gen:poisson2d:8", "--partition", "c.part")


def test_bench_takes_a_partition_for_one_matrix_only(refuse):
    assert "of one matrix, but there are 2" in refuse(2, "bench", "gen:poisson2d:8", "gen:poisson2d:9", "--partition", "a.part")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("method", ["automatic", "grow"])
def test_interrupted_it_ends_by_the_signal_and_leaves_nothing(weft_bin, tmp_path, method, number):
    process = subprocess.Popen([weft_bin, "partition", "gen:stencil27:130", "--parts", "500", "--method", method, "-o",
                                "a.part"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)  # generating and partitioning take longer, and METIS is at work by then
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (-number, b"", b"")
    assert list(tmp_path.iterdir()) == []
