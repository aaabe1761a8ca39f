#pragma once
#include <weft/error.hpp>

#include <exception>
#include <new>
#include <source_location>

#include "petsc.hpp"

namespace weft::petsc {

inline PetscErrorCode petsc_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_matrix:
    case ErrorCode::parse:
      return PETSC_ERR_ARG_WRONG;
    case ErrorCode::io:
      return PETSC_ERR_FILE_OPEN;
    case ErrorCode::unsupported:
    case ErrorCode::no_device:
      return PETSC_ERR_SUP;
    case ErrorCode::out_of_memory:
      return PETSC_ERR_MEM;
    case ErrorCode::cancelled:
    case ErrorCode::internal:
      break;
  }
  return PETSC_ERR_LIB;
}

inline PetscErrorCode raise(PetscErrorCode code, const char* sentence, const std::source_location& place) {
  return PetscError(PETSC_COMM_SELF, static_cast<int>(place.line()), "weft", place.file_name(), code,
                    PETSC_ERROR_INITIAL, "Weft: %s", sentence);
}

/// Runs work(), which returns nothing. What it throws becomes a PETSc error with the same sentence. Between its begin
/// and end no PETSc function may be called: an exception would leave PETSc's own call stack wrong.
template <class Work>
PetscErrorCode guarded(Work&& work, const std::source_location& place = std::source_location::current()) noexcept {
  try {
    work();
    return PETSC_SUCCESS;
  } catch (const Error& error) {
    return raise(petsc_code(error.code()), error.what(), place);
  } catch (const std::bad_alloc&) {
    return raise(PETSC_ERR_MEM, "there is not enough memory: use more ranks, or a machine with more of it", place);
  } catch (const std::exception& error) {
    return raise(PETSC_ERR_LIB, error.what(), place);
  }
}

}  // namespace weft::petsc
