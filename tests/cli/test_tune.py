"""weft tune-kernels on the emulator: its times mean nothing, but everything else is as on a GPU."""
import json
import re
import xml.etree.ElementTree

import pytest

FAST = ["--device", "emulator", "--seconds", "0.001", "--repeat", "1"]
SMALL = ["gen:poisson3d:4", "gen:circuit:100", *FAST, "--widths", "4,8", "--tiles", "1,8", "--bunches", "8"]


@pytest.fixture(autouse=True)
def emulator(succeed):
    if not json.loads(succeed("doctor", "--json"))["build"]["emulator"]:
        pytest.skip("this build has no emulator")


def harmonic_mean(numbers):
    return len(numbers) / sum(1 / number for number in numbers)


def setting(trial):
    return trial["W"], trial["S"], trial["B"]


def test_json_has_everything_and_the_best_is_the_fastest(succeed):
    report = json.loads(succeed("tune-kernels", *SMALL, "--json", "-"))
    assert (report["schema"], report["tool"], report["format"]) == (1, "weft tune-kernels", "csr:speculative")
    assert report["device"]["device"] == "emulator" and "cpu" in report["machine"]
    assert report["parameters"] == {"seconds": 0.001, "groups": 1, "seed": 1, "joint": False}
    assert [(m["source"], m["rows"]) for m in report["matrices"]] == [("gen:poisson3d:4", 64), ("gen:circuit:100", 100)]
    assert [result["type"] for result in report["results"]] == ["f32", "f64"]
    for result in report["results"]:
        speeds = {setting(trial): trial["gflops"] for trial in result["tried"]}
        assert len(speeds) == len(result["tried"])
        for trial in result["tried"]:
            assert trial["correct"] is True and 0 <= trial["max_error"] < 1e-5
            assert len(trial["gflops_by_matrix"]) == 2
            assert trial["gflops"] == pytest.approx(harmonic_mean(trial["gflops_by_matrix"]))
        best, kept = result["best"], result["kept"]
        assert setting(best) == max(speeds, key=speeds.get) and best["gflops"] == speeds[setting(best)]
        assert kept["gflops"] == speeds[setting(kept)]
        assert result["shortfall"] == pytest.approx(1 - kept["gflops"] / best["gflops"])
        assert result["T"] == 32 and result["rounds"] >= 1
        for letter, asked in {"W": {4, 8}, "S": {1, 8}, "B": {8}}.items():
            curve = result["curves"][letter]
            values = [point[letter] for point in curve]
            assert values == sorted(asked | {kept[letter]}), "the values asked for, and those kept"
            for point in curve:
                assert point["gflops"] == speeds[setting({**best, letter: point[letter]})]


def test_every_combination_is_tried_when_asked_for(succeed):
    result, = json.loads(succeed("tune-kernels", *SMALL, "--type", "f64", "--joint", "--json", "-"))["results"]
    sizes = [len(result["curves"][letter]) for letter in "WSB"]
    assert len(result["tried"]) == sizes[0] * sizes[1] * sizes[2]


def test_tables_show_what_the_json_holds(succeed, tmp_path):
    text = succeed("tune-kernels", *SMALL, "--json", "r.json")
    results = json.loads((tmp_path / "r.json").read_text())["results"]
    assert "harmonic means of GFLOP/s over 2 matrices" in text
    for letter in "WSB":
        table = re.search(rf"^{letter}, .*\n  {letter} +f32 +f64\n  -+\n((?:  \d.*\n)+)", text, re.MULTILINE)[1]
        for column, result in enumerate(results):
            shown = [re.match(r" +(\d+) +([\d.]+|-)( \*)? +([\d.]+|-)( \*)?", line).groups() for line in table.splitlines()]
            shown = {int(row[0]): (row[1 + 2 * column], row[2 + 2 * column]) for row in shown if row[1 + 2 * column] != "-"}
            assert [value for value, (_, mark) in shown.items() if mark] == [result["best"][letter]]
            for point in result["curves"][letter]:
                assert float(shown[point[letter]][0]) == pytest.approx(point["gflops"], rel=0.02)
    for letter in "WBS":
        row = [str(result[which][letter]) for result in results for which in ("best", "kept")]
        assert re.search(rf"^  {letter} +{' +'.join(row)}$", text, re.MULTILINE), text
    for line, result in zip(text.splitlines()[-2:], results):
        same = setting(result["best"]) == setting(result["kept"])
        assert line.startswith(f"{result['type']}: the values kept are {'the best' if same else 'within '}")
        assert line.endswith(f" of {len(result['tried'])} tried")


def test_without_matrices_it_has_its_own(succeed):
    report = json.loads(succeed("tune-kernels", *FAST, "--type", "f32", "--widths", "4", "--tiles", "8", "--bunches", "8",
                                "--json", "-"))
    kinds = {matrix["source"].split(":")[1] for matrix in report["matrices"]}
    assert {"poisson3d", "stencil27", "elasticity3d", "rmat", "circuit", "tall"} <= kinds
    assert [result["type"] for result in report["results"]] == ["f32"]


def test_svg_draws_a_line_for_each_type_and_parameter(succeed, tmp_path):
    succeed("tune-kernels", *SMALL, "--svg", "curves.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "curves.svg").getroot()
    assert len(root.findall(".//{*}polyline")) == 6
    text = {word.strip() for word in root.itertext()}
    assert {"GFLOP/s, harmonic mean", "W, entries a lane and tile", "S, tiles a bunch", "B, bunches a group"} <= text
    assert xml.etree.ElementTree.fromstring(succeed("tune-kernels", *SMALL, "--svg", "-")).tag.endswith("svg")


def test_a_cpu_has_nothing_to_tune(refuse):
    assert "nothing to tune on a CPU" in refuse(2, "tune-kernels", "gen:poisson3d:4", "--device", "cpu")


@pytest.mark.parametrize("arguments", [
    ["--widths", "3"], ["--widths", "10"], ["--tiles", "0"], ["--tiles", "32"], ["--tiles", "4,x"], ["--tiles", "4.5"],
    ["--bunches", "9"], ["--bunches", ","], ["--type", "f16"], ["--seconds", "0"], ["--json", "-", "--svg", "-"], ["--fly"],
])
def test_wrong_usage_is_told_in_a_sentence(refuse, arguments):
    refuse(2, "tune-kernels", "gen:poisson3d:4", *FAST, *arguments)


def test_what_cannot_work_is_told_before_the_work(refuse, tmp_path):
    assert "no folder" in refuse(1, "tune-kernels", *FAST, "--json", "nowhere/r.json")
    assert "missing.mtx" in refuse(1, "tune-kernels", "missing.mtx", *FAST)
    (tmp_path / "empty.mtx").write_text("%%MatrixMarket matrix coordinate real general\n5 3 0\n")
    assert "empty.mtx has no entries" in refuse(1, "tune-kernels", "empty.mtx", *FAST)
    refuse(4, "tune-kernels", "--device", "gpu99")
