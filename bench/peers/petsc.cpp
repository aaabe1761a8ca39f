#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "adapters.hpp"
#include "core/timer.hpp"
#include "shared_library.hpp"

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

struct Library {
  using Communicator = void*;  // Open MPI has a pointer, MPICH a number that is passed alike
  struct Matrix;
  struct Vector;

  SharedLibrary file{"libpetsc_real.so", file_names()};
  int (*get_version)(int*, int*, int*, int*) = nullptr;
  int (*initialize)() = nullptr;
  int (*push_handler)(void*, void*) = nullptr;
  void* return_errors = nullptr;
  int (*explain)(int error, const char** text, char** special) = nullptr;
  int (*matrix_from_csr)(Communicator, int rows, int cols, int* offsets, int* columns, double* values,
                         Matrix**) = nullptr;
  int (*vector_around)(Communicator, int block, int size, const double*, Vector**) = nullptr;
  int (*place)(Vector*, const double*) = nullptr;
  int (*reset)(Vector*) = nullptr;
  int (*multiply)(Matrix*, Vector*, Vector*) = nullptr;
  int (*destroy_matrix)(Matrix**) = nullptr;
  int (*destroy_vector)(Vector**) = nullptr;
  Communicator self = nullptr;
  std::string problem;
  std::string version;

  static Library& instance() {
    static Library library;
    return library;
  }

  /// Starts MPI and PETSc, once a process. They are never ended: others may still use them, and the process ends soon.
  void start() {
    std::call_once(started_, [&] {
      const StartUpGuard guard;
      [[maybe_unused]] const LeaksAllowed leaks;
      start_error_ = initialize();
      if (start_error_ == 0) push_handler(return_errors, nullptr);
    });
    require(start_error_);
  }

  void require(int error) const {
    if (error == 0) return;
    const char* text = nullptr;
    explain(error, &text, nullptr);
    throw Error(ErrorCode::unsupported, std::string("PETSc: ") + (text ? text : "unknown error"));
  }

 private:
  Library() {
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
    }
    problem = file.problem();
    if (!problem.empty()) return;
    int major = 0, minor = 0, patch = 0, release = 0;
    get_version(&major, &minor, &patch, &release);
    version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
    find_communicator();
  }

  /// MPI_COMM_SELF is a macro; what stands behind it depends on which MPI this PETSc was built with.
  void find_communicator() {
    self = file.look_up("ompi_mpi_comm_self");
    if (self) return;
    char text[8192] = {};  // more than any MPI's MPI_MAX_LIBRARY_VERSION_STRING
    int length = 0;
    if (auto* tell = reinterpret_cast<int (*)(char*, int*)>(file.look_up("MPI_Get_library_version")))
      tell(text, &length);
    for (const char* kin : {"MPICH", "Intel(R) MPI", "MVAPICH"})
      if (std::strstr(text, kin)) self = reinterpret_cast<Communicator>(std::uintptr_t{0x44000001});
    if (!self) problem = "its MPI is neither Open MPI nor a kin of MPICH";
  }

  std::once_flag started_;
  int start_error_ = 0;
};

/// PETSc's default matrix, on our arrays. One process without threads: PETSc's products are parallel over processes.
template <Value V>
class PetscPeer : public HostPeer<V> {
 public:
  ~PetscPeer() override {
    if (x_) library_.destroy_vector(&x_);
    if (y_) library_.destroy_vector(&y_);
    if (handle_) library_.destroy_matrix(&handle_);
  }

  std::string name() const override { return "petsc:aij"; }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = "1 process, 1 thread",
            .bytes = this->csr_bytes(),
            .start_seconds = start_seconds_};
  }

 protected:
  void take(std::int64_t) override {
    if constexpr (std::is_same_v<V, double>) {
      const Stopwatch watch;
      library_.start();
      start_seconds_ = watch.seconds();
      library_.require(library_.matrix_from_csr(library_.self, this->matrix().rows, this->matrix().cols,
                                                this->offsets(), this->columns(), this->values(), &handle_));
      library_.require(library_.vector_around(library_.self, 1, this->matrix().cols, nullptr, &x_));
      library_.require(library_.vector_around(library_.self, 1, this->matrix().rows, nullptr, &y_));
    } else {
      throw Error(ErrorCode::unsupported, "this PETSc is built for f64 only");
    }
  }

  void multiply(const V* x, V* y) override {
    if constexpr (std::is_same_v<V, double>) {
      library_.require(library_.place(x_, x));
      library_.require(library_.place(y_, y));
      library_.require(library_.multiply(handle_, x_, y_));
      library_.require(library_.reset(x_));
      library_.require(library_.reset(y_));
    }
  }

 private:
  Library& library_ = Library::instance();
  double start_seconds_ = 0;
  Library::Matrix* handle_ = nullptr;
  Library::Vector* x_ = nullptr;
  Library::Vector* y_ = nullptr;
};

}  // namespace

template <Value V>
PeerList<V> petsc_peers(Device device) {
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  const Library& library = Library::instance();
  PeerList<V> list{.why_none = library.problem, .version = library.version};
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<PetscPeer<V>>());
  return list;
}

#define WEFT_INSTANTIATE(V) template PeerList<V> petsc_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
