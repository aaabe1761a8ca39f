import json
import re

import pytest

FAST = ["--seconds", "0.005", "--repeat", "3", "--quiet"]


def test_bro_prints_the_papers_tables(succeed):
    text = succeed("bench", "--paper", "bro", "gen:poisson2d:30", "gen:circuit:300", *FAST)
    for title in ("Tables 3 to 5", "Figures 4, 7 and 8", "Figure 9", "Figure 3"):
        assert title in text
    assert "gen:poisson2d:30" in text and "bits an index" in text


def test_bro_as_json(succeed, tmp_path):
    # A file is known by its name, whatever is in it.
    succeed("gen", "gen:poisson2d:20", "-o", "cant.mtx")
    report = json.loads(succeed("bench", "--paper", "bro", "cant.mtx", "gen:lattice4d:3", "--json", "-", *FAST))
    file, lattice = report["matrices"]
    assert file["paper"] == {"name": "cant", "test_set": 1, "eta_percent": 85.9, "eta_bar_percent": 92.7,
                             "ell_share_percent": None}
    assert lattice["paper"] is None
    names = ["ell", "ell:r", "bro-ell", "coo", "bro-coo", "hyb", "bro-hyb"]
    for one in report["matrices"]:
        assert [m["name"] for m in one["measurements"]] == names
        assert all(m["correct"] and m["median_seconds"] > 0 for m in one["measurements"])
        assert one["savings_percent"]["bro_ell"] > 0
        assert [o["name"] for o in one["orderings"]] == ["bar", "rcm", "amd"]
        assert one["orderings"][1]["eta_percent"] > 0 and one["orderings"][1]["bro_ell"]["correct"]
    sweep = report["dense_sweep"]
    bits = [point["bits"] for point in sweep["points"]]
    etas = [point["eta_percent"] for point in sweep["points"]]
    assert bits[0] == 1 and bits[-1] == 31 and etas == sorted(etas, reverse=True) and etas[0] > 96 > 5 > etas[-1]
    assert sweep["ell_gflops"] > 0


def test_bce_solves_what_it_else_only_counts(succeed):
    arguments = ["--paper", "bce", "gen:poisson2d:30", "gen:rmat:6", "--solve", "--type", "f64", *FAST]
    text = succeed("bench", *arguments)
    for title in ("Table 5 with whole solves", "Table 6 with whole solves", "Table 8 with whole solves"):
        assert title in text
    solved = text.split("Table 5 with whole solves")[1].split("Table 6")[0].splitlines()
    assert solved[1].split() == ["matrix", "solver", "iterations", "bce", "hyb", "ell", "coo", "csr"]
    row = next(line.split() for line in solved if line.startswith("gen:poisson2d:30"))
    assert row[1] == "cg+jacobi" and int(row[2]) > 20 and all(float(cell) > 0 for cell in row[3:])
    assert any(line.startswith("gen:rmat:6") and "not solved by" in line for line in solved)
    report = json.loads(succeed("bench", *arguments, "--json", "-"))
    grid, graph = [one["solves"] for one in report["matrices"]]
    ours = [one for one in grid["device"]["measurements"] if not one["peer"]]
    assert [one["name"] for one in ours] == ["bce", "hyb", "ell", "coo", "csr"] and grid["cpu"] is None
    assert all(one["reached"] for one in ours) and min(one["rank"] for one in grid["device"]["measurements"]) == 1
    assert [one["name"] for one in graph["device"]["measurements"]] == ["bce"], "one attempt is enough"
    assert "solves" not in json.loads(succeed("bench", "--paper", "bce", "gen:poisson2d:30", "--json", "-", *FAST))["matrices"][0]


def test_ehyb_is_put_to_its_use(succeed):
    text = succeed("bench", "--paper", "ehyb", "gen:poisson2d:30", "--solve", "--type", "f64", *FAST)
    table = text.split("In a solver: seconds of everything from the matrix on the host to the answer, to |b - A x| = 1e-08 |b|, f64")[1]
    assert table.splitlines()[1].split()[3:] == ["ehyb", "csr", "csr:merge"]
    assert re.search(r"^gen:poisson2d:30 +cg\+\w+ +\d+ ", table, re.MULTILINE)


def test_papers_without_solvers_say_so(refuse):
    assert "speaks of products only" in refuse(2, "bench", "--paper", "bro", "--solve")
    assert "leave out --method" in refuse(2, "bench", "--paper", "bce", "--solve", "--method", "cg")


