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
