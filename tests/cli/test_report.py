"""weft report: a page from results, and a sentence from everything else."""
import html.parser
import json
import pathlib
import subprocess

import pytest

RESULTS = pathlib.Path(__file__).parents[2] / "bench/results"
FAST = ["--seconds", "0.01", "--repeat", "2"]
VOID = {"meta", "link", "br"}


class Outline(html.parser.HTMLParser):
    """Which elements a page has; fails where they do not nest."""

    def __init__(self, page):
        super().__init__()
        self.open, self.headings, self.ids, self.titles, self.rows = [], [], [], [], 0
        self.feed(page)
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not any(name.startswith("on") for name in attributes), "no handlers in attributes"
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:,")), "nothing from elsewhere"
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag in ("h1", "h2", "h3", "h4", "h5"):
            self.headings.append(int(tag[1]))
        if tag == "svg":
            assert attributes["role"] == "img" and attributes["aria-labelledby"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        if tag == "tr":
            self.rows += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"unexpected </{tag}>"


@pytest.fixture(scope="module")
def text_of_results(weft_bin):
    return subprocess.run([weft_bin, "bench", "gen:poisson2d:20", "gen:rmat:9", "--type", "both", "--formats", "csr,coo,ell,sell",
                           "--peers", "eigen", "--json", "-", *FAST], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def fresh(text_of_results, tmp_path):
    path = tmp_path / "fresh.json"
    path.write_text(text_of_results)
    return path


def check_page(page):
    outline = Outline(page)
    assert page.startswith("<!DOCTYPE html>\n<html lang=\"en\">")
    assert len(outline.ids) == len(set(outline.ids)), "an id occurs twice"
    for before, after in zip([0, *outline.headings], outline.headings):
        assert after <= before + 1, "headings leave out a level"
    assert "@import" not in page and "url(" not in page
    return outline


def test_page_of_a_fresh_run_has_every_part(succeed, fresh, tmp_path):
    assert succeed("report", "fresh.json") == ""
    page = (tmp_path / "report.html").read_text()
    outline = check_page(page)
    results = json.loads(fresh.read_text())
    for part in ("Performance profile", "Roofline", "csr floor", "Bytes a nonzero against time", "GFLOP/s by matrix",
                 "Set-up against number of products", "Set-up by its parts", "Where the entries are", "Row lengths",
                 "All measurements", "How to repeat it", "prefers-color-scheme: dark", "@media print"):
        assert part in page, part
    measurements = sum(len(case["measurements"]) for case in results["cases"])
    assert outline.rows > measurements
    assert "times as fast as the fastest peer" in page or results["notes"]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.name)
def test_kept_results_give_pages(succeed, refuse, path):
    if json.loads(path.read_text())["tool"] == "weft bench":
        check_page(succeed("report", path, "-o", "-"))
    else:
        assert "tool: expected \"weft bench\"" in refuse(1, "report", path)


@pytest.fixture(scope="module")
def text_of_solves(weft_bin):
    done = subprocess.run([weft_bin, "bench", "--solve", "gen:poisson2d:20", "gen:poisson2d:7", "--formats", "csr,sell", "--peers",
                           "eigen,petsc", "--method", "cg,gmres", "--max-iterations", "45", "--json", "-", *FAST],
                          capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


def test_solves_are_a_page_of_their_own(succeed, text_of_solves, tmp_path):
    (tmp_path / "solves.json").write_text(text_of_solves.replace("gen:poisson2d:7", "<script>alert(1)</script>"))
    page = succeed("report", "solves.json", "-o", "-")
    outline = check_page(page)
    assert page.count("<script") == 1
    for part in ("Solving with Weft", "gen:poisson2d:20, f64", "csr cg+jacobi", "The soonest on", "How to repeat it",
                 "prefers-color-scheme: dark"):
        assert part in page, part
    measurements = sum(len(case["measurements"]) for case in json.loads(text_of_solves)["cases"])
    assert outline.rows == measurements + 2, "a row for each, and two of titles"


def test_solves_and_products_are_not_mixed(refuse, fresh, text_of_solves, tmp_path):
    (tmp_path / "solves.json").write_text(text_of_solves)
    sentence = refuse(1, "report", "fresh.json", "solves.json")
    assert "solves.json" in sentence and "fresh.json are of products, expected files of one kind" in sentence
    assert "--instructions" in refuse(2, "report", "solves.json", "--instructions", "fresh.json")
    wrong = json.loads(text_of_solves)
    wrong["cases"][0]["measurements"][0]["median_seconds"] = "soon"
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    assert "wrong.json: cases[0].measurements[0].median_seconds: expected a number" in refuse(1, "report", "wrong.json")
    assert not (tmp_path / "report.html").exists()


@pytest.fixture
def counts(fresh, tmp_path):
    """A record of the build that `fresh` is of, with counts of its csr and sell."""
    results = json.loads(fresh.read_text())
    machine = results["machine"]
    record = {"build": f"{machine['compiler']}, {machine['build_type']}", "counter": "callgrind",
              "instructions_per_nonzero": {"gen:rmat:9": {f"{kind} {machine['isa']}": {"csr": 7.5, "sell": 5} for kind in ("f32", "f64")}}}
    path = tmp_path / "counts.json"
    path.write_text(json.dumps(record))
    return path


def test_the_roofline_has_what_was_measured(succeed, fresh):
    page = succeed("report", "fresh.json", "-o", "-")
    results = json.loads(fresh.read_text())
    assert "flops per byte" in page and "bytes per nonzero: matrix, x and y" in page
    assert "roof memory" in page and "Bytes and instructions per nonzero" not in page
    assert all(cache["bytes_per_second"] > 0 for cache in results["cache_bandwidths"])
    results["bandwidth_bytes_per_second"] = None
    fresh.write_text(json.dumps(results))
    assert "so there is no roof" in succeed("report", "fresh.json", "-o", "-")


def test_counted_instructions_are_drawn(succeed, fresh, counts):
    page = succeed("report", "fresh.json", "--instructions", "counts.json", "-o", "-")
    check_page(page)
    assert page.count("Bytes and instructions per nonzero</h3>") == 2, "of each type"
    assert page.count("7.5 instructions per nonzero") == 2 and "What each kernel reads and executes" in page
    assert "Counted by callgrind" in page


def test_counts_that_fit_nowhere_are_refused(refuse, fresh, counts, tmp_path):
    record = json.loads(counts.read_text())
    counts.write_text(json.dumps({**record, "build": "Other 1.0, Release"}))
    assert "counted in a build of Other 1.0, Release, but fresh.json is of" in refuse(1, "report", "fresh.json", "--instructions", "counts.json")
    counts.write_text(json.dumps({**record, "instructions_per_nonzero": {"gen:rmat:99": {}}}))
    assert "counts.json: no count is of a matrix" in refuse(1, "report", "fresh.json", "--instructions", "counts.json")
    assert "fresh.json: build is missing: expected a record of tools/count-instructions" in refuse(1, "report", "fresh.json", "--instructions", "fresh.json")
    assert "none.json" in refuse(1, "report", "fresh.json", "--instructions", "none.json")
    assert not (tmp_path / "report.html").exists()


def test_files_of_one_machine_are_joined(succeed, fresh, tmp_path):
    second = json.loads(fresh.read_text())
    second["cases"][0]["source"] = "another.mtx"
    (tmp_path / "second.json").write_text(json.dumps(second))
    page = succeed("report", "fresh.json", "second.json", "-o", "-")
    check_page(page)
    assert "another.mtx" in page and "gen:rmat:9 (second.json)" in page


def test_files_of_two_machines_are_refused(refuse, fresh, tmp_path):
    second = json.loads(fresh.read_text())
    second["device"]["name"] = "another machine"
    (tmp_path / "second.json").write_text(json.dumps(second))
    sentence = refuse(1, "report", "fresh.json", "second.json")
    assert "second.json" in sentence and "expected results of one machine" in sentence
    assert not (tmp_path / "report.html").exists()


def test_names_that_are_markup_are_harmless(succeed, fresh, tmp_path):
    text = fresh.read_text().replace("gen:rmat:9", "<script>alert(1)</script>").replace("eigen", "<img src=x onerror=alert(1)>")
    fresh.write_text(text)
    page = succeed("report", "fresh.json", "-o", "-")
    check_page(page)
    assert page.count("<script") == 1 and "<img" not in page


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "null", "NaN", "\x00", "[" * 100000, '{"tool": "weft bench", "schema": 99}'])
def test_what_is_no_result_is_told_in_a_sentence(refuse, tmp_path, content):
    (tmp_path / "bad.json").write_text(content)
    sentence = refuse(1, "report", "bad.json")
    assert sentence.startswith("weft: bad.json: ") and "expected" in sentence
    assert not (tmp_path / "report.html").exists()


def test_files_and_folders_that_are_not_there(refuse, fresh, tmp_path):
    assert "missing.json" in refuse(1, "report", "missing.json")
    refuse(1, "report", tmp_path)
    refuse(1, "report", "fresh.json", "-o", "no/such/folder/r.html")
    refuse(2, "report")