def test_bro_refuses_what_a_paper_does_not_leave_open(refuse):
    assert "--paper goes with" in refuse(2, "bench", "--paper", "bro", "--formats", "csr")
    assert "bro" in refuse(2, "bench", "--paper", "unknown")


def test_ehyb_prints_the_papers_tables(weft):
    result = weft("bench", "--paper", "ehyb", "gen:poisson2d:30", "gen:elasticity3d:5", "--seconds", "0.005", "--repeat", "3",
                  "--no-progress")
    assert result.returncode == 0, result.stderr
    text = result.stdout
    for title in ("Figures 2 and 3: GFLOP/s, f32", "Table 1: ", "Figures 4 and 5: GFLOP/s, f64", "Table 2: ", "Figure 6: "):
        assert title in text
    assert "ehyb:guests=0" in text and "csr:merge" in text
    # What a CPU does not have is told once, and has no column.
    assert result.stderr.count("cuSPARSE") == 1 and "cusparse" not in text and "csr:speculative" not in text
    assert "paper: faster" not in text


def test_ehyb_in_one_type_on_the_emulator(succeed, golden):
    text = succeed("bench", "--paper", "ehyb", "gen:poisson2d:12", "--device", "emulator", "--type", "f32", *FAST)
    assert "Table 1: " in text and "Table 2: " not in text and "f64" not in text
    merge = next(line.split() for line in text.splitlines() if line.startswith("ehyb ") and " csr:merge " in line)
    assert merge[-5:] == ["100", "%", "2.25x", "1.31x", "1.52x"]
    golden("bench-paper-ehyb", text)


def test_ehyb_as_json(succeed):
    # A folder stands for the paper's matrices in it, known by their names.
    succeed("gen", "gen:poisson2d:20", "-o", "cant.mtx")
    succeed("gen", "gen:poisson2d:20", "-o", "other.mtx")
    report = json.loads(succeed("bench", "--paper", "ehyb", ".", "gen:stencil27:5", "--json", "-", *FAST))
    assert [(one["paper_name"], one["type"]) for one in report["matrices"]] == [
        ("cant", "f32"), ("cant", "f64"), (None, "f32"), (None, "f64")]
    for one in report["matrices"]:
        ours = {m["name"]: m for m in one["measurements"] if not m["peer"]}
        assert list(ours) == ["ehyb", "ehyb:guests=0", "csr", "csr:merge"]
        assert all(m["correct"] and m["median_seconds"] > 0 for m in ours.values())
        first = one["preparation"][0]
        assert first["format"] == "ehyb" and first["partition_seconds"] == ours["ehyb"]["setup"]["partition_seconds"] > 0
        together = first["partition_seconds"] + first["reorder_seconds"] + ours["ehyb"]["setup"]["upload_seconds"]
        assert abs(together - ours["ehyb"]["setup_seconds"]) < 1e-9
        assert abs(first["reorder_products"] * first["product_seconds"] - first["reorder_seconds"]) < 1e-9
    row = report["summary"][0]
    assert (row["type"], row["format"], row["against"], row["matrices"], row["paper"]) == ("f32", "ehyb", "csr", 2, None)
    assert row["min"] <= row["mean"] <= row["max"]


def test_ehyb_refuses_what_a_paper_does_not_leave_open(refuse, tmp_path):
    assert "--paper goes with" in refuse(2, "bench", "--paper", "ehyb", "--peers", "all")
    assert "--paper goes with" in refuse(2, "bench", "--paper", "ehyb", "--order", "rcm")
    assert "one type" in refuse(2, "bench", "--paper", "bro", "--type", "both")
    (tmp_path / "empty").mkdir()
    assert "Table 3" in refuse(1, "bench", "--paper", "ehyb", str(tmp_path / "empty"))


NEW = ("bce", "specsum", "sellp")


@pytest.mark.parametrize("paper", NEW)
def test_tables_on_the_emulator(paper, succeed, golden):
    text = succeed("bench", "--paper", paper, "gen:uniform:60:5", "--device", "emulator", "--type", "f64", *FAST)
    golden(f"bench-paper-{paper}", re.sub(r"(Weft +)[a-z]\S*", r"\1<fastest>", text))  # csr or another library
    assert "f32" not in text


