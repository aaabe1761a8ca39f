#include "petsc_library.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <weft/error.hpp>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace weft::bench {
namespace {

#ifdef __SANITIZE_ADDRESS__
/// What Open MPI keeps for good when it starts is not ours to find.
using LeaksAllowed = __lsan::ScopedDisabler;
#else
struct LeaksAllowed {};
#endif

/// What MPI and PETSc would change in this process for good when they start: what signals do, where messages go and
/// which variables a child sees. All of it is put back; a Ctrl-C must end the tool as before.
class StartUpGuard {
 public:
  StartUpGuard() {
    for (int number = 1; number < signals; ++number) sigaction(number, nullptr, &actions_[number]);
    // Open MPI starts alone: no daemon, no folder of its own, no look at networks.
    for (const auto& [name, value] : settings)
      if (!std::getenv(name)) {
        setenv(name, value, 0);
        set_.push_back(name);
      }
    errors_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (errors_ >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
  }
  ~StartUpGuard() {
    if (errors_ >= 0) {
      dup2(errors_, STDERR_FILENO);
      close(errors_);
    }
    for (const char* name : set_) unsetenv(name);
    for (int number = 1; number < signals; ++number)
      if (number != SIGKILL && number != SIGSTOP) sigaction(number, &actions_[number], nullptr);
  }
  StartUpGuard(const StartUpGuard&) = delete;
  StartUpGuard& operator=(const StartUpGuard&) = delete;

 private:
  static constexpr int signals = 32;
  static constexpr std::pair<const char*, const char*> settings[] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                                     {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                                     {"OMPI_MCA_pml", "ob1"},
                                                                     {"OMPI_MCA_btl", "self"}};
  std::array<struct sigaction, signals> actions_ = {};
  std::vector<const char*> set_;
  int errors_ = -1;
};

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (int minor = 18; minor <= 26; ++minor) names.push_back("libpetsc_real.so.3." + std::to_string(minor));
  return names;
}

}  // namespace

PetscLibrary& PetscLibrary::instance() {
  static PetscLibrary library;
  return library;
}

void PetscLibrary::start() {
  std::call_once(started_, [&] {
    const StartUpGuard guard;
    [[maybe_unused]] const LeaksAllowed leaks;
    start_error_ = initialize();
    if (start_error_ == 0) push_handler(return_errors, nullptr);
  });
  require(start_error_);
}

void PetscLibrary::require(int error) const {
  if (error == 0) return;
  const char* text = nullptr;
  explain(error, &text, nullptr);
  throw Error(ErrorCode::unsupported, std::string("PETSc: ") + (text ? text : "unknown error"));
}

PetscLibrary::PetscLibrary() : file("libpetsc_real.so", file_names()) {
  if (file.problem().empty()) {
    file.find(get_version, "PetscGetVersionNumber");
    file.find(initialize, "PetscInitializeNoArguments");
    file.find(push_handler, "PetscPushErrorHandler");
    file.find(return_errors, "PetscReturnErrorHandler");
    file.find(explain, "PetscErrorMessage");
    file.find(matrix_from_csr, "MatCreateSeqAIJWithArrays");
    file.find(vector_around, "VecCreateSeqWithArray");
    file.find(place, "VecPlaceArray");
    file.find(reset, "VecResetArray");
    file.find(multiply, "MatMult");
    file.find(destroy_matrix, "MatDestroy");
    file.find(destroy_vector, "VecDestroy");
    file.find(set_block_size, "MatSetBlockSize");
    file.find(create_solver, "KSPCreate");
    file.find(set_operators, "KSPSetOperators");
    file.find(set_solver_type, "KSPSetType");
    file.find(set_restart, "KSPGMRESSetRestart");
    file.find(set_tolerances, "KSPSetTolerances");
    file.find(set_norm, "KSPSetNormType");
    file.find(set_side, "KSPSetPCSide");
    file.find(get_preconditioner, "KSPGetPC");
    file.find(set_preconditioner_type, "PCSetType");
    file.find(set_up, "KSPSetUp");
    file.find(solve, "KSPSolve");
    file.find(get_iterations, "KSPGetIterationNumber");
    file.find(get_reason, "KSPGetConvergedReason");
    file.find(destroy_solver, "KSPDestroy");
  }
  problem = file.problem();
  if (!problem.empty()) return;
  int major = 0, minor = 0, patch = 0, release = 0;
  get_version(&major, &minor, &patch, &release);
  version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  find_communicator();
}

/// MPI_COMM_SELF is a macro; what it is depends on which MPI this PETSc was built with.
void PetscLibrary::find_communicator() {
  self = file.look_up("ompi_mpi_comm_self");
  if (self) return;
  char text[8192] = {};  // more than any MPI's MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  if (auto* tell = reinterpret_cast<int (*)(char*, int*)>(file.look_up("MPI_Get_library_version"))) tell(text, &length);
  for (const char* kin : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (std::strstr(text, kin)) self = reinterpret_cast<Communicator>(std::uintptr_t{0x44000001});
  if (!self) problem = "its MPI is neither Open MPI nor a kin of MPICH";
}

}  // namespace weft::bench
