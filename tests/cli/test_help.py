import pathlib
import re

import pytest

# As the help lists them, which is checked below.
HELP = (pathlib.Path(__file__).parent / "golden/help-weft.txt").read_text()
COMMANDS = re.findall(r"^  ([a-z-]+) ", re.search(r"^Commands:\n(.*?)\n\n", HELP, re.DOTALL | re.MULTILINE)[1], re.MULTILINE)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_a_result_and_stays_as_agreed(weft, golden, command):
    done = weft(*command.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 120
    golden(f"help-{command or 'weft'}", done.stdout, exact=True)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_examples_in_help_run_as_they_stand(succeed, command):
    examples = re.findall(r"^  weft (.*)$", succeed(*command.split(), "--help").split("Example")[1], re.MULTILINE)
    assert examples
    for example in examples:
        fast = ["--seconds", "0.01", "--repeat", "2"] if example.startswith("bench") else []
        succeed(*example.split(), *fast)


def test_version(succeed):
    assert re.fullmatch(r"weft \d+\.\d+\.\d+\n", succeed("--version"))


@pytest.mark.parametrize("arguments", [
    [], ["fly"], ["--fly"], ["info"], ["info", "a.mtx", "b.mtx"], ["spmv", "gen:poisson2d:4", "--type", "f16"],
    ["spmv", "gen:poisson2d:4", "--threads", "0"], ["spmv", "gen:poisson2d:4", "--threads", "two"],
    ["spmv", "gen:poisson2d:4", "--format", "bogus"], ["spmv", "gen:poisson2d:4", "--beta", "2"],
    ["spmv", "gen:poisson2d:4", "--x", "random:many"], ["spmv", "gen:poisson2d:4", "--products", "0"],
    ["bench", "gen:poisson2d:4", "--formats", "csr,bogus"], ["bench", "gen:poisson2d:4", "--peers", "bogus"],
    ["bench", "gen:poisson2d:4", "--vectors", "0"], ["bench", "gen:poisson2d:4", "--layout", "diagonal"],
    ["bench", "gen:poisson2d:4", "--vectors", "2", "--peers", "eigen"],
    ["bench", "gen:poisson2d:4", "--json", "-", "--csv", "-"], ["bench", "--suite", "bogus"],
    ["gen", "gen:poisson2d:4"], ["gen"], ["gen", "gen:poisson2d:4", "-o", "f.txt"], ["convert", "a.mtx"],
    ["reorder", "gen:poisson2d:4", "--by", "rcm"], ["reorder", "gen:poisson2d:4", "-o", "f.mtx"],
    ["reorder", "gen:poisson2d:4", "--by", "metis", "-o", "f.mtx"], ["reorder", "gen:poisson2d:4", "--by", "rcm", "-o", "f.txt"],
    ["reorder", "gen:poisson2d:4", "--by", "rcm", "-o", "f.mtx", "--permutation", "./f.mtx"],
    ["spmv", "gen:poisson2d:4", "--order", "bogus"], ["bench", "gen:poisson2d:4", "--order", "bogus"],
    ["info", "gen:poisson2d:4", "--svg", "-", "--json"], ["info", "gen:poisson2d:4", "--fill", "32"],
    ["info", "gen:poisson2d:4", "--partition", "--fill", "0"], ["info", "gen:poisson2d:4", "--partition", "--fill", "2147483648"],
    ["info", "gen:poisson2d:4", "--partition", "--fill", "some"], ["info", "gen:poisson2d:4", "--partition", "--svg", "-", "--json"],
])
def test_wrong_usage_is_told_in_a_sentence(refuse, arguments):
    refuse(2, *arguments)


def test_usage_sentences_say_what_to_do_next(refuse):
    assert "weft spmv --help" in refuse(2, "spmv", "--fly")
    assert "csr" in refuse(2, "spmv", "gen:poisson2d:4", "--format", "bogus")
    assert ".weft" in refuse(2, "gen", "gen:poisson2d:4", "-o", "f.txt")
