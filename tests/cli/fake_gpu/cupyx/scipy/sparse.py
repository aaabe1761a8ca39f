import cupy
from scipy import sparse


class csr_matrix:
    def __init__(self, arrays, shape):
        assert all(isinstance(array, cupy.Array) for array in arrays)
        self.matrix = sparse.csr_matrix(tuple(array.values for array in arrays), shape=shape)

    def __matmul__(self, x):
        assert isinstance(x, cupy.Array)
        return cupy.Array(self.matrix @ x.values)
