"""bench/peers/driver.py with CuPy and PyTorch. Their place is taken by modules on NumPy, as there is no GPU here."""

import json
import mmap
import os
import pathlib
import socket
import subprocess
import sys

import numpy
import pytest
from scipy import sparse

ROOT = pathlib.Path(__file__).parents[2]


class Driver:
    """The asking side: the question goes to file 0, arrays lie in file 3."""

    def __init__(self, modules):
        self.file = os.memfd_create("weft-test")
        self.channel, theirs = socket.socketpair()
        text = (ROOT / "bench/peers/driver.py").read_text()
        self.process = subprocess.Popen([sys.executable, "-c", text], stdin=theirs, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(modules)},
                                        close_fds=False, preexec_fn=lambda: os.dup2(self.file, 3))
        theirs.close()
        self.channel.settimeout(60)
        self.answers = self.channel.makefile("r")

    def ask(self, **question):
        self.channel.sendall((json.dumps(question) + "\n").encode())
        return json.loads(self.answers.readline())

    def share(self, **arrays):
        places, size = {}, 0
        for name, array in arrays.items():
            places[name] = [array.dtype.str[1:], size, array.size]
            size += (array.nbytes + 63) // 64 * 64
        os.ftruncate(self.file, size)
        self.memory = mmap.mmap(self.file, size)
        for name, array in arrays.items():
            begin = places[name][1]
            self.memory[begin:begin + array.nbytes] = array.tobytes()
        return {"places": places, "size": size}

    def read(self, places, name):
        kind, begin, count = places[name]
        return numpy.frombuffer(self.memory, dtype=kind, count=count, offset=begin).copy()


@pytest.fixture
def driver():
    started = Driver(ROOT / "tests/cli/fake_gpu")
    yield started
    started.answers.close()
    started.channel.close()
    assert started.process.wait(timeout=20) == 0, "it ends when nobody asks any more"
    os.close(started.file)


def matrix_of(kind):
    return sparse.random_array((50, 40), density=0.2, format="csr", dtype=kind, rng=numpy.random.default_rng(3))


def prepare(driver, library, matrix, device=0, task=None):
    numbers = numpy.random.default_rng(4)
    shared = driver.share(offsets=matrix.indptr.astype("i4"), columns=matrix.indices.astype("i4"), values=matrix.data,
                          x=numbers.random(matrix.shape[1]).astype(matrix.dtype),
                          y=numpy.full(matrix.shape[0], numpy.nan, matrix.dtype))
    answer = driver.ask(do="prepare", library=library, rows=matrix.shape[0], cols=matrix.shape[1], device=device,
                        task=task, **shared)
    return shared["places"], answer


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("library, version", [("scipy", None), ("cupy", "14.0.0"), ("torch", "2.11.0+cu130")])
def test_products_are_right_and_timed(driver, library, version, kind):
    matrix = matrix_of(kind)
    places, answer = prepare(driver, library, matrix)
    assert answer["bytes"] == matrix.data.nbytes + 4 * matrix.nnz + 4 * (matrix.shape[0] + 1)
    assert version is None or answer["version"] == version
    assert 0 <= answer["upload_seconds"] <= answer["setup_seconds"] and answer["details"]
    assert driver.ask(do="run") == {}
    x, y = driver.read(places, "x"), driver.read(places, "y")
    numpy.testing.assert_allclose(y, matrix @ x, rtol=1e-5)
    # Another x is taken at the next run.
    _, begin, count = places["x"]
    driver.memory[begin:begin + x.nbytes] = (2 * x).tobytes()
    assert driver.ask(do="run") == {}
    numpy.testing.assert_allclose(driver.read(places, "y"), 2 * (matrix @ x), rtol=1e-5)
    one, many = driver.ask(do="time", products=1)["seconds"], driver.ask(do="time", products=2000)["seconds"]
    assert 0 < one and 0 < many and many > 10 * one / 2000


@pytest.mark.parametrize("library", ["scipy", "cupy"])
@pytest.mark.parametrize("preconditioner", ["jacobi", "none"])
def test_solvers_come_to_the_tolerance_and_count(driver, library, preconditioner):
    size = 60
    scale = numpy.linspace(1, 50, size)  # what jacobi takes away
    matrix = sparse.csr_array(sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(size, size)))
    matrix = sparse.csr_array(sparse.diags_array(scale) @ matrix @ sparse.diags_array(scale))
    task = {"method": "cg", "preconditioner": preconditioner, "rtol": 1e-9, "max_iterations": 500, "restart": 30}
    places, answer = prepare(driver, library, matrix, task=task)
    assert "error" not in answer
    answers = [driver.ask(do="solve") for _ in range(2)]
    b, x = driver.read(places, "x"), driver.read(places, "y")
    assert numpy.linalg.norm(b - matrix @ x) <= 2e-9 * numpy.linalg.norm(b)
    assert all(one["converged"] is True and one["seconds"] > 0 for one in answers)
    assert answers[0]["iterations"] == answers[1]["iterations"]
    assert (5 < answers[0]["iterations"] < 40) if preconditioner == "jacobi" else answers[0]["iterations"] > 50


def test_a_solver_that_does_not_converge_says_so(driver):
    matrix = sparse.csr_array(sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(200, 200)))
    for method, limit in (("cg", 7), ("bicgstab", 7), ("gmres", 10)):
        task = {"method": method, "preconditioner": "none", "rtol": 1e-9, "max_iterations": 7, "restart": 5}
        prepare(driver, "scipy", matrix, task=task)
        answer = driver.ask(do="solve")
        assert answer["converged"] is False and 7 <= answer["iterations"] <= limit, method


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_a_device_that_is_not_there_is_a_refusal_in_one_line(driver, library):
    _, answer = prepare(driver, library, matrix_of("f8"), device=3)
    assert "invalid device ordinal" in answer["error"] and "\n" not in answer["error"]


def test_versions_are_told_without_importing_anything(driver):
    versions = driver.ask(do="versions")["versions"]
    assert set(versions) == {"scipy", "cupy", "torch"}
    assert versions["scipy"][0].isdigit() and versions["cupy"] == "" and versions["torch"] == ""


@pytest.mark.parametrize("question", [{"do": "dance"}, {"do": "run"}, {"do": "time"}, {}, {"do": "prepare", "size": -1}])
def test_a_question_it_does_not_understand_is_answered_with_an_error(driver, question):
    assert driver.ask(**question)["error"]
    assert "versions" in driver.ask(do="versions"), "it goes on"
