import json
import xml.etree.ElementTree as xml


def test_info_stays_as_agreed(succeed, golden):
    golden("info-elasticity3d", succeed("info", "gen:elasticity3d:4"), exact=True)


def test_info_of_a_small_file(succeed, golden, small_mtx):
    golden("info-small", succeed("info", small_mtx.name), exact=True)


def test_many_row_lengths_are_gathered_in_bins(succeed, golden):
    golden("info-rmat", succeed("info", "gen:rmat:10"), exact=True)


def test_json_has_the_facts(succeed, small_mtx):
    facts = json.loads(succeed("info", small_mtx.name, "--json"))
    assert facts["schema"] == 1
    assert (facts["rows"], facts["cols"], facts["nonzeros"], facts["empty_rows"]) == (3, 3, 4, 1)
    assert facts["row_lengths"] == [{"length": 0, "rows": 1}, {"length": 2, "rows": 2}]
    for name in ("bandwidth", "profile", "locality", "pattern_symmetric", "values_symmetric", "block_size",
                 "dominant_rows", "distinct_values", "zeros_stored", "not_finite", "mean_row", "row_deviation"):
        assert name in facts


def test_svg_is_a_picture_beside_the_facts(succeed, tmp_path):
    text = succeed("info", "gen:poisson2d:10", "--svg", "picture.svg")
    assert "nonzeros" in text
    assert xml.parse(tmp_path / "picture.svg").getroot().tag.endswith("svg")


def test_svg_to_standard_output_is_nothing_but_the_picture(succeed):
    assert xml.fromstring(succeed("info", "gen:poisson2d:10", "--svg", "-")).tag.endswith("svg")


def test_facts_do_not_depend_on_the_number_of_threads(succeed):
    assert succeed("info", "gen:rmat:10", "--threads", 1) == succeed("info", "gen:rmat:10", "--threads", 4)


def test_partition_stays_as_agreed(succeed, golden):
    golden("info-partition", succeed("info", "gen:elasticity3d:12", "--partition"), exact=True)


def test_of_many_blocks_the_middle_ones_are_summed(succeed, golden):
    text = succeed("info", "gen:rmat:14", "--partition", "--fill", 100)
    golden("info-partition-many", text[text.index("Partition"):], exact=True)


def test_partition_of_the_papers_example(succeed, tmp_path):
    lengths = [2, 3, 1, 2, 7, 1, 3, 4, 6, 2]
    entries = [f"{row + 1} {column + 1} 1" for row, length in enumerate(lengths) for column in range(length)]
    (tmp_path / "paper.mtx").write_text("\n".join(
        ["%%MatrixMarket matrix coordinate real general", f"11 10 {len(entries)}", *entries, ""]))
    one = json.loads(succeed("info", "paper.mtx", "--partition", "--json"))["partition"]
    assert one == {
        "rows_to_fill": 2048, "padding": 39, "cost": 7 * 2048,
        "blocks": [{"width": 7, "rows": 10, "entries": 31, "padding": 39, "cost": 7 * 2048}],
        "one_block": {"blocks": 1, "padding": 39, "cost": 7 * 2048},
        "block_a_length": {"blocks": 6, "padding": 0, "cost": (1 + 2 + 3 + 4 + 6 + 7) * 2048}}
    each = json.loads(succeed("info", "paper.mtx", "--partition", "--fill", 1, "--json"))["partition"]
    assert [(block["width"], block["rows"]) for block in each["blocks"]] == [(1, 2), (2, 3), (3, 2), (4, 1), (6, 1), (7, 1)]
    assert each["padding"] == 0 and each["cost"] == 31 and each["one_block"]["cost"] == 70


def test_partition_is_in_the_json_only_when_asked_for(succeed):
    assert "partition" not in json.loads(succeed("info", "gen:poisson2d:4", "--json"))


def test_partition_of_nothing(succeed, tmp_path):
    (tmp_path / "empty.mtx").write_text("%%MatrixMarket matrix coordinate real general\n5 3 0\n")
    assert "no block: all rows are empty" in succeed("info", "empty.mtx", "--partition", "--svg", "empty.svg")
    assert xml.parse(tmp_path / "empty.svg").getroot().tag.endswith("svg")
    assert json.loads(succeed("info", "empty.mtx", "--partition", "--json"))["partition"]["blocks"] == []


def test_svg_of_a_partition_shows_its_blocks(succeed):
    words = {word.strip() for word in xml.fromstring(succeed("info", "gen:elasticity3d:12", "--partition", "--svg", "-")).itertext()}
    assert {"\u2264 54: 2,184 rows", "\u2264 81: 3,000 rows", "entries in a row", "rows of this length"} <= words


def test_tables_fit_a_page(succeed):
    assert max(map(len, succeed("info", "gen:circuit:200000", "--partition").splitlines())) <= 100
