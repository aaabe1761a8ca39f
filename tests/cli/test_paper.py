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
