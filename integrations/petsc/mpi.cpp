#include "mpi.hpp"

#include "attached.hpp"
#include "seq.hpp"
#include "subtype.hpp"

namespace weft::petsc {
namespace {

PetscErrorCode multiply(Mat matrix, Vec x, Vec y);
PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z);
PetscErrorCode multiply_transposed(Mat matrix, Vec x, Vec y);
PetscErrorCode multiply_transposed_add(Mat matrix, Vec x, Vec y, Vec z);
PetscErrorCode assembly_end(Mat matrix, MatAssemblyType type);
PetscErrorCode destroy(Mat matrix);
PetscErrorCode convert_to_mpi_weft(Mat matrix, MatType type, MatReuse reuse, Mat* result);
PetscErrorCode convert_to_mpi_aij(Mat matrix, MatType type, MatReuse reuse, Mat* result);

Subtype& mpi() {
  static Subtype subtype(MATMPIAIJ, mpi_type,
                         {{MATOP_MULT, as_method(multiply)},
                          {MATOP_MULT_ADD, as_method(multiply_add)},
                          {MATOP_MULT_TRANSPOSE, as_method(multiply_transposed)},
                          {MATOP_MULT_TRANSPOSE_ADD, as_method(multiply_transposed_add)},
                          {MATOP_ASSEMBLY_END, as_method(assembly_end)},
                          {MATOP_DESTROY, as_method(destroy)}},
                         convert_to_mpi_weft, convert_to_mpi_aij);
  return subtype;
}

/// Makes the local blocks seqaijweft. PETSc replaces them when columns come in that the off-diagonal block did not
/// have, and some ways to assemble, as MatSetValuesCOO, never call MatAssemblyEnd: so every product looks, which costs
/// a comparison of two names.
PetscErrorCode convert_blocks(Mat matrix) {
  Mat diagonal = nullptr, off_diagonal = nullptr;
  const char* prefix = nullptr;
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &diagonal, &off_diagonal, nullptr));
  PetscCall(MatGetOptionsPrefix(matrix, &prefix));
  for (Mat block : {diagonal, off_diagonal}) {
    if (!block) continue;
    PetscCall(convert_to_seq_weft(block, seq_type, MAT_INPLACE_MATRIX, &block));
    PetscCall(set_role(block, block == diagonal ? "diagonal block" : "off-diagonal block", prefix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(Mat matrix, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(convert_blocks(matrix));
  PetscCall(mpi().aijs<PetscErrorCode(Mat, Vec, Vec)>(MATOP_MULT)(matrix, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  PetscCall(convert_blocks(matrix));
  PetscCall(mpi().aijs<PetscErrorCode(Mat, Vec, Vec, Vec)>(MATOP_MULT_ADD)(matrix, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_transposed(Mat matrix, Vec x, Vec y) {
  PetscFunctionBegin;
  PetscCall(convert_blocks(matrix));
  PetscCall(mpi().aijs<PetscErrorCode(Mat, Vec, Vec)>(MATOP_MULT_TRANSPOSE)(matrix, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_transposed_add(Mat matrix, Vec x, Vec y, Vec z) {
  PetscFunctionBegin;
  PetscCall(convert_blocks(matrix));
  PetscCall(mpi().aijs<PetscErrorCode(Mat, Vec, Vec, Vec)>(MATOP_MULT_TRANSPOSE_ADD)(matrix, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assembly_end(Mat matrix, MatAssemblyType type) {
  PetscFunctionBegin;
  PetscCall(mpi().aijs<PetscErrorCode(Mat, MatAssemblyType)>(MATOP_ASSEMBLY_END)(matrix, type));
  if (type == MAT_FINAL_ASSEMBLY) PetscCall(convert_blocks(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(mpi().release(matrix));
  PetscCall(mpi().aijs<PetscErrorCode(Mat)>(MATOP_DESTROY)(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_mpi_weft(Mat matrix, MatType, MatReuse reuse, Mat* result) {
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(mpi().convert(matrix, true, reuse, result));
  PetscCall(MatAssembled(*result, &assembled));
  if (assembled) PetscCall(convert_blocks(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_mpi_aij(Mat matrix, MatType, MatReuse reuse, Mat* result) {
  Mat diagonal = nullptr, off_diagonal = nullptr;
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(mpi().convert(matrix, false, reuse, result));
  PetscCall(MatAssembled(*result, &assembled));
  if (assembled) {
    PetscCall(MatMPIAIJGetSeqAIJ(*result, &diagonal, &off_diagonal, nullptr));
    for (Mat block : {diagonal, off_diagonal})
      if (block) PetscCall(release_seq(block));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode create_mpi(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatSetType(matrix, MATMPIAIJ));
  PetscCall(mpi().adopt(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
