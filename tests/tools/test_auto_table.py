"""What tools/auto-table prints is what the result files say."""
import json

import pytest


def measured(name, microseconds, setup=0.0, upload=0.001, **more):
    seconds = microseconds * 1e-6
    return {"name": name, "peer": name.startswith("cusparse"), "failure": None, "correct": True, "median_seconds": seconds, "low_seconds": seconds,
            "high_seconds": seconds, "groups": 11, "setup_seconds": setup + upload, "setup": {"upload_seconds": upload}, **more}


@pytest.fixture
def table(script, tmp_path):
    """The lines that it prints about one matrix with these measurements."""

    def run(*measurements, arguments=()):
        case = {"source": "gen:a", "type": "f64", "nonzeros": 2500000, "measurements": list(measurements)}
        (tmp_path / "r.json").write_text(json.dumps({
            "schema": 2, "tool": "weft bench", "command": "weft bench gen:a", "machine": {"commit": "abc1234"}, "device": {"name": "A GPU"},
            "bandwidth_bytes_per_second": 4.5e12, "parameters": {"products": 1000}, "cases": [case]}))
        return script("auto-table", "r.json", *arguments)

    return run


def test_auto_is_compared_with_the_peer_with_the_best_and_with_the_soonest_done(table):
    done = table(measured("csr", 100), measured("sell", 50, setup=0.002), measured("ehyb", 40, setup=0.1),
                 measured("auto@100", 100, chosen="csr", recipe="csr"), measured("auto", 52, setup=0.004, chosen="sell", recipe="sell:b"),
                 measured("cusparse:csr-alg1", 104))
    assert done.returncode == 0, done.stderr
    few, many = (line.split() for line in done.stdout.splitlines()[3:5])
    assert few[:8] == ["a", "f64", "100", "csr", "1.04", "0.40", "1.38", "0.0"]  # (1 + 10) ms, where sell takes 1 + 2 + 5
    assert many[:8] == ["a", "f64", "1000", "sell", "2.00", "0.77", "1.08", "40.0"]  # 1 + 4 + 52 of 1 + 2 + 50
    assert few[8:] == many[8:] == ["ehyb", "2.60,", "sell"]


def test_one_recipe_measured_twice_is_one_speed(table):
    done = table(measured("sell", 50, recipe="sell:b", chosen="sell"), measured("auto", 55, recipe="sell:b", chosen="sell"))
    assert done.stdout.splitlines()[3].split()[4:6] == ["-", "1.00"]


def test_the_summary_tells_how_far_off_predictions_are(table):
    candidates = [{"format": "csr", "predicted_product_seconds": 9e-5, "product_seconds": 1e-4}, {"format": "sell", "predicted_product_seconds": 9e-5}]
    done = table(measured("csr", 100), measured("auto", 100, chosen="csr", candidates=candidates), arguments=["--brief"])
    assert done.stdout.splitlines()[-1] == "predictions of what was timed are off by 10 % in the median"
    assert len(done.stdout.splitlines()) == 6, "nothing is below what is expected"


def test_a_file_without_auto_is_refused(table):
    done = table(measured("csr", 100))
    assert done.returncode == 1 and done.stderr == "auto-table: r.json: no measurement of auto, expected some\n"
