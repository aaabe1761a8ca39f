import json

import pytest


def read_vector(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [float(line) for line in lines[1:]]


def test_summary_stays_as_agreed(succeed, golden):
    golden("spmv-poisson2d", succeed("spmv", "gen:poisson2d:20", "--format", "csr", "--check"))


def test_y_goes_to_a_file(succeed, small_mtx, tmp_path):
    (tmp_path / "x.txt").write_text("1\n2\n3\n")
    succeed("spmv", small_mtx.name, "--x", "x.txt", "-o", "y.mtx", "--check")
    assert read_vector(tmp_path / "y.mtx") == [2, 0, 11]


def test_transposed_scaled_and_added_to_y(succeed, small_mtx, tmp_path):
    (tmp_path / "x.txt").write_text("1\n2\n3\n")
    (tmp_path / "y0.txt").write_text("1\n1\n1\n")
    succeed("spmv", small_mtx.name, "--x", "x.txt", "--y0", "y0.txt", "--alpha", "-2", "--beta", "0.5", "--transpose",
            "-o", "y.mtx", "--check")
    assert read_vector(tmp_path / "y.mtx") == [-19.5, 2.5, -17.5]


@pytest.mark.parametrize("value_type", ["f32", "f64"])
@pytest.mark.parametrize("transpose", [[], ["--transpose"]])
def test_every_format_passes_its_check(succeed, value_type, transpose):
    for entry in json.loads(succeed("doctor", "--json"))["formats"]:
        if "cpu" in entry["devices"] and value_type in entry["types"]:
            text = succeed("spmv", "gen:rmat:9", "--x", "random:3", "--format", entry["name"], "--type", value_type,
                           "--check", *transpose)
            assert "check     correct" in text


def test_json_summary(succeed):
    summary = json.loads(succeed("spmv", "gen:poisson2d:20", "--json", "--check"))
    assert summary["correct"] is True
    assert summary["rows"] == 400 and summary["device"] == "cpu" and summary["product_seconds"] > 0
    assert summary["norm"] == pytest.approx((4 * 4 + 4 * 18) ** 0.5)  # A times ones: 2 in the corners, 1 at the edges


def test_a_seed_fixes_x(succeed):
    norms = [json.loads(succeed("spmv", "gen:poisson2d:20", "--x", f"random:{seed}", "--json"))["norm"]
             for seed in (1, 1, 2)]
    assert norms[0] == norms[1] != norms[2]


def test_a_result_beyond_rounding_exits_3(weft, tmp_path):
    """Sums that overflow f32 on the way but not at the end: the f64 reference says 0."""
    count = 2000
    entries = "\n".join(f"1 {i + 1} {'3e38' if i < count // 2 else '-3e38'}" for i in range(count))
    (tmp_path / "overflow.mtx").write_text(
        f"%%MatrixMarket matrix coordinate real general\n1 {count} {count}\n{entries}\n")
    done = weft("spmv", "overflow.mtx", "--type", "f32", "--format", "csr", "--check")
    assert done.returncode == 3
    assert "WRONG" in done.stdout and done.stderr.startswith("weft: the product is wrong")
    done = weft("bench", "overflow.mtx", "--type", "f32", "--formats", "csr", "--seconds", "0.01")
    assert done.returncode == 3
    assert "WRONG" in done.stdout and done.stderr.count("\n") == 1


def test_the_norm_of_a_vector_with_nan_is_nan(succeed):
    assert "norm(y)   nan" in succeed("spmv", "gen:poisson2d:5", "--alpha", "nan", "--format", "csr")


def test_products_agree_with_scipy(succeed, tmp_path):
    numpy = pytest.importorskip("numpy")
    scipy_io = pytest.importorskip("scipy.io")
    for source in ("gen:elasticity3d:4", "gen:rmat:8", "gen:lp:50:400", "gen:empty-rows:100"):
        succeed("convert", source, "-o", "a.mtx")
        matrix = scipy_io.mmread(tmp_path / "a.mtx").tocsr()
        x = numpy.random.default_rng(5).standard_normal(matrix.shape[1])
        (tmp_path / "x.txt").write_text("".join(f"{float(value)!r}\n" for value in x))
        succeed("spmv", "a.mtx", "--x", "x.txt", "-o", "y.mtx")
        y = numpy.array(read_vector(tmp_path / "y.mtx"))
        assert numpy.all(numpy.abs(y - matrix @ x) <= 1e-13 * (abs(matrix) @ abs(x)) + 1e-300)


def test_says_when_caching_cannot_pay(succeed):
    formats = {source: next(line for line in succeed("spmv", source, "--format", "ehyb:cache=256").splitlines()
                            if line.startswith("format")) for source in ("gen:rmat:12", "gen:poisson3d:20")}
    assert formats["gen:rmat:12"].endswith("; caching cannot pay) on cpu")
    assert "of entries cached) on cpu" in formats["gen:poisson3d:20"]
