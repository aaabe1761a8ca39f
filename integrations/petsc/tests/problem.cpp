#include "problem.hpp"

#include <array>
#include <cstring>

PetscErrorCode fill(Mat matrix, PetscInt n, PetscScalar scale) {
  PetscInt begin = 0, end = 0;
  PetscBool symmetric = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-symmetric", &symmetric, nullptr));
  const PetscScalar wind = symmetric ? 0 : 0.25;
  PetscCall(MatGetOwnershipRange(matrix, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt x = row % n, y = row / n % n, z = row / n / n;
    const auto set = [&](PetscInt dx, PetscInt dy, PetscInt dz, PetscScalar value) {
      const PetscInt i = x + dx, j = y + dy, k = z + dz;
      if (PetscMin(i, PetscMin(j, k)) < 0 || PetscMax(i, PetscMax(j, k)) >= n) return PetscErrorCode(PETSC_SUCCESS);
      return MatSetValue(matrix, row, i + n * (j + n * k), value * scale, INSERT_VALUES);
    };
    PetscCall(set(0, 0, 0, 6.5));
    PetscCall(set(-1, 0, 0, -1 - wind));
    PetscCall(set(1, 0, 0, -1 + wind));
    PetscCall(set(0, -1, 0, -1));
    PetscCall(set(0, 1, 0, -1));
    PetscCall(set(0, 0, -1, -1 - 2 * wind));
    PetscCall(set(0, 0, 1, -1 + 2 * wind));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PetscInt local_rows, PetscInt n, Mat* matrix) {
  std::array<char, 64> prefix{};
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-prefix", prefix.data(), prefix.size(), nullptr));
  PetscCall(MatSetOptionsPrefix(*matrix, prefix.data()));
  PetscCall(MatSetSizes(*matrix, local_rows, local_rows, n * n * n, n * n * n));
  PetscCall(MatSetFromOptions(*matrix));
  PetscCall(MatSeqAIJSetPreallocation(*matrix, 7, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*matrix, 7, nullptr, 7, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numbers(Vec vector, PetscInt seed) {
  PetscInt begin = 0, end = 0;
  PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(vector, &begin, &end));
  PetscCall(VecGetArrayWrite(vector, &values));
  for (PetscInt i = begin; i < end; ++i) values[i - begin] = PetscSinReal(static_cast<PetscReal>(i * 7 + seed));
  PetscCall(VecRestoreArrayWrite(vector, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_close(Vec ours, Vec theirs, const char* what) {
  PetscReal difference = 0, size = 0;
  PetscFunctionBegin;
  PetscCall(VecNorm(theirs, NORM_INFINITY, &size));
  PetscCall(VecAXPY(ours, -1, theirs));
  PetscCall(VecNorm(ours, NORM_INFINITY, &difference));
  PetscCheck(difference <= 1e-13 * PetscMax(size, 1.0), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s is wrong by %g of %g",
             what, static_cast<double>(difference), static_cast<double>(size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compare(Mat matrix) {
  Mat plain = nullptr;
  Vec x = nullptr, y = nullptr, ours = nullptr, theirs = nullptr;
  PetscFunctionBegin;
  PetscCall(MatConvert(matrix, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  const std::array<Mat, 2> both{matrix, plain};
  for (const bool transposed : {false, true}) {
    PetscCall(transposed ? MatCreateVecs(matrix, &y, &x) : MatCreateVecs(matrix, &x, &y));
    PetscCall(VecDuplicate(y, &ours));
    PetscCall(VecDuplicate(y, &theirs));
    PetscCall(numbers(x, 1));
    PetscCall(numbers(y, 2));
    const std::array<Vec, 2> results{ours, theirs};
    for (std::size_t i = 0; i < 2; ++i)
      PetscCall(transposed ? MatMultTranspose(both[i], x, results[i]) : MatMult(both[i], x, results[i]));
    PetscCall(require_close(ours, theirs, transposed ? "MatMultTranspose" : "MatMult"));
    for (std::size_t i = 0; i < 2; ++i)
      PetscCall(transposed ? MatMultTransposeAdd(both[i], x, y, results[i]) : MatMultAdd(both[i], x, y, results[i]));
    PetscCall(require_close(ours, theirs, transposed ? "MatMultTransposeAdd" : "MatMultAdd"));
    if (transposed) {
      for (std::size_t i = 0; i < 2; ++i) PetscCall(MatMultHermitianTranspose(both[i], x, results[i]));
      PetscCall(require_close(ours, theirs, "MatMultHermitianTranspose"));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      PetscCall(VecCopy(y, results[i]));
      PetscCall(transposed ? MatMultTransposeAdd(both[i], x, results[i], results[i])
                           : MatMultAdd(both[i], x, results[i], results[i]));
    }
    PetscCall(require_close(ours, theirs, transposed ? "MatMultTransposeAdd onto itself" : "MatMultAdd onto itself"));
    for (Vec* vector : {&x, &y, &ours, &theirs}) PetscCall(VecDestroy(vector));
  }
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_type(Mat matrix, const char* seq, const char* mpi) {
  MatType type = nullptr;
  PetscMPIInt size = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &size));
  PetscCall(MatGetType(matrix, &type));
  PetscCheck(std::strcmp(type, size == 1 ? seq : mpi) == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the type is %s", type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_weft(Mat matrix) { return require_type(matrix, "seqaijweft", "mpiaijweft"); }

PetscErrorCode require_methods(Mat matrix, MatType type) {
  Mat fresh = nullptr;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &fresh));
  PetscCall(MatSetSizes(fresh, PETSC_DECIDE, PETSC_DECIDE, 1, 1));
  PetscCall(MatSetType(fresh, type));
  for (const MatOperation operation : {MATOP_MULT, MATOP_MULT_ADD, MATOP_MULT_TRANSPOSE, MATOP_DESTROY}) {
    std::array<void (*)(void), 2> methods{};
    PetscCall(MatGetOperation(matrix, operation, &methods[0]));
    PetscCall(MatGetOperation(fresh, operation, &methods[1]));
    PetscCheck(methods[0] == methods[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "method %d is another one", operation);
  }
  PetscCall(MatDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}
