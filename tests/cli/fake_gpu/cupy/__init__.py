"""As much of CuPy as bench/peers/driver.py uses, on NumPy: a CI machine has no GPU."""

import time

import numpy

__version__ = "14.0.0"


class Array:
    """NumPy's arrays are not taken where CuPy's belong, and the other way round."""

    def __init__(self, values):
        self.values = values
        self.nbytes = values.nbytes
        self.dtype = values.dtype

    def __rtruediv__(self, number):
        return Array(number / self.values)

    def __mul__(self, other):
        assert isinstance(other, Array)
        return Array(self.values * other.values)


def asarray(values):
    assert isinstance(values, numpy.ndarray), "what lies on the host comes from NumPy"
    return Array(values.copy())


def asnumpy(array):
    assert isinstance(array, Array), "what lies on the device comes from CuPy"
    return array.values.copy()


def zeros(count):
    return Array(numpy.zeros(count))


class cuda:
    class Device:
        def __init__(self, index=None):
            self.index = index

        def use(self):
            if self.index != 0:
                raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")

        def synchronize(self):
            pass

    class Event:
        at = None

        def record(self):
            self.at = time.perf_counter()

        def synchronize(self):
            assert self.at is not None

    @staticmethod
    def get_elapsed_time(begin, end):
        return 1e3 * (end.at - begin.at)
