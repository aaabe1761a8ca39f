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


def test_generators_need_no_prefix_and_are_listed(succeed):
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


def test_f32_rounds(succeed, tmp_path):
    (tmp_path / "third.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.3333333333333333\n")
    for value_type, written in (("f64", 0.3333333333333333), ("f32", 0.3333333432674408)):
        for name in ("a.mtx", "a.weft"):
            succeed("convert", "third.mtx", "-o", name, "--type", value_type)
        succeed("convert", "a.weft", "-o", "b.mtx")
        for name in ("a.mtx", "b.mtx"):
            value = float((tmp_path / name).read_text().split()[-1])
            assert value == pytest.approx(written, rel=1e-15 if value_type == "f64" or name == "b.mtx" else 1e-8)
            assert (value == 0.3333333333333333) == (value_type == "f64")
