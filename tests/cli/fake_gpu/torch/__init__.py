"""As much of PyTorch as bench/peers/driver.py uses, on NumPy: a CI machine has no GPU."""

import time

import numpy
from scipy import sparse

__version__ = "2.11.0+cu130"


class device:
    def __init__(self, kind, index):
        self.kind, self.index = kind, index


class Tensor:
    def __init__(self, values, place="cpu"):
        self.values, self.place = values, place

    def to(self, place):
        return Tensor(self.values.copy(), place)

    def cpu(self):
        return Tensor(self.values.copy())

    def numpy(self):
        assert self.place == "cpu", "can't convert a tensor on the device to numpy"
        return self.values

    def numel(self):
        return self.values.size

    def element_size(self):
        return self.values.itemsize


class SparseCsrTensor:
    def __init__(self, matrix):
        self.matrix = matrix

    def __matmul__(self, x):
        assert isinstance(x.place, device)
        return Tensor(self.matrix @ x.values, x.place)


def from_numpy(values):
    return Tensor(values)


def zeros(count, device):
    return Tensor(numpy.zeros(count), device)


def sparse_csr_tensor(offsets, columns, values, size):
    assert all(isinstance(part.place, device) for part in (offsets, columns, values))
    return SparseCsrTensor(sparse.csr_matrix((values.values, columns.values, offsets.values), shape=size))


class cuda:
    @staticmethod
    def set_device(place):
        if place.index != 0:
            raise RuntimeError("CUDA error: invalid device ordinal\nCUDA kernel errors might be reported later")

    @staticmethod
    def synchronize():
        pass

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
            self.at = None

        def record(self):
            self.at = time.perf_counter()

        def synchronize(self):
            assert self.at is not None

        def elapsed_time(self, end):
            return 1e3 * (end.at - self.at)
