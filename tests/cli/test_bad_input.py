"""Whatever is wrong with the input: one sentence, the right exit code, no partial output file."""

import os
import pathlib
import resource
import signal

import pytest

HEADER = "%%MatrixMarket matrix coordinate real general\n"
BAD_FILES = sorted((pathlib.Path(__file__).parents[1] / "data/bad").iterdir())


@pytest.mark.parametrize("path", BAD_FILES, ids=lambda path: path.name)
def test_bad_matrix_files(refuse, tmp_path, path):
    assert path.name in refuse(1, "info", path, "--duplicates", "refuse")
    refuse(1, "convert", path, "-o", "out.weft", "--duplicates", "refuse")
    assert list(tmp_path.iterdir()) == []


def test_a_binary_file(refuse, tmp_path):
    (tmp_path / "bad.mtx").write_bytes(b"\0\1\2\3" * 100)
    assert "bad.mtx" in refuse(1, "info", "bad.mtx")


@pytest.mark.parametrize("command", [["info"], ["spmv"], ["bench", "--seconds", "0.01", "--quiet"]])
def test_a_missing_file_and_a_directory(weft, tmp_path, command):
    (tmp_path / "folder.mtx").mkdir()
    for name in ("missing.mtx", "folder.mtx"):
        done = weft(*command, name)
        assert done.returncode == 1
        assert done.stderr.startswith("weft: ") and done.stderr.count("\n") == 1 and name in done.stderr


def test_duplicates_are_refused_when_asked(succeed, refuse, tmp_path):
    (tmp_path / "twice.mtx").write_text(HEADER + "2 2 3\n1 1 1\n1 1 2\n2 2 1\n")
    assert "nonzeros           2" in succeed("info", "twice.mtx")
    assert "twice.mtx" in refuse(1, "info", "twice.mtx", "--duplicates", "refuse")


def test_a_truncated_or_altered_container(succeed, refuse, tmp_path):
    succeed("gen", "gen:poisson2d:20", "-o", "good.weft")
    content = (tmp_path / "good.weft").read_bytes()
    for place in (0, 20, len(content) // 2, len(content) - 1):
        altered = bytearray(content)
        altered[place] ^= 0x10
        (tmp_path / "bad.weft").write_bytes(altered)
        refuse(1, "info", "bad.weft")
    for size in (1, 8, 100, len(content) - 1):
        (tmp_path / "bad.weft").write_bytes(content[:size])
        refuse(1, "info", "bad.weft")


@pytest.mark.parametrize("source", ["gen:bogus:3", "gen:poisson3d", "gen:poisson3d:many", "gen:poisson3d:-1", "gen:",
                                    "fem:missing.msh:poisson:p1"])
def test_unknown_or_badly_asked_generators(refuse, source):
    refuse(1, "info", source)


def test_an_unknown_generator_is_answered_with_those_there_are(refuse):
    assert "poisson3d" in refuse(1, "info", "gen:bogus:3")


@pytest.mark.parametrize("device", ["tpu", "gpu99", ""])
def test_no_such_device(refuse, device):
    refuse(4, "spmv", "gen:poisson2d:5", "--device", device)
    refuse(4, "bench", "gen:poisson2d:5", "--device", device)


def test_a_vector_of_the_wrong_length(refuse, small_mtx, tmp_path):
    (tmp_path / "x.txt").write_text("1\n2\n3\n4\n")
    sentence = refuse(1, "spmv", small_mtx.name, "--x", "x.txt", "-o", "y.mtx")
    assert "4" in sentence and "3" in sentence
    assert not (tmp_path / "y.mtx").exists()
    (tmp_path / "x.txt").write_text("1\ntwo\n3\n")
    refuse(1, "spmv", small_mtx.name, "--x", "x.txt")
    refuse(1, "spmv", small_mtx.name, "--x", "missing.txt")


@pytest.mark.parametrize("arguments", [
    ["gen", "gen:poisson2d:50", "-o"], ["convert", "gen:poisson2d:50", "-o"], ["spmv", "gen:poisson2d:50", "-o"],
])
def test_a_full_disk(refuse, tmp_path, arguments):
    (tmp_path / "full.mtx").symlink_to("/dev/full")
    assert "full.mtx" in refuse(1, *arguments, "full.mtx")


def test_a_disk_that_fills_while_writing_leaves_no_file(refuse, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    for name in ("a.mtx", "a.mtx.gz", "a.weft"):
        refuse(1, "gen", "gen:uniform:5000:9", "-o", name, preexec_fn=limit)
    refuse(1, "info", "gen:rmat:10", "--svg", "a.svg", preexec_fn=limit)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_noticed_before_the_work(refuse):
    refuse(1, "gen", "gen:poisson3d:400", "-o", "nowhere/a.mtx", timeout=5)
    refuse(1, "bench", "gen:poisson3d:400", "--json", "nowhere/a.json", timeout=5)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["info", "gen:poisson2d:5"], ["doctor"],
                                       ["bench", "gen:poisson2d:5", "--seconds", "0.01"], ["gen", "--list"]])
def test_a_full_standard_output(refuse, arguments):
    with open("/dev/full", "w") as full:
        assert "standard output" in refuse(1, *arguments, stdout=full)


def test_a_closed_standard_output(weft, tmp_path):
    done = weft("info", "gen:poisson2d:5", stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1 and "standard output" in done.stderr
    # A file opened later must not take the place of the closed stream.
    done = weft("gen", "gen:poisson2d:5", "-o", "a.mtx", stdout=None, preexec_fn=lambda: os.close(1))
    assert done.returncode == 0 and (tmp_path / "a.mtx").read_text().startswith("%%MatrixMarket")


@pytest.mark.parametrize("where", ["closed", "full"])
def test_standard_error_that_cannot_be_written(weft, tmp_path, where):
    """What cannot be said is left unsaid; the work and the exit code are as ever."""
    def run(*arguments):
        if where == "closed":
            return weft(*arguments, stderr=None, preexec_fn=lambda: os.close(2)).returncode
        with open("/dev/full", "w") as full:
            return weft(*arguments, stderr=full).returncode

    assert run("gen", "gen:poisson2d:5", "-o", "a.mtx") == 0 and (tmp_path / "a.mtx").exists()
    assert run("info", "missing.mtx") == 1
    assert run("info", "--bogus") == 2


def test_too_little_memory(weft, refuse):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    if weft("--version", preexec_fn=limit).returncode != 0:
        pytest.skip("a sanitizer build reserves more address space than any limit worth testing")
    sentence = refuse(1, "info", "gen:dense:20000", "--threads", 1, preexec_fn=limit)
    assert "cannot allocate" in sentence or "not enough memory" in sentence


def test_a_reader_that_went_away_ends_the_tool_quietly(weft):
    read, write = os.pipe()
    os.close(read)
    done = weft("info", "gen:poisson2d:5", stdout=write)
    os.close(write)
    assert done.returncode == -signal.SIGPIPE and done.stderr == ""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_output_to_standard_output_goes_behind_what_stands_there(succeed, small_mtx, tmp_path, name):
    with open(tmp_path / "log.txt", "a") as log:
        log.write("hello\n")
        log.flush()
        succeed("spmv", small_mtx.name, "-o", name, "-q", stdout=log)
        log.write("bye\n")
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert lines[0] == "hello" and lines[1].startswith("%%MatrixMarket matrix array") and lines[-1] == "bye"
