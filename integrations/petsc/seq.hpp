#pragma once
#include "petsc.hpp"

namespace weft::petsc {

/// MatCreate's method for seqaijweft: an AIJ matrix whose products Weft computes.
PetscErrorCode create_seq(Mat matrix);

/// MatConvert's for seqaij to seqaijweft, and what -mat_seqaij_type seqaijweft calls on every SeqAIJ.
PetscErrorCode convert_to_seq_weft(Mat matrix, MatType type, MatReuse reuse, Mat* result);

/// The reverse, in place.
PetscErrorCode release_seq(Mat matrix);

}  // namespace weft::petsc
