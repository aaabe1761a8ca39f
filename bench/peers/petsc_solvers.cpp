#include <limits>
#include <type_traits>

#include "core/timer.hpp"
#include "facts/blocks.hpp"
#include "petsc_library.hpp"
#include "solver_adapters.hpp"

namespace weft::bench {
namespace {

/// What PETSc calls a method, and where the preconditioner is so that |b - A x| is watched, as everybody does.
struct Method {
  const char* name;
  const char* petsc;
  bool right;
};
constexpr Method methods[] = {{"cg", "cg", false}, {"gmres", "gmres", true}, {"bicgstab", "bcgs", true}};
constexpr int norm_of_residual = 2, right_side = 1;  // KSP_NORM_UNPRECONDITIONED, PC_RIGHT

std::string reason_text(int reason) {
  switch (reason) {
    case -3:
      return "not converged";
    case -4:
      return "diverged";
    case -5:
    case -6:
      return "broke down";
    case -8:
      return "preconditioner not positive definite";
    case -9:
      return "not finite";
    case -10:
      return "not positive definite";
    case -11:
      return "the preconditioner failed";
    default:
      return reason > 0 ? "converged" : "failed";
  }
}

/// KSP on our arrays, one process without threads: PETSc is parallel over processes.
template <Value V>
class PetscSolver : public SolverPeer<V> {
 public:
  PetscSolver(const SolveTask& task, const Method& method, std::string preconditioner)
      : task_(task), method_(method), preconditioner_(std::move(preconditioner)) {}
  ~PetscSolver() override {
    if (solver_) library_.destroy_solver(&solver_);
    if (x_) library_.destroy_vector(&x_);
    if (b_) library_.destroy_vector(&b_);
    if (matrix_) library_.destroy_matrix(&matrix_);
  }

  std::string library() const override { return "petsc"; }
  std::string method() const override { return method_.name; }
  std::string preconditioner() const override { return preconditioner_; }

  void prepare(const Csr<V>& matrix) override {
    if constexpr (!std::is_same_v<V, double>) {
      throw Error(ErrorCode::unsupported, "this PETSc is built for f64 only");
    } else {
      offsets_ = narrow_offsets(matrix, "PETSc");
      bytes_ = offsets_.bytes() + matrix.columns.bytes() + matrix.values.bytes();
      const Stopwatch watch;
      library_.start();
      // A user of multigrid says how many unknowns a node has: without it, it is slow.
      const Index block = preconditioner_ == "gamg"
                              ? find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data()).size
                              : 1;
      start_seconds_ = watch.seconds();
      // PETSc leaves these alone, though it does not say const.
      library_.require(library_.matrix_from_csr(library_.self, matrix.rows, matrix.cols, offsets_.data(),
                                                const_cast<int*>(matrix.columns.data()),
                                                const_cast<double*>(matrix.values.data()), &matrix_));
      if (block > 1) library_.require(library_.set_block_size(matrix_, block));
      library_.require(library_.vector_around(library_.self, 1, matrix.rows, nullptr, &b_));
      library_.require(library_.vector_around(library_.self, 1, matrix.rows, nullptr, &x_));
      set_up();
    }
  }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = "KSP, 1 process, 1 thread",
            .bytes = bytes_,
            .start_seconds = start_seconds_};
  }

  PeerSolve solve(const V* b, V* x) override {
    PeerSolve result;
    if constexpr (std::is_same_v<V, double>) {
      library_.require(library_.place(b_, b));
      library_.require(library_.place(x_, x));
      const Stopwatch watch;
      const int error = library_.solve(solver_, b_, x_);
      result.seconds = watch.seconds();
      library_.require(library_.reset(b_));
      library_.require(library_.reset(x_));
      library_.require(error);
      int iterations = 0, reason = 0;
      library_.require(library_.get_iterations(solver_, &iterations));
      library_.require(library_.get_reason(solver_, &reason));
      result.iterations = iterations;
      result.converged = reason > 0;
      result.status = reason_text(reason);
    }
    return result;
  }

 private:
  void set_up() {
    library_.require(library_.create_solver(library_.self, &solver_));
    library_.require(library_.set_operators(solver_, matrix_, matrix_));
    library_.require(library_.set_solver_type(solver_, method_.petsc));
    if (task_.method == "gmres") library_.require(library_.set_restart(solver_, task_.restart));
    if (method_.right) library_.require(library_.set_side(solver_, right_side));
    library_.require(library_.set_norm(solver_, norm_of_residual));
    constexpr double no_absolute_tolerance = 1e-300, divergence = 1e8;
    const auto iterations =
        static_cast<int>(std::min<std::int64_t>(task_.max_iterations, std::numeric_limits<int>::max()));
    library_.require(library_.set_tolerances(solver_, task_.rtol, no_absolute_tolerance, divergence, iterations));
    PetscLibrary::Preconditioner* preconditioner = nullptr;
    library_.require(library_.get_preconditioner(solver_, &preconditioner));
    library_.require(library_.set_preconditioner_type(preconditioner, preconditioner_.c_str()));
    library_.require(library_.set_up(solver_));
  }

  PetscLibrary& library_ = PetscLibrary::instance();
  SolveTask task_;
  Method method_;
  std::string preconditioner_;
  Array<int> offsets_;
  std::size_t bytes_ = 0;
  double start_seconds_ = 0;
  PetscLibrary::Matrix* matrix_ = nullptr;
  PetscLibrary::Vector* b_ = nullptr;
  PetscLibrary::Vector* x_ = nullptr;
  PetscLibrary::Solver* solver_ = nullptr;
};

}  // namespace

/// What our task has, and what a user of PETSc would take instead: an incomplete factorization, and multigrid.
template <Value V>
SolverPeerList<V> petsc_solvers(Device device, const SolveTask& task) {
  if (!device.is_cpu()) return impossible_solvers<V>(Device::Kind::cpu);
  const PetscLibrary& library = PetscLibrary::instance();
  SolverPeerList<V> list{.why_none = library.problem, .version = library.version};
  if (!list.why_none.empty()) return list;
  for (const Method& method : methods)
    if (task.method == method.name)
      for (const char* preconditioner : {task.preconditioner.c_str(), task.method == "cg" ? "icc" : "ilu", "gamg"})
        list.peers.push_back(std::make_unique<PetscSolver<V>>(task, method, preconditioner));
  // MINRES is there, but watches another residual.
  if (list.peers.empty()) return no_such_solver<V>(task);
  return list;
}

#define WEFT_INSTANTIATE(V) template SolverPeerList<V> petsc_solvers<V>(Device, const SolveTask&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
