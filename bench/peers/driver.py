"""Sparse products and solvers of Python's libraries, for `weft bench`: Weft starts this program and asks, it answers.

Questions and answers are lines of JSON on the socket that is file 0; an answer that holds "error" is a refusal. The
matrix, x and y lie in shared memory, file 3. Products are timed here, so that the way there and back does not count.
"""

import gc
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import mmap
import os
import signal
import socket
import sys
import time


class Solver:
    """A Krylov method of scipy.sparse.linalg, or of its image in CuPy, as a user would call it."""

    def __init__(self, linalg, matrix, task):
        self.method = getattr(linalg, task["method"])
        self.matrix = matrix
        names = inspect.signature(self.method).parameters
        self.options = {"rtol" if "rtol" in names else "tol": task["rtol"], "atol": 0.0}
        self.options["maxiter"] = task["max_iterations"]
        if task["method"] == "gmres":
            # It counts restarts there, and calls back after each iteration if asked.
            self.options["restart"] = task["restart"]
            self.options["maxiter"] = -(-task["max_iterations"] // task["restart"])
            self.options["callback_type"] = "pr_norm"
        if task["preconditioner"] == "jacobi":
            inverse = 1 / matrix.diagonal()
            self.options["M"] = linalg.LinearOperator(
                matrix.shape, matvec=lambda vector: inverse * vector, dtype=matrix.dtype
            )

    def solve(self, b):
        iterations = 0

        def count(_):
            nonlocal iterations
            iterations += 1

        x, info = self.method(self.matrix, b, callback=count, **self.options)
        return x, iterations, info == 0


class Scipy:
    """csr_array on the shared memory; its product has one thread and makes a new y each time, as for any user."""

    details = "csr_array, 1 thread"

    def __init__(self, device):
        from scipy import __version__, sparse

        self.sparse = sparse
        self.version = __version__
        self.upload_seconds = 0.0

    def prepare(self, shared, shape):
        arrays = (shared["values"], shared["columns"], shared["offsets"])
        self.matrix = self.sparse.csr_array(arrays, shape=shape, copy=False)
        self.x = shared["x"]
        self.bytes = self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes

    def take(self, x):
        self.x = x

    def multiply(self):
        return self.matrix @ self.x

    def give(self, result):
        return result

    def seconds(self, products):
        begin = time.perf_counter()
        for _ in range(products):
            self.multiply()
        return time.perf_counter() - begin

    def load_solvers(self):
        from scipy.sparse import linalg

        self.linalg = linalg

    def prepare_solver(self, task):
        self.solver = Solver(self.linalg, self.matrix, task)

    def solve(self):
        begin = time.perf_counter()
        x, iterations, converged = self.solver.solve(self.x)
        return x, iterations, converged, time.perf_counter() - begin


class Cupy:
    details = "cupyx.scipy.sparse.csr_matrix"

    def __init__(self, device):
        import cupy
        from cupyx.scipy import sparse

        self.cupy = cupy
        self.sparse = sparse
        self.version = cupy.__version__
        cupy.cuda.Device(device).use()
        cupy.zeros(1)  # the device starts here, not while it is timed
        cupy.cuda.Device().synchronize()

    def prepare(self, shared, shape):
        begin = time.perf_counter()
        arrays = tuple(self.cupy.asarray(shared[name]) for name in ("values", "columns", "offsets"))
        self.cupy.cuda.Device().synchronize()
        self.upload_seconds = time.perf_counter() - begin
        self.matrix = self.sparse.csr_matrix(arrays, shape=shape)
        self.bytes = sum(array.nbytes for array in arrays)
        self.cupy.cuda.Device().synchronize()

    def take(self, x):
        self.x = self.cupy.asarray(x)

    def multiply(self):
        return self.matrix @ self.x

    def give(self, result):
        return self.cupy.asnumpy(result)

    def seconds(self, products):
        begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        begin.record()
        for _ in range(products):
            self.multiply()
        end.record()
        end.synchronize()
        return self.cupy.cuda.get_elapsed_time(begin, end) / 1e3

    def load_solvers(self):
        from cupyx.scipy.sparse import linalg

        self.linalg = linalg

    def prepare_solver(self, task):
        self.solver = Solver(self.linalg, self.matrix, task)
        self.cupy.cuda.Device().synchronize()

    def solve(self):
        self.cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        x, iterations, converged = self.solver.solve(self.x)
        self.cupy.cuda.Device().synchronize()
        return x, iterations, converged, time.perf_counter() - begin


class Torch:
    details = "sparse_csr_tensor"

    def __init__(self, device):
        import warnings

        import torch

        warnings.simplefilter("ignore")  # that sparse csr is in beta
        self.torch = torch
        self.version = torch.__version__
        self.device = torch.device("cuda", device)
        torch.cuda.set_device(self.device)
        torch.zeros(1, device=self.device)
        torch.cuda.synchronize()

    def prepare(self, shared, shape):
        begin = time.perf_counter()
        parts = [self.torch.from_numpy(shared[name]).to(self.device) for name in ("offsets", "columns", "values")]
        self.torch.cuda.synchronize()
        self.upload_seconds = time.perf_counter() - begin
        self.matrix = self.torch.sparse_csr_tensor(*parts, size=shape)
        self.bytes = sum(part.numel() * part.element_size() for part in parts)
        self.torch.cuda.synchronize()

    def take(self, x):
        self.x = self.torch.from_numpy(x).to(self.device)

    def multiply(self):
        return self.matrix @ self.x

    def give(self, result):
        return result.cpu().numpy()

    def seconds(self, products):
        begin = self.torch.cuda.Event(enable_timing=True)
        end = self.torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(products):
            self.multiply()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3


LIBRARIES = {"scipy": Scipy, "cupy": Cupy, "torch": Torch}
PACKAGES = {"cupy": ["cupy", "cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x"]}


def find_versions():
    """The version of each library, "" where it does not tell, null where it is absent. Imports none: that can take long."""
    found = {}
    for name in LIBRARIES:
        found[name] = None
        if importlib.util.find_spec(name) is None:
            continue
        found[name] = ""
        for package in PACKAGES.get(name, [name]):
            try:
                found[name] = importlib.metadata.version(package)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return {"versions": found}


class Driver:
    def __init__(self):
        self.library = None
        self.shared = {}

    def answer(self, question):
        return getattr(self, "do_" + question["do"])(question)

    def do_versions(self, question):
        return find_versions()

    def do_prepare(self, question):
        import numpy

        memory = mmap.mmap(3, question["size"])
        for name, (kind, begin, count) in question["places"].items():
            self.shared[name] = numpy.frombuffer(memory, dtype=numpy.dtype(kind), count=count, offset=begin)
        self.library = LIBRARIES[question["library"]](question["device"])
        task = question.get("task")
        if task:
            self.library.load_solvers()
        begin = time.perf_counter()
        self.library.prepare(self.shared, (question["rows"], question["cols"]))
        if task:
            self.library.prepare_solver(task)
        seconds = time.perf_counter() - begin
        gc.disable()  # no pauses while products are timed
        return {
            "version": str(self.library.version),
            "details": self.library.details,
            "bytes": int(self.library.bytes),
            "setup_seconds": seconds,
            "upload_seconds": self.library.upload_seconds,
        }

    def do_run(self, question):
        self.library.take(self.shared["x"])
        self.shared["y"][:] = self.library.give(self.library.multiply())
        return {}

    def do_solve(self, question):
        self.library.take(self.shared["x"])
        x, iterations, converged, seconds = self.library.solve()
        self.shared["y"][:] = self.library.give(x)
        return {"seconds": seconds, "iterations": int(iterations), "converged": bool(converged)}

    def do_time(self, question):
        return {"seconds": self.library.seconds(question["products"])}


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.path[:] = [folder for folder in sys.path if folder]  # nothing of the user's current folder is imported
    channel = socket.socket(fileno=os.dup(0))
    questions = channel.makefile("r", encoding="utf-8")
    driver = Driver()
    for line in questions:
        try:
            answer = driver.answer(json.loads(line))
        except MemoryError:
            answer = {"error": "not enough memory"}
        except Exception as error:  # whatever a library says is the answer
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            answer = {"error": first}
        channel.sendall((json.dumps(answer) + "\n").encode())


if __name__ == "__main__":
    main()
