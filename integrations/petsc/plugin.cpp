// What PETSc calls when it loads the plug-in: -dll_append libweft_petsc.so, or PetscDLLibraryAppend.
#include "events.hpp"
#include "guarded.hpp"
#include "mpi.hpp"
#include "report.hpp"
#include "seq.hpp"
#include "settings.hpp"
#include "threads.hpp"

/// PETSc derives this name from that of the file, libweft_petsc.so. Collective over PETSC_COMM_WORLD: every rank must
/// load the plug-in, as -dll_append makes them do.
extern "C" __attribute__((visibility("default"))) PetscErrorCode PetscDLLibraryRegister_weft_petsc() {
  using namespace weft::petsc;
  PetscFunctionBegin;
  PetscCall(describe_options());
  PetscCall(choose_threads(PETSC_COMM_WORLD));
  PetscCall(start_reports());
  PetscCall(register_events());
  PetscCall(MatRegisterRootName(root_type, seq_type, mpi_type));
  PetscCall(MatRegister(seq_type, create_seq));
  PetscCall(MatRegister(mpi_type, create_mpi));
  PetscCall(MatSeqAIJRegister(seq_type, convert_to_seq_weft));
  PetscCall(PetscRegisterFinalize(print_reports));
  PetscFunctionReturn(PETSC_SUCCESS);
}
