import csv
import io
import json
import xml.etree.ElementTree

import pytest

FAST = ["--seconds", "0.01", "--repeat", "3"]


def test_table_stays_as_agreed(succeed, golden):
    text = succeed("bench", "gen:poisson2d:20", "--formats", "coo,ell:plain", *FAST)
    machine, rest = text.split("\n", 1)
    assert "measured bandwidth" in machine
    tables, verdict = rest.split("\nFastest: ")
    golden("bench", tables)
    assert verdict.startswith(("coo", "ell:plain"))


def test_every_format_of_the_registry_is_measured(succeed):
    names = [m["name"] for m in json.loads(succeed("bench", "gen:poisson2d:9", "--json", "-", *FAST))["cases"][0]["measurements"]]
    for entry in json.loads(succeed("doctor", "--json"))["formats"]:
        assert (entry["name"] in names) == ("cpu" in entry["devices"])


def test_json_has_the_fields_of_its_schema(succeed):
    report = json.loads(succeed("bench", "gen:poisson2d:20", "gen:rmat:8", "--type", "both", "--peers", "eigen", "--json",
                                "-", *FAST))
    assert report["schema"] == 2
    assert report["parameters"] == {"seconds": 0.01, "groups": 3, "products": 1000, "seed": 1, "cold": True}
    assert report["command"].startswith("weft bench gen:poisson2d:20 gen:rmat:8 --type both --peers eigen --json - --seconds 0.01")
    assert report["bandwidth_bytes_per_second"] > 0
    for name in ("version", "commit", "compiler", "cpu", "threads", "isa", "gpus", "driver", "why_no_gpu", "memory_bytes"):
        assert name in report["machine"]
    assert [(case["source"], case["type"]) for case in report["cases"]] == [
        ("gen:poisson2d:20", "f64"), ("gen:poisson2d:20", "f32"), ("gen:rmat:8", "f64"), ("gen:rmat:8", "f32")]
    for case in report["cases"]:
        assert case["rows"] > 0 and case["nonzeros"] > 0
        for one in case["measurements"]:
            assert one["failure"] is None and one["correct"] is True
            assert one["median_seconds"] > 0 and one["low_seconds"] <= one["median_seconds"] <= one["high_seconds"]
            assert 0 < one["cold_low_seconds"] <= one["cold_median_seconds"] <= one["cold_high_seconds"]
            assert one["first_product_seconds"] > 0 and one["repeatable"] is True and one["rank"] >= 1
            assert one["setup_seconds"] == pytest.approx(sum(one["setup"].values()))
            assert min(one["setup"].values()) >= 0
            assert one["gflops"] == pytest.approx(2e-9 * case["nonzeros"] / one["median_seconds"])
            size = 8 if case["type"] == "f64" else 4
            moved = one["bytes"] + size * (case["rows"] + case["cols"])
            assert one["gigabytes_per_second"] == pytest.approx(1e-9 * moved / one["median_seconds"])
            for error in ("forward_error", "backward_error"):
                assert 0 <= one[error] < (1e-14 if case["type"] == "f64" else 1e-5)
            for name in ("setup_seconds", "break_even_products", "bandwidth_share", "bytes_per_nonzero", "peer_ratio"):
                assert name in one
            if one["peer"]:
                assert one["padding"] is None and one["setup_products"] is None
            else:
                assert one["padding"] >= 0 and isinstance(one["details"], str)
                setup = one["setup_seconds"] - one["setup"]["upload_seconds"]
                assert one["setup_products"] == pytest.approx(setup / one["median_seconds"])
    summaries = report["summary"]
    assert [summary["type"] for summary in summaries] == ["f64", "f32"]
    assert all(summary["matrices"] == 2 and summary["wins"] + summary["ties"] + summary["losses"] == summary["compared"]
               for summary in summaries)


