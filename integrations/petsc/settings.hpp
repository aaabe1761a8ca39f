#pragma once
#include <cstdint>
#include <string>

#include "petsc.hpp"

namespace weft::petsc {

/// What -mat_weft_... options say of one matrix.
struct Settings {
  std::string format = "auto";  ///< -mat_weft_format
  std::int64_t products = 250;  ///< -mat_weft_products
  bool products_given = false;  ///< nobody guesses then
  std::int64_t small = 10000;   ///< -mat_weft_small
};

/// Reads the options of a matrix with this prefix (null: none); what its prefix does not say, the option without a
/// prefix does. Not collective. An unknown format or a number below 1 is a PETSc error.
PetscErrorCode read_settings(const char* prefix, Settings& settings);

/// Describes all options under -help, and refuses wrong ones at once. Collective over PETSC_COMM_WORLD.
PetscErrorCode describe_options();

/// -mat_weft_threads: 0 where it is not given.
PetscErrorCode read_threads(int& threads);

/// -mat_weft_view.
PetscErrorCode read_view(bool& view);

}  // namespace weft::petsc
