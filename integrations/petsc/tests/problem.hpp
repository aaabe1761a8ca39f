#pragma once
// The matrix of the cases, and the comparison of its products with AIJ's.
#include <petscksp.h>

#if !PETSC_VERSION_GE(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

/// 7-point Laplacian on n x n x n points, with a wind unless -symmetric; each rank sets its own rows.
PetscErrorCode fill(Mat matrix, PetscInt n, PetscScalar scale);

/// An empty one of the type and prefix (-prefix) that the options say. `local_rows` is this rank's share, or
/// PETSC_DECIDE.
PetscErrorCode create(PetscInt local_rows, PetscInt n, Mat* matrix);

/// The same numbers for any number of ranks.
PetscErrorCode numbers(Vec vector, PetscInt seed);

/// Subtracts `theirs` from `ours`; a difference beyond rounding is an error that names `what`.
PetscErrorCode require_close(Vec ours, Vec theirs, const char* what);

/// All products of `matrix` with a vector against those of a plain AIJ matrix with the same numbers.
PetscErrorCode compare(Mat matrix);

/// An error unless the matrix's type is `seq` on one rank, `mpi` on several.
PetscErrorCode require_type(Mat matrix, const char* seq, const char* mpi);
PetscErrorCode require_weft(Mat matrix);

/// An error unless the products are the methods that a new matrix of this type has.
PetscErrorCode require_methods(Mat matrix, MatType type);