@pytest.mark.parametrize("layout", ["column", "row"])
def test_several_vectors_are_all_counted(succeed, layout):
    report = json.loads(succeed("bench", "gen:poisson2d:20", "--formats", "csr,coo", "--vectors", "1,5", "--layout",
                                layout, "--json", "-", *FAST))
    assert [(case["vectors"], case["layout"]) for case in report["cases"]] == [(1, layout), (5, layout)]
    for case in report["cases"]:
        for one in case["measurements"]:
            assert one["correct"] is True and one["repeatable"] is True
            assert one["gflops"] == pytest.approx(2e-9 * case["vectors"] * case["nonzeros"] / one["median_seconds"])
            moved = one["bytes"] + 8 * case["vectors"] * (case["rows"] + case["cols"])
            assert one["gigabytes_per_second"] == pytest.approx(1e-9 * moved / one["median_seconds"])
    text = succeed("bench", "gen:poisson2d:20", "--formats", "csr", "--vectors", "5", "--layout", layout, *FAST)
    assert f"f64, 5 vectors, {layout}-major" in text


def test_ranks_follow_the_times_and_ties_share_them(succeed):
    report = json.loads(succeed("bench", "gen:stencil27:12", "--json", "-", *FAST))
    ranked = sorted(report["cases"][0]["measurements"], key=lambda one: one["median_seconds"])
    leader = ranked[0]
    for place, one in enumerate(ranked, 1):
        if one["median_seconds"] >= 1.05 * leader["median_seconds"]:
            leader = one
            assert one["rank"] == place
        assert one["rank"] == leader["rank"]


def test_the_suite_of_a_folder_leaves_out_what_cannot_be_read(weft, tmp_path, small_mtx):
    folder = tmp_path / "matrices"
    folder.mkdir()
    small_mtx.rename(folder / "small.mtx")
    (folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n")
    (folder / "INDEX.tsv").write_text("file\tnonzeros\nbad.mtx\t1\nsmall.mtx\t4\n")
    done = weft("bench", "--suite", "real", "--folder", "matrices", "--formats", "csr", "--json", "r.json", *FAST)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "r.json").read_text())
    assert [case["source"] for case in report["cases"]] == ["matrices/small.mtx"]
    assert len(report["notes"]) == 1 and report["notes"][0].startswith("left out: matrices/bad.mtx:")


def test_suites_of_folders_are_checked_before_anything_runs(refuse, tmp_path):
    assert "--folder" in refuse(2, "bench", "--suite", "real")
    assert "--folder" in refuse(2, "bench", "--suite", "quick", "--folder", ".")
    assert "missing" in refuse(1, "bench", "--suite", "real", "--folder", "missing")
    (tmp_path / "INDEX.tsv").write_text("name\n")
    assert "INDEX.tsv:1: expected a column 'file'" in refuse(1, "bench", "--suite", "real", "--folder", ".")


def test_a_set_up_that_takes_too_long_is_given_up_and_stays_in_the_table(succeed):
    report = json.loads(succeed("bench", "gen:poisson3d:40", "--formats", "csr,ehyb", "--patience", "0.001", "--json", "-", *FAST))
    csr, ehyb = report["cases"][0]["measurements"]
    assert csr["failure"] is None
    assert ehyb["failure"] == "set-up was given up after 0.001 s (see --patience)"


def test_without_cold_nothing_is_timed_cold(succeed):
    report = json.loads(succeed("bench", "gen:poisson2d:9", "--formats", "csr", "--no-cold", "--json", "-", *FAST))
    assert report["parameters"]["cold"] is False
    assert report["cases"][0]["measurements"][0]["cold_median_seconds"] is None
    assert "cold" not in succeed("bench", "gen:poisson2d:9", "--formats", "csr", "--no-cold", *FAST)


def test_plans_from_the_device_need_one_with_a_memory_of_its_own(succeed, refuse):
    assert "--device gpu" in refuse(2, "bench", "gen:poisson2d:9", "--from-device")
    if "emulator" not in [one["device"] for one in json.loads(succeed("doctor", "--json"))["devices"]]:
        pytest.skip("no emulator")
    text = succeed("bench", "gen:elasticity3d:4", "gen:tall:500", "--from-device", "--device", "emulator", "--json", "-", *FAST)
    for case in json.loads(text)["cases"]:
        assert "auto" in [one["name"] for one in case["measurements"]]
        for one in case["measurements"]:
            assert one["failure"] is None and one["correct"], one["name"]


