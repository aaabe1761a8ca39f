"""tools/same-ranking: do runs of the same benchmark agree?"""
import json
import pathlib
import re
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[2] / "tools/same-ranking"


@pytest.fixture
def agree(tmp_path):
    """Writes a result file for each {name: seconds}, peers begin with 'peer', and asks the tool."""

    def ask(*runs):
        paths = []
        for place, run in enumerate(runs):
            measurements = [{"name": name, "peer": name.startswith("peer"), "failure": None, "correct": True, "median_seconds": seconds,
                             "low_seconds": seconds, "high_seconds": seconds, "groups": 3}
                            for name, seconds in run.items()]
            path = tmp_path / f"{place}.json"
            path.write_text(json.dumps({"schema": 2, "tool": "weft bench", "machine": {}, "cases": [{"source": "a", "type": "f64", "measurements": measurements}]}))
            paths.append(path)
        return subprocess.run([sys.executable, TOOL, *paths], capture_output=True, text=True)

    return ask


def test_noise_below_five_percent_and_ties_that_swap_agree(agree):
    done = agree({"csr": 1.00, "sell": 1.02, "peer": 2.0}, {"csr": 1.03, "sell": 1.00, "peer": 2.02}, {"csr": 1.01, "sell": 1.01, "peer": 2.0})
    assert done.returncode == 0, done.stdout
    assert "a f64: 3 names in 3 runs, ratios within " in done.stdout and done.stdout.endswith("same ranking\n")


def test_a_machine_that_is_slower_as_a_whole_agrees(agree):
    assert agree({"csr": 1.0, "peer": 2.0}, {"csr": 1.5, "peer": 3.0}).returncode == 0


def test_a_swap_beyond_a_tie_is_named(agree):
    done = agree({"csr": 1.0, "sell": 1.06, "peer": 2.0}, {"csr": 1.06, "sell": 1.0, "peer": 2.0})
    assert done.returncode == 1 and "RANKING DIFFERS: csr and sell" in done.stdout


def test_a_ratio_that_differs_is_named(agree):
    done = agree({"csr": 1.0, "peer": 2.0}, {"csr": 1.0, "peer": 2.2})
    assert done.returncode == 1 and "RATIOS DIFFER: csr 10.0 %" in done.stdout


def test_files_that_are_no_results_are_told(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    done = subprocess.run([sys.executable, TOOL, bad, bad], capture_output=True, text=True)
    assert done.returncode == 2 and "bad.json: " in done.stderr and "expected" in done.stderr and done.stderr.count("\n") == 1


def test_a_tie_is_what_the_tool_calls_one():
    constant = re.search(r"constexpr double tie = ([\d.]+);", (TOOL.parents[1] / "bench/harness/measure.hpp").read_text())[1]
    assert re.search(r"^TIE = ([\d.]+) ", (TOOL.parent / "results.py").read_text(), re.MULTILINE)[1] == constant