@pytest.mark.parametrize("paper, titles, types", [
    ("bce", ("Table 2: ", "Table 3: ", "Table 4: ", "Table 5: ", "Table 6: ", "Table 7: ", "Table 8: "), 2),
    ("specsum", ("Table 3: ", "Section 4.4: ", "Figure 6: "), 2),
    ("sellp", ("Table I: ", "Table II: ", "Table III: ", "Figure 5: "), 1)])
def test_tables_on_the_cpu_in_the_papers_types(paper, titles, types, weft):
    result = weft("bench", "--paper", paper, "gen:poisson2d:30", "gen:circuit:300", "--seconds", "0.005", "--repeat", "3",
                  "--no-progress")
    assert result.returncode == 0, result.stderr
    for title in titles:
        assert title in result.stdout
    assert ("f32" in result.stdout) == (types == 2) and "f64" in result.stdout
    assert "gen:poisson2d:30" in result.stdout and "gen:circuit:300" in result.stdout
    # What a CPU does not have is told once, and has no row or column; nor are GPUs of the papers beside it.
    assert result.stderr.count("cuSPARSE is compared with") == 1 and "cusparse" not in result.stdout
    assert not any(device in result.stdout for device in ("K20c", "K40c", "Tegra"))


@pytest.mark.parametrize("paper, name", [("bce", "ohne2"), ("specsum", "cant"), ("sellp", "cant")])
def test_a_folder_stands_for_the_papers_matrices_in_it(paper, name, succeed):
    succeed("gen", "gen:poisson2d:12", "-o", f"{name}.mtx")
    succeed("gen", "gen:poisson2d:12", "-o", "other.mtx")
    report = json.loads(succeed("bench", "--paper", paper, ".", "gen:stencil27:4", "--json", "-", "--type", "f64", *FAST))
    assert report["tool"] == f"weft bench --paper {paper}" and report["device"] == "cpu"
    assert f"--paper {paper} ." in report["command"] and report["parameters"] == {"seconds": 0.005, "groups": 3, "seed": 1}
    assert [one["paper_name"] for one in report["matrices"]] == [name, None]
    assert [one["paper"] is None for one in report["matrices"]] == [False, True]
    for one in report["matrices"]:
        assert one["cpu"] is None and one["type"] == "f64"
        assert all(m["correct"] for m in one["measurements"] if not m["peer"])


