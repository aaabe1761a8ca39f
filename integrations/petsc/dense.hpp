#pragma once
#include "petsc.hpp"

namespace weft::petsc {

/// Sets up `result` = A B for a seqaijweft A and a dense B: all columns at once by Weft, or as AIJ does where A is
/// small or the product is another one (A^T B, A B^T).
PetscErrorCode set_product_with_dense(Mat result);

}  // namespace weft::petsc
