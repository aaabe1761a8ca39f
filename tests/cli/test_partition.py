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
    golden("partition", succeed("partition", "gen:elasticity3d:8", "--parts", "6", "--method", "multilevel", "-o", "a.part"))


@pytest.mark.parametrize("method", ["automatic", "multilevel", "metis", "contiguous"])
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
    assert "must be square, not 10 x 20" in refuse(1, "partition", "gen:lp:10:20", "--parts", "2", "--method", "multilevel")
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


def write_grid(path, side):
    path.write_text("# a grid\n" + "".join(f"{x} {y}\n" for y in range(side) for x in range(side)))


def test_coordinates_are_halved(succeed, tmp_path):
    write_grid(tmp_path / "grid.txt", 8)
    summary = json.loads(succeed("partition", "gen:poisson2d:8", "--parts", "4", "--coordinates", "grid.txt", "-o", "a.part",
                                 "--json"))
    assert (summary["largest"], summary["smallest"]) == (16, 16)
    parts = numbers_of(tmp_path / "a.part")
    for part in range(4):  # a quarter of the grid each
        rows = [row for row, other in enumerate(parts) if other == part]
        assert {row % 8 // 4 for row in rows} in ({0}, {1}) and {row // 32 for row in rows} in ({0}, {1})
    assert succeed("partition", "gen:poisson2d:8", "--parts", "4", "--coordinates", "grid.txt", "--method", "coordinates")


def test_coordinates_may_be_of_nodes(succeed, tmp_path):
    (tmp_path / "line.txt").write_text("".join(f"{node}\n" for node in range(27)))
    summary = json.loads(succeed("partition", "gen:elasticity3d:3", "--parts", "3", "--coordinates", "line.txt", "--json"))
    assert (summary["block"], summary["largest"], summary["smallest"]) == (3, 27, 27)


@pytest.mark.parametrize("command", [["partition", "--parts", "2"], ["spmv", "--format", "ehyb"],
                                     ["bench", "--seconds", "0.01", "--formats", "csr"], ["convert", "-o", "b.weft"]])
def test_bad_coordinates_are_refused(succeed, refuse, tmp_path, command):
    write_grid(tmp_path / "grid.txt", 8)
    succeed(*command, "gen:poisson2d:8", "--coordinates", "grid.txt")
    assert "coordinates of 64 points, but the matrix has 81 rows; give a point per row" in refuse(
        1, *command, "gen:poisson2d:9", "--coordinates", "grid.txt")
    (tmp_path / "bad.txt").write_text("0 0\n1 nan\n")
    assert "bad.txt:2: expected a point of 1 to 3 finite numbers, found '1 nan'" in refuse(
        1, *command, "gen:poisson2d:8", "--coordinates", "bad.txt")
    assert "none.txt" in refuse(1, *command, "gen:poisson2d:8", "--coordinates", "none.txt")


def test_packed_files_have_parts_by_coordinates(succeed, tmp_path):
    write_grid(tmp_path / "grid.txt", 32)
    succeed("convert", "gen:poisson2d:32", "-o", "b.weft", "--format", "ehyb:parts=4", "--coordinates", "grid.txt")
    for coordinates in [], ["--coordinates", "grid.txt"]:
        assert "ehyb" in succeed("spmv", "b.weft", "--check", *coordinates)


def test_the_tool_takes_either_parts_or_coordinates(refuse):
    assert "--partition" in refuse(2, "spmv", "gen:poisson2d:8", "--partition", "a.part", "--coordinates", "grid.txt")
    assert "needs coordinates" in refuse(1, "partition", "gen:poisson2d:8", "--parts", "2", "--method", "coordinates")


@pytest.mark.parametrize("option", ["--partition", "--coordinates"])
def test_bench_takes_parts_for_one_matrix_only(refuse, option):
    assert f"{option} is of one matrix, but there are 2" in refuse(2, "bench", "gen:poisson2d:8", "gen:poisson2d:9", option, "a")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("method", ["automatic", "metis"])
def test_interrupted_it_ends_by_the_signal_and_leaves_nothing(weft_bin, succeed, tmp_path, method, number):
    if method == "metis" and not has_metis(succeed):
        pytest.skip("this build has no METIS")
    process = subprocess.Popen([weft_bin, "partition", "gen:stencil27:130", "--parts", "500", "--method", method, "-o",
                                "a.part"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)  # generating and partitioning take longer, and the partitioner is at work by then
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (-number, b"", b"")
    assert list(tmp_path.iterdir()) == []
