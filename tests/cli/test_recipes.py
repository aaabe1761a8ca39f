"""Recipes: what builds the same plan again, as a format's name and in a file."""

import json

import pytest

DEVICES = ["cpu", "emulator"]


def recipe_of(succeed, *arguments):
    return json.loads(succeed("spmv", *arguments, "--json"))["recipe"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("arguments", [["--format", "csr"], ["--format", "sell:sigma=64"], ["--format", "bro-hyb"],
                                       ["--format", "ehyb", "--order", "rcm"], ["--format", "csr", "--transpose"]])
def test_a_recipe_gives_the_same_bits(succeed, tmp_path, device, arguments):
    common = ["gen:rmat:8", "--x", "random:3", "--device", device]
    succeed("spmv", *common, *arguments, "-o", "y.mtx")
    recipe = recipe_of(succeed, *common, *arguments)
    assert ("rcm+" in recipe) == ("rcm" in arguments)
    transpose = [word for word in arguments if word == "--transpose"]
    succeed("spmv", *common, *transpose, "--format", recipe, "-o", "again.mtx")
    assert recipe_of(succeed, *common, *transpose, "--format", recipe) == recipe
    assert (tmp_path / "y.mtx").read_bytes() == (tmp_path / "again.mtx").read_bytes()


def test_the_recipe_is_printed(succeed):
    assert "\nrecipe    length+sell:c=16:sigma=32:t=1:runs=0\n" in succeed(
        "spmv", "gen:poisson2d:20", "--format", "sell:c=16:sigma=32", "--order", "length")


def test_a_recipe_file_is_written_once_and_then_used(succeed, tmp_path):
    kept = tmp_path / "a.recipe"
    succeed("spmv", "gen:poisson2d:20", "--recipe-file", "a.recipe", "-o", "y.mtx")
    comment, recipe = kept.read_text().splitlines()
    assert comment.startswith("# gen:poisson2d:20, 400 x 400, f64 on cpu (") and ", Weft " in comment
    kept.write_text("\n% mine\n  \nrcm+sell:c=16:sigma=32:t=1:runs=0  \r\n# the end")
    before = kept.read_bytes()
    assert recipe_of(succeed, "gen:poisson2d:20", "--recipe-file", "a.recipe") == "rcm+sell:c=16:sigma=32:t=1:runs=0"
    assert kept.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.recipe", "y.mtx"]
    kept.write_text(recipe)
    succeed("spmv", "gen:poisson2d:20", "--recipe-file", "a.recipe", "-o", "again.mtx")
    assert (tmp_path / "y.mtx").read_bytes() == (tmp_path / "again.mtx").read_bytes()


def test_the_file_takes_the_recipe_of_a_named_format(succeed, tmp_path):
    succeed("spmv", "gen:poisson2d:20", "--format", "bro-ell:h=32", "--recipe-file", "a.recipe", "--device", "emulator")
    text = (tmp_path / "a.recipe").read_text()
    assert "f64 on emulator, Weft " in text and text.endswith("\nbro-ell:h=32:sym=32\n")
    succeed("spmv", "gen:poisson2d:20", "--format", "bro-ell:h=32:sym=32", "--recipe-file", "a.recipe")


@pytest.mark.parametrize("text, line, says", [
    ("", 1, "the file ends without a recipe"),
    ("# nothing\n\n", 3, "the file ends without a recipe"),
    ("csr\nsell\n", 2, "here is another recipe, but a file has one"),
    ("\nsoup\n", 2, "there is no format 'soup'"),
    ("sell:c=1\n", 1, "format 'sell': c must be"),
    ("up+csr\n", 1, "there is no ordering 'up'"),
    ("rcm+auto\n", 1, "'auto' is not a recipe"),
    ("csr\x1b[1m\n", 1, "is not a recipe"),
    ("csr:" + 2000 * "x", 1, "a recipe has at most 1024 characters"),
])
def test_a_bad_file_is_refused_with_its_line(refuse, tmp_path, text, line, says):
    (tmp_path / "a.recipe").write_text(text)
    sentence = refuse(1, "spmv", "gen:poisson2d:5", "--recipe-file", "a.recipe")
    assert sentence.startswith(f"weft: a.recipe:{line}: ") and says in sentence and "\x1b" not in sentence
    assert (tmp_path / "a.recipe").read_text() == text


def test_what_contradicts_the_file_is_wrong_usage(refuse, tmp_path):
    (tmp_path / "a.recipe").write_text("rcm+sell:c=16:sigma=32:t=1:runs=0\n")
    assert "is not the recipe in a.recipe" in refuse(2, "spmv", "gen:poisson2d:5", "--recipe-file", "a.recipe",
                                                     "--format", "sell")
    assert "is in the order rcm, but --order says length" in refuse(
        2, "spmv", "gen:poisson2d:5", "--recipe-file", "a.recipe", "--order", "length")
    assert "is in the order rcm" in refuse(2, "bench", "gen:poisson2d:5", "--formats", "rcm+csr", "--order", "length")


def test_a_place_that_cannot_be_written_is_told_first(refuse):
    assert "there is no folder" in refuse(1, "spmv", "missing.mtx", "--recipe-file", "missing/a.recipe")


def test_packed_files_know_their_recipe(succeed, refuse, tmp_path):
    succeed("convert", "gen:poisson2d:30", "-o", "a.weft", "--format", "ehyb:cache=200", "--device", "cpu")
    recipe = json.loads(succeed("info", "a.weft", "--json"))["recipe"]
    assert recipe.startswith("ehyb:block=1:parts=") and recipe.endswith(":cache=200:guests=1")
    assert f"stored as          {recipe}\n" in succeed("info", "a.weft")
    summary = json.loads(succeed("spmv", "a.weft", "--json", "--recipe-file", "a.recipe"))
    assert summary["stored"] and summary["recipe"] == recipe
    succeed("convert", "gen:poisson2d:30", "-o", "b.weft", "--format", recipe, "--device", "cpu")
    assert (tmp_path / "a.weft").read_bytes() == (tmp_path / "b.weft").read_bytes()
    assert "own order" in refuse(2, "convert", "a.weft", "-o", "c.weft", "--format", "rcm+bro-ell")
    assert "recipe" not in json.loads(succeed("info", "gen:poisson2d:5", "--json"))


def test_bench_measures_and_reports_recipes(succeed):
    results = json.loads(succeed("bench", "gen:poisson2d:20", "--formats", "rcm+sell:c=16,csr", "--seconds", "0.01",
                                 "--json", "-"))
    recipes = {one["name"]: one["recipe"] for one in results["cases"][0]["measurements"]}
    assert recipes["rcm+sell:c=16"].startswith("rcm+sell:c=16:sigma=") and recipes["csr"] == "csr:merge"


def test_auto_chooses_the_same_again(succeed, tmp_path, monkeypatch):
    monkeypatch.setenv("WEFT_CACHE", str(tmp_path / "cache"))
    common = ["spmv", "gen:poisson3d:14", "--products", "3000"]
    plans = [json.loads(succeed(*common, "--json")) for _ in range(20)]
    assert [plan["remembered"] for plan in plans] == [False] + 19 * [True]
    assert len({plan["recipe"] for plan in plans}) == 1
    assert len({plan["norm"] for plan in plans}) == 1
    assert "\nchoice    as before on this machine; `weft tune` forgets it\n" in succeed(*common)
    succeed("tune")
    assert not json.loads(succeed(*common, "--json"))["remembered"]


def test_a_damaged_memory_is_made_anew(succeed, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("WEFT_CACHE", str(cache))
    common = ["spmv", "gen:poisson3d:14", "--products", "3000", "--json"]
    succeed(*common)
    (kept,) = cache.glob("*.choices")
    key = kept.read_text().splitlines()[1].split()[0]
    for content in [b"", b"\0\xff\n" * 1000, f"{key}\n{key} soup\n{key} csr csr -3\n".encode(), key.encode() * 100000]:
        kept.write_bytes(content)
        plan = json.loads(succeed(*common))
        assert not plan["remembered"]
        assert plan["recipe"]
