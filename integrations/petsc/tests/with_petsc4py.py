"""A petsc4py program: the type is a name, the plug-in an option. Prints what it did; any difference ends it."""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (after init)

n = 60
A = PETSc.Mat().create()
A.setSizes([n * n, n * n])
A.setType("aijweft")
A.setPreallocationNNZ((5, 4))
begin, end = A.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, n)
    A[row, row] = 4
    for column, inside in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
        if inside:
            A[row, column] = -1
A.assemble()
assert A.getType() in ("seqaijweft", "mpiaijweft"), A.getType()

plain = A.convert("aij", PETSc.Mat())
assert plain.getType() in ("seqaij", "mpiaij"), plain.getType()
again = plain.convert("aijweft", PETSc.Mat())
x, y, expected = A.createVecRight(), A.createVecLeft(), A.createVecLeft()
x.setArray([float(k % 7) for k in range(*x.getOwnershipRange())])
for change in (lambda matrix: None, lambda matrix: matrix.scale(3), lambda matrix: matrix.shift(1)):
    for matrix in (A, again, plain):
        change(matrix)
    plain.mult(x, expected)
    for matrix in (A, again):
        matrix.mult(x, y)
        y.axpy(-1, expected)
        assert y.norm() <= 1e-12 * expected.norm(), y.norm()

solver = PETSc.KSP().create()
solver.setOperators(A)
solver.setType("cg")
solver.getPC().setType("gamg")
solver.setTolerances(rtol=1e-8)
solver.solve(x, y)
assert solver.getConvergedReason() > 0
PETSc.Sys.Print(f"{A.getType()}: right, {solver.getIterationNumber()} iterations")
