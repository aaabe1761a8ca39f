#include "subtype.hpp"

#include "inherited.hpp"

namespace weft::petsc {
namespace {

PetscErrorCode compose_conversion(Mat matrix, const char* from, const char* to, Conversion conversion) {
  char name[128];
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof name, "MatConvert_%s_%s_C", from, to));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(matrix), name, conversion));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Subtype::Subtype(const char* base, const char* name, std::initializer_list<Replaced> replaced, Conversion to_weft,
                 Conversion to_aij)
    : base_(base), name_(name), replaced_(replaced), to_weft_(to_weft), to_aij_(to_aij) {}

PetscErrorCode Subtype::is(Mat matrix, bool& result) const {
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), name_, &same));
  result = same;
  PetscFunctionReturn(PETSC_SUCCESS);
}

Method Subtype::find(MatOperation operation) const {
  for (const Replaced& method : replaced_)
    if (method.operation == operation) return method.aijs;
  return nullptr;
}

PetscErrorCode Subtype::remember(Mat matrix) {
  PetscFunctionBegin;
  if (remembered_) PetscFunctionReturn(PETSC_SUCCESS);
  for (Replaced& method : replaced_) PetscCall(MatGetOperation(matrix, method.operation, &method.aijs));
  remembered_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// MatConvert looks on the matrix for a function of this name, and on an empty one of the new type.
PetscErrorCode Subtype::compose(Mat matrix, bool present) const {
  PetscFunctionBegin;
  PetscCall(compose_conversion(matrix, name_, base_, present ? to_aij_ : nullptr));
  PetscCall(compose_conversion(matrix, base_, name_, present ? to_weft_ : nullptr));
  PetscCall(inherit_functions(matrix, base_, name_, present));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Subtype::adopt(Mat matrix) {
  bool already = false;
  PetscFunctionBegin;
  PetscCall(is(matrix, already));
  if (already) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(remember(matrix));
  for (const Replaced& method : replaced_) PetscCall(MatSetOperation(matrix, method.operation, method.ours));
  PetscCall(compose(matrix, true));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(matrix), name_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Subtype::release(Mat matrix) const {
  bool ours = false;
  PetscFunctionBegin;
  PetscCall(is(matrix, ours));
  if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
  for (const Replaced& method : replaced_) PetscCall(MatSetOperation(matrix, method.operation, method.aijs));
  PetscCall(compose(matrix, false));
  PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(matrix), base_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Subtype::convert(Mat matrix, bool to_weft, MatReuse reuse, Mat* result) {
  Mat target = *result;
  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(matrix, MAT_COPY_VALUES, &target));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(matrix, target, SAME_NONZERO_PATTERN));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(to_weft ? adopt(target) : release(target));
  *result = target;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
