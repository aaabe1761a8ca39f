#pragma once
#include "petsc.hpp"

namespace weft::petsc {

/// PETSc finds conversions and products of matrices by the names of their types. What it has for `base` is composed
/// under the name of the subtype `name` too, which is AIJ in all but its products; or, with `present` false, removed.
PetscErrorCode inherit_functions(Mat matrix, const char* base, const char* name, bool present);

/// Sets up the product `result` as PETSc does for the base types of its factors. Does nothing where PETSc has nothing
/// for those.
PetscErrorCode set_product_of_base_types(Mat result);

}  // namespace weft::petsc
