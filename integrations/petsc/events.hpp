#pragma once
#include "petsc.hpp"

namespace weft::petsc {

/// What -log_view shows of the plug-in, besides PETSc's own MatMult around it.
enum class Event { plan, update, product };

/// Registers them, once.
PetscErrorCode register_events();

PetscLogEvent event(Event which);

}  // namespace weft::petsc
