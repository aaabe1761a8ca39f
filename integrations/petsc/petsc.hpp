#pragma once
// What every file of the plug-in includes of PETSc: its public headers, and the one declaration beside them that is
// needed, PetscObjectStateGet. Differences between PETSc's versions end here.
#include <petscmat.h>
// PetscObjectStateGet is documented for users, but declared there:
#include <petsc/private/petscimpl.h>

#include <concepts>
#include <cstdint>

#if defined(PETSC_USE_COMPLEX)
#error "The Weft plug-in is for real matrices: use a PETSc whose scalars are real, such as Debian's libpetsc-real-dev"
#endif
#if !PETSC_VERSION_GE(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace weft::petsc {

static_assert(std::same_as<PetscScalar, double> || std::same_as<PetscScalar, float>,
              "Weft multiplies in single and double precision");
static_assert(sizeof(PetscInt) == 4 || sizeof(PetscInt) == 8);

/// A method of a PETSc object, whatever it takes.
using Method = void (*)(void);
template <class F>
Method as_method(F* function) {
  return reinterpret_cast<Method>(function);
}

constexpr const char* root_type = "aijweft";
constexpr const char* seq_type = "seqaijweft";
constexpr const char* mpi_type = "mpiaijweft";

}  // namespace weft::petsc
