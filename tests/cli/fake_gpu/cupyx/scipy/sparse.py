import cupy
from scipy import sparse
from scipy.sparse import linalg as host


class csr_matrix:
    def __init__(self, arrays, shape):
        assert all(isinstance(array, cupy.Array) for array in arrays)
        self.matrix = sparse.csr_matrix(tuple(array.values for array in arrays), shape=shape)
        self.shape, self.dtype = shape, self.matrix.dtype

    def __matmul__(self, x):
        assert isinstance(x, cupy.Array)
        return cupy.Array(self.matrix @ x.values)

    def diagonal(self):
        return cupy.Array(self.matrix.diagonal())


class linalg:
    class LinearOperator:
        def __init__(self, shape, matvec, dtype):
            self.shape, self.matvec, self.dtype = shape, matvec, dtype

    @staticmethod
    def cg(A, b, x0=None, tol=1e-5, maxiter=None, M=None, callback=None, atol=None):
        """With CuPy's names: it has `tol` where SciPy has `rtol`."""
        on_host = host.LinearOperator(M.shape, matvec=lambda r: M.matvec(cupy.Array(r)).values, dtype=M.dtype) if M else None
        x, info = host.cg(A.matrix, b.values, rtol=tol, maxiter=maxiter, M=on_host, callback=callback, atol=atol)
        return cupy.Array(x), info
