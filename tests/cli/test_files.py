import json

import pytest


def facts(succeed, source):
    result = json.loads(succeed("info", source, "--json"))
    result.pop("source")
    result.pop("recipe", None)  # how a file is packed, not what the matrix is like
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


@pytest.mark.parametrize("format_name", ["bro-ell", "bro-coo", "bro-ell:h=32:sym=64", "bro-coo:steps=4", "ehyb",
                                         "ehyb:cache=30"])
@pytest.mark.parametrize("source", ["gen:uniform:200:7", "gen:empty-rows:300", "gen:poisson2d:30"])
def test_packed_files_keep_every_bit_and_every_command_takes_them(succeed, tmp_path, format_name, source):
    succeed("gen", source, "-o", "a.mtx")
    succeed("convert", "a.mtx", "-o", "b.weft", "--format", format_name)
    succeed("convert", "b.weft", "-o", "c.mtx")
    assert (tmp_path / "a.mtx").read_bytes() == (tmp_path / "c.mtx").read_bytes()
    assert facts(succeed, "b.weft") == facts(succeed, "a.mtx")


def test_a_packed_file_is_multiplied_as_it_is_stored(succeed):
    name = "bro-ell"
    succeed("convert", "gen:poisson2d:30", "-o", "a.weft", "--format", name)
    for arguments, stored in (([], True), (["--format", name], True), (["--format", "csr"], False),
                              (["--type", "f32"], True), (["--transpose"], True), (["--device", "emulator"], True)):
        text = succeed("spmv", "a.weft", "--check", *arguments)
        assert ("as stored in the file" in text) == stored
        assert "check     correct" in text
        summary = json.loads(succeed("spmv", "a.weft", "--json", *arguments))
        assert summary["stored"] == stored and (summary["format"] == name) == stored


def test_ehyb_is_stored_for_a_device_and_others_take_its_parts(succeed):
    def norm(*arguments):
        summary = json.loads(succeed("spmv", "a.weft", "--check", "--json", *arguments))
        assert summary["correct"]
        return summary["stored"], summary["norm"]

    plain = json.loads(succeed("spmv", "gen:poisson2d:30", "--format", "ehyb", "--json"))
    succeed("convert", "gen:poisson2d:30", "-o", "a.weft", "--format", "ehyb", "--device", "cpu")
    assert norm() == (True, plain["norm"]) and "as stored in the file" in succeed("spmv", "a.weft")
    assert norm("--format", "ehyb") == (True, plain["norm"])
    assert not norm("--device", "emulator")[0] and not norm("--type", "f32")[0] and not norm("--format", "csr")[0]
    succeed("convert", "gen:poisson2d:30", "-o", "a.weft", "--format", "ehyb", "--device", "emulator")
    assert norm("--device", "emulator")[0] and norm("--device", "emulator", "--transpose")[0] and not norm()[0]
    succeed("convert", "gen:poisson2d:30", "-o", "a.weft", "--format", "ehyb", "--device", "gpu")  # there or not
    assert not norm()[0]


def test_packed_files_are_smaller(succeed, tmp_path):
    succeed("gen", "gen:poisson2d:60", "-o", "plain.weft")
    succeed("convert", "plain.weft", "-o", "packed.weft", "--format", "bro-ell")
    assert (tmp_path / "packed.weft").stat().st_size < 0.9 * (tmp_path / "plain.weft").stat().st_size


def test_what_cannot_be_stored_is_told_before_anything_is_read(refuse):
    sentence = refuse(2, "convert", "missing.mtx", "-o", "a.weft", "--format", "sell")
    assert "csr, bro-ell, bro-coo, ehyb" in sentence
    assert ".weft" in refuse(2, "convert", "missing.mtx", "-o", "a.mtx", "--format", "bro-ell")
    assert "bro-ell" in refuse(2, "convert", "missing.mtx", "-o", "a.weft", "--format", "bogus")
    assert "power of two" in refuse(2, "convert", "missing.mtx", "-o", "a.weft", "--format", "bro-ell:h=33")
    refuse(2, "convert", "missing.mtx", "-o", "a.weft", "--format", "auto")


@pytest.mark.parametrize("format_name", ["bro-ell", "bro-coo", "ehyb"])
@pytest.mark.parametrize("command", ["spmv", "info", "bench"])
def test_packed_files_that_were_cut_or_altered_are_refused(succeed, refuse, tmp_path, format_name, command):
    succeed("convert", "gen:uniform:50:5", "-o", "a.weft", "--format", format_name)
    whole = (tmp_path / "a.weft").read_bytes()
    for size in (10, 100, len(whole) // 2, len(whole) - 64):
        (tmp_path / "b.weft").write_bytes(whole[:size])
        assert refuse(1, command, "b.weft").startswith("weft: b.weft: ")
    for at in range(70, len(whole), 211):
        (tmp_path / "b.weft").write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
        assert refuse(1, command, "b.weft").startswith("weft: b.weft: ")
