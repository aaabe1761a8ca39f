// A PETSc program that knows nothing of Weft: it compares the products of a matrix of the type -mat_type with those of
// AIJ, whatever happens to the matrix in between. -case NAME picks what happens; -repeat how often.
#include <array>
#include <cstring>

#include "problem.hpp"

namespace {

struct Setting {
  PetscInt n = 12;
  PetscInt repeat = 3;
  Mat matrix = nullptr;  // assembled
};

PetscErrorCode products(Setting& setting) { return compare(setting.matrix); }

PetscErrorCode values_change(Setting& setting) {
  Vec left = nullptr, right = nullptr;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(setting.matrix, &right, &left));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    PetscCall(compare(setting.matrix));
    PetscCall(fill(setting.matrix, setting.n, 1 + 0.01 * static_cast<PetscReal>(i)));
    PetscCall(compare(setting.matrix));
    PetscCall(MatScale(setting.matrix, 1.5));
    PetscCall(compare(setting.matrix));
    PetscCall(MatShift(setting.matrix, 0.25));
    PetscCall(compare(setting.matrix));
    PetscCall(numbers(left, i));
    PetscCall(numbers(right, i + 1));
    PetscCall(MatDiagonalScale(setting.matrix, left, right));
    PetscCall(compare(setting.matrix));
    PetscCall(MatZeroEntries(setting.matrix));
    PetscCall(compare(setting.matrix));
    PetscCall(fill(setting.matrix, setting.n, 1));
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `repeat` new sets of values, with one product for each but every hundredth, which gets ten.
PetscErrorCode values_change_often(Setting& setting) {
  Mat plain = nullptr;
  Vec x = nullptr, ours = nullptr, theirs = nullptr;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(setting.matrix, &x, &ours));
  PetscCall(VecDuplicate(ours, &theirs));
  PetscCall(numbers(x, 1));
  PetscCall(MatConvert(setting.matrix, MATAIJ, MAT_INITIAL_MATRIX, &plain));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    const PetscScalar scale = i % 2 == 0 ? 1.25 : 0.8;
    PetscCall(MatScale(setting.matrix, scale));
    PetscCall(MatScale(plain, scale));
    for (PetscInt product = 0; product < (i % 100 == 0 ? 10 : 1); ++product)
      PetscCall(MatMult(setting.matrix, x, ours));
    PetscCall(MatMult(plain, x, theirs));
    PetscCall(require_close(ours, theirs, "MatMult"));
  }
  PetscCall(MatDestroy(&plain));
  for (Vec* vector : {&x, &ours, &theirs}) PetscCall(VecDestroy(vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Values through the array itself, and entries of one row.
PetscErrorCode values_by_hand(Setting& setting) {
  Mat diagonal = nullptr;
  PetscScalar* values = nullptr;
  PetscInt begin = 0;
  PetscMPIInt size = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  diagonal = setting.matrix;
  if (size > 1) PetscCall(MatMPIAIJGetSeqAIJ(setting.matrix, &diagonal, nullptr, nullptr));
  PetscCall(compare(setting.matrix));
  PetscCall(MatSeqAIJGetArray(diagonal, &values));
  values[0] += 100;
  PetscCall(MatSeqAIJRestoreArray(diagonal, &values));
  PetscCall(compare(setting.matrix));
  PetscCall(MatGetOwnershipRange(setting.matrix, &begin, nullptr));
  PetscCall(MatSetValue(setting.matrix, begin, begin, 3, ADD_VALUES));
  PetscCall(MatAssemblyBegin(setting.matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(setting.matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(compare(setting.matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode pattern_changes(Setting& setting) {
  PetscInt begin = 0, end = 0;
  const PetscInt size = setting.n * setting.n * setting.n;
  PetscFunctionBegin;
  PetscCall(MatSetOption(setting.matrix, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(setting.matrix, &begin, &end));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    PetscCall(compare(setting.matrix));
    // A new column for every fifth row, on some other rank sooner or later.
    for (PetscInt row = begin; row < end; row += 5)
      PetscCall(MatSetValue(setting.matrix, row, (row * 17 + 29 * (i + 1)) % size, 0.5, ADD_VALUES));
    PetscCall(MatAssemblyBegin(setting.matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(setting.matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(compare(setting.matrix));
  }
  PetscCall(require_weft(setting.matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode zero_rows(Setting& setting) {
  PetscInt begin = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(compare(setting.matrix));
  PetscCall(MatGetOwnershipRange(setting.matrix, &begin, &end));
  const std::array<PetscInt, 2> rows{begin, (begin + end) / 2};
  PetscCall(MatSetOption(setting.matrix, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(MatZeroRows(setting.matrix, 2, rows.data(), 2, nullptr, nullptr));
  PetscCall(compare(setting.matrix));
  PetscCall(MatSetOption(setting.matrix, MAT_KEEP_NONZERO_PATTERN, PETSC_FALSE));
  const PetscInt last = end - 1;
  PetscCall(MatZeroRows(setting.matrix, 1, &last, 2, nullptr, nullptr));
  PetscCall(compare(setting.matrix));
  PetscCall(MatZeroRowsColumns(setting.matrix, 1, &last, 3, nullptr, nullptr));
  PetscCall(compare(setting.matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows come in pieces with flushes between them, some from other ranks.
PetscErrorCode assembly_in_pieces(Setting& setting) {
  Mat pieces = nullptr;
  PetscInt begin = 0, end = 0;
  const PetscInt size = setting.n * setting.n * setting.n;
  PetscFunctionBegin;
  PetscCall(create(PETSC_DECIDE, setting.n, &pieces));
  PetscCall(MatSetOption(pieces, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(pieces, &begin, &end));
  for (PetscInt piece = 0; piece < 3; ++piece) {
    for (PetscInt row = begin + piece; row < end; row += 3) {
      PetscCall(MatSetValue(pieces, row, row, 4, ADD_VALUES));
      PetscCall(MatSetValue(pieces, (row + size / 2) % size, row, -1, ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(pieces, MAT_FLUSH_ASSEMBLY));
    PetscCall(MatAssemblyEnd(pieces, MAT_FLUSH_ASSEMBLY));
  }
  PetscCall(MatAssemblyBegin(pieces, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(pieces, MAT_FINAL_ASSEMBLY));
  PetscCall(compare(pieces));
  PetscCall(MatDestroy(&pieces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatSetValuesCOO fills the blocks of a distributed matrix without MatAssemblyEnd of it.
PetscErrorCode coordinates(Setting& setting) {
  Mat matrix = nullptr;
  PetscInt begin = 0, end = 0;
  const PetscInt size = setting.n * setting.n * setting.n;
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
  PetscCall(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, size, size));
  PetscCall(MatSetFromOptions(matrix));
  PetscCall(MatSetUp(matrix));
  PetscCall(MatGetOwnershipRange(matrix, &begin, &end));
  PetscInt *rows = nullptr, *columns = nullptr;
  PetscScalar* values = nullptr;
  const PetscInt count = 2 * (end - begin);
  PetscCall(PetscMalloc3(count, &rows, count, &columns, count, &values));
  for (PetscInt row = begin; row < end; ++row) {
    const PetscInt at = 2 * (row - begin);
    rows[at] = rows[at + 1] = row;
    columns[at] = row;
    columns[at + 1] = (row + size / 3) % size;
  }
  PetscCall(MatSetPreallocationCOO(matrix, count, rows, columns));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    for (PetscInt k = 0; k < count; ++k) values[k] = static_cast<PetscReal>(k % 11 + i) - 3.5;
    PetscCall(MatSetValuesCOO(matrix, values, INSERT_VALUES));
    PetscCall(compare(matrix));
  }
  PetscCall(require_weft(matrix));
  PetscCall(PetscFree3(rows, columns, values));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode conversions(Setting& setting) {
  Mat copy = nullptr, back = nullptr;
  PetscFunctionBegin;
  PetscCall(compare(setting.matrix));
  PetscCall(MatConvert(setting.matrix, MATAIJ, MAT_INITIAL_MATRIX, &copy));
  PetscCall(require_type(copy, MATSEQAIJ, MATMPIAIJ));
  PetscCall(MatConvert(copy, "aijweft", MAT_INITIAL_MATRIX, &back));
  PetscCall(require_weft(back));
  PetscCall(compare(back));
  PetscCall(MatScale(back, 2));
  PetscCall(MatConvert(back, MATAIJ, MAT_REUSE_MATRIX, &copy));
  PetscBool equal = PETSC_FALSE;
  PetscCall(MatEqual(back, copy, &equal));
  PetscCheck(equal, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a reused conversion has other values");
  PetscCall(MatConvert(back, MATAIJ, MAT_INPLACE_MATRIX, &back));
  PetscCall(require_type(back, MATSEQAIJ, MATMPIAIJ));
  PetscCall(compare(back));
  PetscCall(require_methods(back, MATAIJ));
  PetscCall(MatConvert(back, "aijweft", MAT_INPLACE_MATRIX, &back));
  PetscCall(require_weft(back));
  PetscCall(compare(back));
  for (MatType other : {MATDENSE, MATSBAIJ, MATBAIJ}) {
    Mat converted = nullptr;
    if (std::strcmp(other, MATSBAIJ) == 0) continue;  // not symmetric
    PetscCall(MatConvert(setting.matrix, other, MAT_INITIAL_MATRIX, &converted));
    PetscCall(MatMultEqual(setting.matrix, converted, 3, &equal));
    PetscCheck(equal, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "the conversion to %s differs", other);
    PetscCall(MatDestroy(&converted));
  }
  PetscCall(MatDestroy(&copy));
  PetscCall(MatDestroy(&back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// What AIJ makes of a matrix is of its type: copies, transposes, submatrices, products.
PetscErrorCode offspring(Setting& setting) {
  Mat other = nullptr, *several = nullptr;
  IS rows = nullptr;
  PetscInt begin = 0, end = 0;
  PetscFunctionBegin;
  PetscCall(MatDuplicate(setting.matrix, MAT_COPY_VALUES, &other));
  PetscCall(require_weft(other));
  PetscCall(compare(other));
  PetscCall(MatAXPY(other, 0.5, setting.matrix, SAME_NONZERO_PATTERN));
  PetscCall(compare(other));
  PetscCall(MatDestroy(&other));
  PetscCall(MatTranspose(setting.matrix, MAT_INITIAL_MATRIX, &other));
  PetscCall(require_weft(other));
  PetscCall(compare(other));
  PetscCall(MatAXPY(other, 0.5, setting.matrix, DIFFERENT_NONZERO_PATTERN));
  PetscCall(compare(other));
  PetscCall(require_weft(other));
  PetscCall(MatDestroy(&other));
  PetscCall(MatGetOwnershipRange(setting.matrix, &begin, &end));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 2, begin, 2, &rows));
  PetscCall(MatCreateSubMatrix(setting.matrix, rows, rows, MAT_INITIAL_MATRIX, &other));
  PetscCall(require_weft(other));
  PetscCall(compare(other));
  PetscCall(MatCreateSubMatrix(setting.matrix, rows, rows, MAT_REUSE_MATRIX, &other));
  PetscCall(compare(other));
  PetscCall(MatDestroy(&other));
  PetscCall(MatCreateSubMatrices(setting.matrix, 1, &rows, &rows, MAT_INITIAL_MATRIX, &several));
  PetscCall(require_weft(several[0]));
  PetscCall(MatDestroySubMatrices(1, &several));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatMatMult(setting.matrix, setting.matrix, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &other));
  PetscCall(compare(other));
  PetscCall(MatScale(setting.matrix, 2));
  PetscCall(MatMatMult(setting.matrix, setting.matrix, MAT_REUSE_MATRIX, PETSC_DEFAULT, &other));
  PetscCall(compare(other));
  PetscCall(MatDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A dense matrix times ours, from both sides, and with new values.
PetscErrorCode dense(Setting& setting) {
  Mat plain = nullptr, factor = nullptr;
  std::array<Mat, 2> results{};
  PetscInt local = 0;
  PetscReal difference = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(setting.matrix, &local, nullptr));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, local, PETSC_DECIDE, PETSC_DECIDE, 7, nullptr, &factor));
  PetscCall(MatSetRandom(factor, nullptr));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    PetscCall(MatConvert(setting.matrix, MATAIJ, MAT_INITIAL_MATRIX, &plain));
    const MatReuse reuse = i == 0 ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX;
    PetscCall(MatMatMult(setting.matrix, factor, reuse, PETSC_DEFAULT, &results[0]));
    PetscCall(MatMatMult(plain, factor, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &results[1]));
    PetscCall(MatAXPY(results[1], -1, results[0], SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(results[1], NORM_FROBENIUS, &difference));
    PetscCheck(difference < 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A B is wrong by %g",
               static_cast<double>(difference));
    PetscCall(MatDestroy(&results[1]));
    PetscCall(MatDestroy(&plain));
    PetscCall(MatScale(setting.matrix, -1.5));
  }
  PetscCall(MatDestroy(&results[0]));
  PetscBool equal = PETSC_FALSE;
  PetscCall(MatTransposeMatMult(setting.matrix, factor, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &results[0]));
  PetscCall(MatTransposeMatMultEqual(setting.matrix, factor, results[0], 3, &equal));
  PetscCheck(equal, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A^T B is wrong");
  PetscCall(MatDestroy(&results[0]));
  PetscCall(MatDestroy(&factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same product again has the same bits; -repeat times.
PetscErrorCode same_bits(Setting& setting) {
  Vec x = nullptr, first = nullptr, again = nullptr;
  PetscBool equal = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(setting.matrix, &x, &first));
  PetscCall(VecDuplicate(first, &again));
  PetscCall(numbers(x, 3));
  PetscCall(MatMult(setting.matrix, x, first));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    PetscCall(MatMult(setting.matrix, x, again));
    PetscCall(VecEqual(first, again, &equal));
    PetscCheck(equal, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "product %" PetscInt_FMT " has other bits", i);
  }
  PetscReal norm = 0;
  PetscCall(VecNorm(first, NORM_2, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm %a\n", static_cast<double>(norm)));
  for (Vec* vector : {&x, &first, &again}) PetscCall(VecDestroy(vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints what a solver that the options choose needs.
PetscErrorCode solve(Setting& setting) {
  KSP solver = nullptr;
  Vec x = nullptr, b = nullptr;
  PetscInt iterations = 0;
  PetscReal residual = 0;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(setting.matrix, &x, &b));
  PetscCall(numbers(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, setting.matrix, setting.matrix));
  PetscCall(KSPSetFromOptions(solver));
  for (PetscInt i = 0; i < setting.repeat; ++i) {
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(KSPGetResidualNorm(solver, &residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", iterations));
    PetscCall(MatShift(setting.matrix, 0.5));
  }
  PetscCheck(residual < 1e-3, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "the residual is %g",
             static_cast<double>(residual));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A user's arrays whose rows are not sorted: PETSc without debugging takes them.
PetscErrorCode unsorted_rows(Setting&) {
  PetscFunctionBegin;
  if (PetscDefined(USE_DEBUG)) PetscFunctionReturn(PETSC_SUCCESS);
  Mat matrix = nullptr, sorted = nullptr;
  std::array<PetscInt, 3> offsets{0, 2, 4};
  std::array<PetscInt, 4> columns{1, 0, 0, 1};
  std::array<PetscScalar, 4> values{1, 2, 3, 4};
  PetscBool equal = PETSC_FALSE;
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, offsets.data(), columns.data(), values.data(), &matrix));
  std::array<PetscInt, 4> ordered{0, 1, 0, 1};
  std::array<PetscScalar, 4> theirs{2, 1, 3, 4};
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, offsets.data(), ordered.data(), theirs.data(), &sorted));
  PetscCall(MatConvert(matrix, "seqaijweft", MAT_INPLACE_MATRIX, &matrix));
  PetscCall(MatMultEqual(matrix, sorted, 3, &equal));
  PetscCheck(equal, PETSC_COMM_SELF, PETSC_ERR_PLIB, "products differ");
  PetscCall(MatDestroy(&matrix));
  PetscCall(MatDestroy(&sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sizes that leave ranks without rows, and a matrix without any entry.
PetscErrorCode empty(Setting&) {
  Mat matrix = nullptr;
  PetscMPIInt rank = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (const PetscInt size : {PetscInt(0), PetscInt(5)}) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
    PetscCall(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, size, size + 3));
    PetscCall(MatSetFromOptions(matrix));
    PetscCall(MatSetUp(matrix));
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(compare(matrix));
    PetscCall(MatDestroy(&matrix));
  }
  const PetscInt n = 8;
  PetscCall(create(rank == 0 ? n * n * n : 0, n, &matrix));
  PetscCall(fill(matrix, n, 1));
  PetscCall(compare(matrix));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Only the last rank cannot plan its part.
PetscErrorCode one_rank_fails(Setting& setting) {
  PetscMPIInt rank = 0, size = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (rank == size - 1) PetscCall(PetscOptionsSetValue(nullptr, "-mat_weft_format", "origami"));
  PetscCall(compare(setting.matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Case {
  const char* name;
  PetscErrorCode (*run)(Setting&);
};
constexpr Case cases[] = {{"products", products},
                          {"values-change", values_change},
                          {"values-change-often", values_change_often},
                          {"values-by-hand", values_by_hand},
                          {"pattern-changes", pattern_changes},
                          {"zero-rows", zero_rows},
                          {"assembly-in-pieces", assembly_in_pieces},
                          {"coordinates", coordinates},
                          {"conversions", conversions},
                          {"offspring", offspring},
                          {"dense", dense},
                          {"same-bits", same_bits},
                          {"solve", solve},
                          {"unsorted-rows", unsorted_rows},
                          {"empty", empty},
                          {"one-rank-fails", one_rank_fails}};

PetscErrorCode run(const char* name) {
  Setting setting;
  bool found = false;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &setting.n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &setting.repeat, nullptr));
  PetscCall(create(PETSC_DECIDE, setting.n, &setting.matrix));
  PetscCall(fill(setting.matrix, setting.n, 1));
  for (const Case& one : cases) {
    if (std::strcmp(one.name, name) != 0) continue;
    found = true;
    PetscCall(one.run(setting));
  }
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "there is no case %s", name);
  PetscCall(MatDestroy(&setting.matrix));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  std::array<char, 64> name{"products"};
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-case", name.data(), name.size(), nullptr));
  PetscCall(run(name.data()));
  PetscCall(PetscFinalize());
  return 0;
}