@pytest.mark.parametrize("paper", NEW)
def test_a_folder_without_the_papers_matrices_is_refused(paper, refuse, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "has no matrix of the paper's Table" in refuse(1, "bench", "--paper", paper, "empty")
    assert "--paper goes with" in refuse(2, "bench", "--paper", paper, "--peers", "all")
    assert "no-such" in refuse(1, "bench", "--paper", paper, "no-such.mtx", *FAST)


@pytest.mark.parametrize("paper", (*NEW, "ehyb"))
def test_what_was_measured_before_a_bad_file_is_kept(paper, weft, tmp_path):
    (tmp_path / "bad.mtx").write_text("no matrix\n")
    result = weft("bench", "--paper", paper, "gen:uniform:60:5", "bad.mtx", "--type", "f32", "--json", "kept.json", *FAST)
    assert result.returncode == 1 and "bad.mtx" in result.stderr and result.stderr.count("\n") == 1
    assert "gen:uniform:60:5" in result.stdout
    assert [one["source"] for one in json.loads((tmp_path / "kept.json").read_text())["matrices"]] == ["gen:uniform:60:5"]


def test_bro_takes_a_folder_too(succeed, refuse, tmp_path):
    succeed("gen", "gen:poisson2d:12", "-o", "rim.mtx")
    report = json.loads(succeed("bench", "--paper", "bro", ".", "--json", "-", *FAST))
    assert [one["paper"]["name"] for one in report["matrices"]] == ["rim"]


def test_bce_as_json(succeed):
    succeed("gen", "gen:poisson2d:20", "-o", "ohne2.mtx")
    one, = json.loads(succeed("bench", "--paper", "bce", "ohne2.mtx", "--type", "f32", "--json", "-", *FAST))["matrices"]
    # 20 x 20 points: 4 rows of 3 entries, 72 of 4, 324 of 5.
    assert (one["widest_row"], one["blocks"], one["block_padding"], one["iterations"]) == (5, 2, 4, 9811)
    paper, ours = one["paper"], one["weft"]
    assert (paper["nonzeros"], paper["widest_row"], paper["device"]) == (11063545, 3411, "K20c")
    assert paper["bsr"]["product_seconds"] == pytest.approx(4.1e-3) and paper["ell"]["product_seconds"] is None
    assert paper["bsr"]["improvement_percent"] == pytest.approx(22.0, abs=0.05)
    assert paper["hyb"]["transformation_seconds"] == pytest.approx(25.7e-3) and paper["cpu_seconds"] == 0.194
    times = {m["name"]: m for m in one["measurements"]}
    for name in ("bce", "hyb", "ell", "coo", "csr"):
        each = ours[name]
        assert each["product_seconds"] == pytest.approx(times[name]["median_seconds"])
        assert each["solving_seconds"] == pytest.approx(each["transformation_seconds"] + 9811 * each["product_seconds"])
        slow, fast = each["product_seconds"], ours["bce"]["product_seconds"]
        if name != "bce":
            assert each["improvement_percent"] == pytest.approx(100 * (slow - fast) / slow)
    fastest = min(m["median_seconds"] for m in one["measurements"] if m["peer"] or m["name"] == "csr")
    assert ours["cpu_seconds"] == pytest.approx(fastest) and ours["bsr"]["product_seconds"] is None


def test_the_papers_numbers_stand_beside(succeed):
    succeed("gen", "gen:uniform:60:5", "-o", "cage10.mtx")
    text = succeed("bench", "--paper", "sellp", "cage10.mtx", *FAST)
    paper = next(line.split() for line in text.splitlines() if "paper, K40c" in line)
    assert paper[2:6] == ["4.72e-05", "7.45e-05", "3.72e-05", "3.35e-05"] and paper[-1] == "6.44e-05"
    succeed("gen", "gen:uniform:60:5", "-o", "road_usa.mtx")
    text = succeed("bench", "--paper", "bce", "road_usa.mtx", "--type", "f64", *FAST)
    rows = [line.split() for line in text.splitlines() if "paper, K20c" in line]
    assert rows[0][2:] == ["72.5000", "77.6000", "73.3000", "-", "76.0000", "75.0000"]
    assert rows[2][2] == "9,260" and rows[-1][-2:] == ["7.1", "%"]
    text = succeed("bench", "--paper", "specsum", "gen:uniform:60:5", "--device", "emulator", "--type", "f32", *FAST)
    vector = next(line.split() for line in text.splitlines() if line.startswith("csr:vector "))
    assert vector[-6:] == ["6.90x", "2.57x", "16.07x", "5.61x", "5.91x", "2.69x"]


def test_sellp_as_json(succeed):
    report = json.loads(succeed("bench", "--paper", "sellp", "gen:uniform:60:5", "--device", "emulator", "--json", "-", *FAST))
    one, = report["matrices"]
    # Rows of 5 in slices of 8, the last of which has 4 rows; padded to 8 a row.
    assert one["padding"] == {"ellpack": 0, "sell_8": 64 * 5 - 300, "sell_p_8_8": 64 * 8 - 300}
    assert one["kernels"]["CSR"]["measured_as"] == "csr:scalar" and one["kernels"]["CUSPARSE-CSR"]["seconds"] is None
    assert one["kernels"]["MKL-CSR"]["measured_as"] in [m["name"] for m in one["cpu"]["measurements"]]
    row = next(row for row in report["summary"] if (row["kernel"], row["against"]) == ("SELL-P", "ELLPACK"))
    assert row["matrices"] == 1 and row["paper"]["matrices"] == 20 and row["paper"]["faster_percent"] == 95


def test_specsum_as_json(succeed):
    report = json.loads(succeed("bench", "--paper", "specsum", "gen:empty-rows:90", "--device", "emulator", "--json", "-", *FAST))
    single, double = report["matrices"]
    assert (single["type"], double["type"]) == ("f32", "f64")
    for one, size in ((single, 4), (double, 8)):
        assert one["shortest_row"] == 0 and one["empty_rows"] == 60 and one["one_thread_seconds"] > 0
        speculative = next(m for m in one["measurements"] if m["name"] == "csr:speculative")
        entries = one["nonzeros"]
        counted = ((90 + 1 + entries) * 4 + (2 * entries + 90) * size) / speculative["median_seconds"]
        assert one["paper_bytes_per_second"]["csr:speculative"] == pytest.approx(counted)
    row = next(row for row in report["summary"] if row["against"] == "csr:scalar" and row["type"] == "f64")
    assert row["paper"] == [{"processor": "A10-7850K", "max": 94.05, "mean": 22.88}]
