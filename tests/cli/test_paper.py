import json

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
