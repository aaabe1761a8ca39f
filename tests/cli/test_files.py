import json

import pytest


def facts(succeed, source):
    result = json.loads(succeed("info", source, "--json"))
    result.pop("source")
    return result


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.weft"])
def test_what_is_written_reads_back_the_same(succeed, tmp_path, name):
    succeed("gen", "gen:elasticity3d:3", "-o", name)
    assert facts(succeed, name) == facts(succeed, "gen:elasticity3d:3")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_conversion_through_every_kind_of_file_keeps_every_bit(succeed, tmp_path):
    succeed("gen", "gen:uniform:200:7", "-o", "a.mtx")
    succeed("convert", "a.mtx", "-o", "b.weft")
    succeed("convert", "b.weft", "-o", "c.mtx.gz")
    succeed("convert", "c.mtx.gz", "-o", "d.mtx")
    assert (tmp_path / "a.mtx").read_bytes() == (tmp_path / "d.mtx").read_bytes()


def test_generators_need_no_prefix_and_are_listed(weft, succeed, golden):
    succeed("gen", "poisson2d:5", "-o", "a.mtx")
    assert facts(succeed, "a.mtx") == facts(succeed, "gen:poisson2d:5")
    text = succeed("gen", "--list")
    for name in ("poisson2d", "poisson3d", "stencil27", "elasticity3d", "rmat", "uniform", "band", "circuit", "lp",
                 "tall", "arrow", "dense", "empty-rows"):
        assert f"\n{name} " in text


def test_notes_go_to_standard_error_and_quiet_silences_them(weft):
    done = weft("gen", "gen:poisson2d:5", "-o", "a.mtx")
    assert done.stdout == "" and done.stderr == "weft: wrote a.mtx: 25 x 25, 105 nonzeros\n"
    done = weft("gen", "gen:poisson2d:5", "-o", "a.mtx", "--quiet")
    assert done.stdout == done.stderr == ""


def test_an_existing_file_is_replaced_as_a_whole(succeed, tmp_path):
    (tmp_path / "a.mtx").write_text("old" * 100000)
    succeed("gen", "gen:poisson2d:5", "-o", "a.mtx")
    assert facts(succeed, "a.mtx")["rows"] == 25


def test_f32_rounds(succeed):
    succeed("convert", "gen:uniform:20:3", "-o", "a.weft", "--type", "f32")
    assert facts(succeed, "a.weft")["nonzeros"] == 60
