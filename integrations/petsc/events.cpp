#include "events.hpp"

#include <array>

namespace weft::petsc {
namespace {
std::array<PetscLogEvent, 3> events{};
}

PetscErrorCode register_events() {
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatWeftPlan", MAT_CLASSID, &events[0]));
  PetscCall(PetscLogEventRegister("MatWeftUpdate", MAT_CLASSID, &events[1]));
  PetscCall(PetscLogEventRegister("MatWeftMult", MAT_CLASSID, &events[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogEvent event(Event which) { return events[static_cast<std::size_t>(which)]; }

}  // namespace weft::petsc
