#include "seq.hpp"

#if defined(WEFT_PETSC_CUDA)
#include <petscdevice_cuda.h>
#endif

#include "attached.hpp"
#include "events.hpp"
#include "guarded.hpp"
#include "subtype.hpp"

namespace weft::petsc {
namespace {

PetscErrorCode multiply(Mat matrix, Vec x, Vec y);
PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z);
PetscErrorCode multiply_transposed(Mat matrix, Vec x, Vec y);
PetscErrorCode multiply_transposed_add(Mat matrix, Vec x, Vec y, Vec z);
PetscErrorCode destroy(Mat matrix);
PetscErrorCode convert_to_seq_aij(Mat matrix, MatType type, MatReuse reuse, Mat* result);

Subtype& seq() {
  static Subtype subtype(MATSEQAIJ, seq_type,
                         {{MATOP_MULT, as_method(multiply)},
                          {MATOP_MULT_ADD, as_method(multiply_add)},
                          {MATOP_MULT_TRANSPOSE, as_method(multiply_transposed)},
                          {MATOP_MULT_TRANSPOSE_ADD, as_method(multiply_transposed_add)},
                          {MATOP_DESTROY, as_method(destroy)}},
                         convert_to_seq_weft, convert_to_seq_aij);
  return subtype;
}

/// z = op(A) x, or z += op(A) x, on the GPU that both vectors are on; false where they are not both on one.
PetscErrorCode multiply_on_gpu(Attached& attached, Vec x, Vec z, bool add, bool& done) {
  PetscFunctionBegin;
  done = false;
#if defined(WEFT_PETSC_CUDA)
  // Compiled where PETSc has CUDA; nobody has run it yet.
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  PetscMemType in_place = PETSC_MEMTYPE_HOST, out_place = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayReadAndMemType(x, &in, &in_place));
  PetscCall(add ? VecGetArrayAndMemType(z, &out, &out_place) : VecGetArrayWriteAndMemType(z, &out, &out_place));
  if (PetscMemTypeCUDA(in_place) && PetscMemTypeCUDA(out_place)) {
    int device = 0;
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceSynchronize());  // PETSc's stream may not be done with x
    PetscCall(guarded([&] { attached.planned->multiply_on_gpu(device, in, out, add); }));
    done = true;
  }
  PetscCall(add ? VecRestoreArrayAndMemType(z, &out) : VecRestoreArrayWriteAndMemType(z, &out));
  PetscCall(VecRestoreArrayReadAndMemType(x, &in));
#else
  (void)attached, (void)x, (void)z, (void)add;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_on_host(Attached& attached, Op op, Vec x, Vec z, bool add) {
  const PetscScalar* in = nullptr;
  PetscScalar* out = nullptr;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &in));
  PetscCall(add ? VecGetArray(z, &out) : VecGetArrayWrite(z, &out));
  PetscCall(guarded([&] {
    if (op == Op::none)
      attached.planned->multiply(in, out, add);
    else
      attached.planned->multiply_transposed(in, out, add);
  }));
  PetscCall(add ? VecRestoreArray(z, &out) : VecRestoreArrayWrite(z, &out));
  PetscCall(VecRestoreArrayRead(x, &in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// z = y + op(A) x with a plan; a null y is zero, and it may be z.
PetscErrorCode multiply_planned(Mat matrix, Attached& attached, Op op, Vec x, Vec y, Vec z) {
  bool done = false;
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event(Event::product), matrix, x, z, 0));
  if (y && y != z) PetscCall(VecCopy(y, z));
  if (op == Op::none) PetscCall(multiply_on_gpu(attached, x, z, y != nullptr, done));
  if (!done) PetscCall(multiply_on_host(attached, op, x, z, y != nullptr));
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(attached.arrays.nonzeros())));
  PetscCall(PetscLogEventEnd(event(Event::product), matrix, x, z, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(Mat matrix, Vec x, Vec y) {
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(make_ready(matrix, false, attached));
  if (attached->planned)
    PetscCall(multiply_planned(matrix, *attached, Op::none, x, nullptr, y));
  else
    PetscCall(seq().aijs<PetscErrorCode(Mat, Vec, Vec)>(MATOP_MULT)(matrix, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_add(Mat matrix, Vec x, Vec y, Vec z) {
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(make_ready(matrix, false, attached));
  if (attached->planned)
    PetscCall(multiply_planned(matrix, *attached, Op::none, x, y, z));
  else
    PetscCall(seq().aijs<PetscErrorCode(Mat, Vec, Vec, Vec)>(MATOP_MULT_ADD)(matrix, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_to_zero(Vec y) {
  PetscScalar* values = nullptr;
  PetscInt size = 0;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &size));
  PetscCall(VecGetArrayWrite(y, &values));
  PetscCall(PetscArrayzero(values, size));
  PetscCall(VecRestoreArrayWrite(y, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// AIJ's own MatMultTranspose calls VecSet, which is collective over all ranks of y: those whose block is planned would
/// not take part.
PetscErrorCode multiply_transposed(Mat matrix, Vec x, Vec y) {
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(make_ready(matrix, true, attached));
  if (attached->planned) {
    PetscCall(multiply_planned(matrix, *attached, Op::transpose, x, nullptr, y));
  } else {
    PetscCall(set_to_zero(y));
    PetscCall(seq().aijs<PetscErrorCode(Mat, Vec, Vec, Vec)>(MATOP_MULT_TRANSPOSE_ADD)(matrix, x, y, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_transposed_add(Mat matrix, Vec x, Vec y, Vec z) {
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(make_ready(matrix, true, attached));
  if (attached->planned)
    PetscCall(multiply_planned(matrix, *attached, Op::transpose, x, y, z));
  else
    PetscCall(seq().aijs<PetscErrorCode(Mat, Vec, Vec, Vec)>(MATOP_MULT_TRANSPOSE_ADD)(matrix, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(release_seq(matrix));
  PetscCall(seq().aijs<PetscErrorCode(Mat)>(MATOP_DESTROY)(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert_to_seq_aij(Mat matrix, MatType, MatReuse reuse, Mat* result) {
  PetscFunctionBegin;
  PetscCall(seq().convert(matrix, false, reuse, result));
  PetscCall(detach(*result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode convert_to_seq_weft(Mat matrix, MatType, MatReuse reuse, Mat* result) {
  PetscFunctionBegin;
  PetscCall(seq().convert(matrix, true, reuse, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode release_seq(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(detach(matrix));
  PetscCall(seq().release(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_seq(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(MatSetType(matrix, MATSEQAIJ));
  PetscCall(seq().adopt(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
