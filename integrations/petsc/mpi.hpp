#pragma once
#include "petsc.hpp"

namespace weft::petsc {

/// MatCreate's method for mpiaijweft: a distributed AIJ matrix whose two local blocks are seqaijweft. PETSc's own
/// products do the rest: they multiply the diagonal block while the halo travels, then add the off-diagonal block.
PetscErrorCode create_mpi(Mat matrix);

}  // namespace weft::petsc
