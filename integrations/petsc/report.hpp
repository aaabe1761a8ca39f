#pragma once
#include <string>

#include "attached.hpp"

namespace weft::petsc {

/// Why `auto` chose what it did, and what it timed; empty for a named format.
std::string reasons(const PlanInfo& info);

/// One line about a plan: what the matrix is, how it is stored and why, what it cost and what it served for.
std::string describe(const Attached& attached);

/// Remembers describe(attached) for the report at the end, where -mat_weft_view requests one. Never throws.
void keep_report(const Attached& attached) noexcept;

/// Reads -mat_weft_view.
PetscErrorCode start_reports();

/// Prints what every rank kept, by rank. Collective over PETSC_COMM_WORLD; PetscFinalize calls it.
PetscErrorCode print_reports();

}  // namespace weft::petsc