def test_csv_has_a_line_for_each_measurement(succeed, tmp_path):
    text = succeed("bench", "gen:poisson2d:20", "--formats", "csr,coo", "--csv", "results.csv", *FAST)
    assert "GFLOP/s" in text
    lines = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text())))
    assert [line["name"] for line in lines] == ["csr", "coo"]
    assert all(float(line["median_seconds"]) > 0 and line["failure"] == "" for line in lines)


def test_a_peer_is_named_in_the_table_and_csr_is_related_to_it(succeed):
    report = json.loads(succeed("bench", "gen:poisson2d:20", "--formats", "csr", "--peers", "eigen", "--json", "-", *FAST))
    if report["notes"]:
        pytest.skip(report["notes"][0])
    csr, eigen = report["cases"][0]["measurements"]
    assert eigen["name"] == "eigen" and eigen["peer"] is True
    assert csr["peer_ratio"] == pytest.approx(eigen["median_seconds"] / csr["median_seconds"])
    text = succeed("bench", "gen:poisson2d:20", "--formats", "csr", "--peers", "eigen", *FAST)
    titles, _, ours, theirs = text.splitlines()[3:7]
    assert titles.endswith("  vs peer") and ours.endswith("x") and ours.startswith("csr ")
    assert theirs.startswith("eigen ") and theirs.endswith(" -")
    assert [line.split()[0] for line in text.splitlines()[10:13] if line[0] != " "] == ["csr", "eigen"], "the table of how they are stored"
    assert "Fastest: " in text and "On this matrix (f64) Weft is " in text


@pytest.mark.parametrize("device", ["cpu", "emulator"])
def test_tables_fit_a_page(succeed, device):
    if device not in [one["device"] for one in json.loads(succeed("doctor", "--json"))["devices"]]:
        pytest.skip(f"no {device}")
    text = succeed("bench", "gen:poisson2d:9", "gen:circuit:3000", "--device", device, "--peers", "all", *FAST)
    for table in text.split("\n\n")[1:]:
        lines = table.splitlines()
        assert max(map(len, lines)) <= 100, max(lines, key=len)


def test_a_missing_peer_is_one_line_and_no_failure(weft):
    done = weft("bench", "gen:poisson2d:9", "--formats", "csr", "--peers", "cusparse", *FAST)
    assert done.returncode == 0
    assert done.stderr.startswith("weft: no comparison with cusparse: ") and done.stderr.count("\n") == 1


def test_what_was_measured_before_a_bad_source_is_kept(weft, tmp_path):
    done = weft("bench", "gen:poisson2d:9", "missing.mtx", "gen:poisson2d:8", "--formats", "csr", "--json", "r.json", *FAST)
    assert done.returncode == 1 and "missing.mtx" in done.stderr and done.stderr.count("\n") == 1
    assert [case["source"] for case in json.loads((tmp_path / "r.json").read_text())["cases"]] == ["gen:poisson2d:9"]
    done = weft("bench", "missing.mtx", "--json", "none.json")
    assert done.returncode == 1 and done.stdout == "" and not (tmp_path / "none.json").exists()


def test_awkward_matrices_are_measured_too(succeed, tmp_path):
    (tmp_path / "empty.mtx").write_text("%%MatrixMarket matrix coordinate real general\n5 3 0\n")
    succeed("bench", "empty.mtx", "gen:dense:1:40", "gen:empty-rows:50", *FAST)


def test_svg_has_a_line_for_each_format(weft, tmp_path):
    picture = tmp_path / "times.svg"
    sources = ["gen:poisson2d:10", "gen:poisson2d:20", "gen:poisson2d:40"]
    done = weft("bench", *sources, "--formats", "csr,coo", "--seconds", "0.01", "--svg", str(picture))
    assert done.returncode == 0, done.stderr
    text = xml.etree.ElementTree.parse(picture).getroot().itertext()
    assert {"csr", "coo", "Time of one product", "seconds"} <= {word.strip() for word in text}
