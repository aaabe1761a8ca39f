#include "dense.hpp"

#include "attached.hpp"
#include "events.hpp"
#include "guarded.hpp"
#include "inherited.hpp"

namespace weft::petsc {
namespace {

PetscErrorCode multiply_columns(Attached& attached, Mat factor, Mat result) {
  Columns<const PetscScalar> x;
  Columns<PetscScalar> y;
  PetscInt columns = 0, x_stride = 0, y_stride = 0;
  PetscFunctionBegin;
  PetscCall(MatGetSize(factor, nullptr, &columns));
  PetscCall(MatDenseGetLDA(factor, &x_stride));
  PetscCall(MatDenseGetLDA(result, &y_stride));
  PetscCall(MatDenseGetArrayRead(factor, &x.data));
  PetscCall(MatDenseGetArrayWrite(result, &y.data));
  x.count = y.count = static_cast<int>(columns);
  x.stride = static_cast<std::size_t>(x_stride);
  y.stride = static_cast<std::size_t>(y_stride);
  PetscCall(guarded([&] { attached.planned->multiply_several(x, y); }));
  PetscCall(MatDenseRestoreArrayWrite(result, &y.data));
  PetscCall(MatDenseRestoreArrayRead(factor, &x.data));
  attached.products += columns - 1;
  attached.products_since_update += columns - 1;
  PetscCall(PetscLogFlops(2.0 * static_cast<double>(attached.arrays.nonzeros()) * static_cast<double>(columns)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Column by column, where there is no plan.
PetscErrorCode multiply_each_column(Mat matrix, Mat factor, Mat result) {
  PetscInt columns = 0;
  PetscFunctionBegin;
  PetscCall(MatGetSize(factor, nullptr, &columns));
  for (PetscInt column = 0; column < columns; ++column) {
    Vec x = nullptr, y = nullptr;
    PetscCall(MatDenseGetColumnVecRead(factor, column, &x));
    PetscCall(MatDenseGetColumnVecWrite(result, column, &y));
    PetscCall(MatMult(matrix, x, y));
    PetscCall(MatDenseRestoreColumnVecWrite(result, column, &y));
    PetscCall(MatDenseRestoreColumnVecRead(factor, column, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply_dense(Mat result) {
  Mat matrix = nullptr, factor = nullptr;
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(result, &matrix, &factor, nullptr));
  PetscCall(make_ready(matrix, false, attached));
  PetscCall(PetscLogEventBegin(event(Event::product), matrix, factor, 0, 0));
  if (attached->planned)
    PetscCall(multiply_columns(*attached, factor, result));
  else
    PetscCall(multiply_each_column(matrix, factor, result));
  PetscCall(PetscLogEventEnd(event(Event::product), matrix, factor, 0, 0));
  PetscCall(MatAssemblyBegin(result, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(result, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode prepare_dense(Mat result) {
  Mat matrix = nullptr, factor = nullptr;
  PetscInt rows = 0, columns = 0;
  PetscBool dense = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(result, &matrix, &factor, nullptr));
  PetscCall(MatGetSize(matrix, &rows, nullptr));
  PetscCall(MatGetSize(factor, nullptr, &columns));
  PetscCall(MatSetSizes(result, rows, columns, rows, columns));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(result), MATSEQDENSE, &dense));
  if (!dense) {
    PetscCall(MatSetType(result, MATSEQDENSE));
    // The type brought methods of its own.
    PetscCall(MatSetOperation(result, MATOP_PRODUCTSYMBOLIC, as_method(prepare_dense)));
  }
  PetscCall(MatSetUp(result));
  PetscCall(MatSetOperation(result, MATOP_PRODUCTNUMERIC, as_method(multiply_dense)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode set_product_with_dense(Mat result) {
  Mat matrix = nullptr;
  MatProductType product = MATPRODUCT_UNSPECIFIED;
  Attached* attached = nullptr;
  PetscBool assembled = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(MatProductGetType(result, &product));
  PetscCall(MatProductGetMats(result, &matrix, nullptr, nullptr));
  PetscCall(MatAssembled(matrix, &assembled));
  if (product == MATPRODUCT_AB && assembled) PetscCall(make_ready(matrix, false, attached));
  if (attached && attached->planned)
    PetscCall(MatSetOperation(result, MATOP_PRODUCTSYMBOLIC, as_method(prepare_dense)));
  else
    PetscCall(set_product_of_base_types(result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
