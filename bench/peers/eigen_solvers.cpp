#include "solver_adapters.hpp"

#ifdef WEFT_HAS_EIGEN
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <limits>

#include "core/timer.hpp"
#endif

namespace weft::bench {

#ifdef WEFT_HAS_EIGEN
namespace {

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

template <Value V>
using Matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, int>;

/// Both triangles and row-major: with these Eigen's products have threads.
template <Value V, class M>
using Cg = Eigen::ConjugateGradient<Matrix<V>, Eigen::Lower | Eigen::Upper, M>;
template <Value V, class M>
using Bicgstab = Eigen::BiCGSTAB<Matrix<V>, M>;

/// One of Eigen's iterative solvers on our columns and values; Eigen wants offsets of the columns' type.
template <Value V, class Solver>
class EigenSolver : public SolverPeer<V> {
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

 public:
  explicit EigenSolver(const SolveTask& task) : task_(task) {}

  std::string library() const override { return "eigen"; }
  std::string method() const override { return task_.method; }
  std::string preconditioner() const override { return task_.preconditioner; }

  void prepare(const Csr<V>& matrix) override {
    offsets_ = narrow_offsets(matrix, "Eigen");
    matrix_ = &matrix;
    Eigen::setNbThreads(threads());
    solver_.setTolerance(static_cast<V>(task_.rtol));
    solver_.setMaxIterations(std::min<std::int64_t>(task_.max_iterations, std::numeric_limits<int>::max()));
    mapped_ =
        std::make_unique<Eigen::Map<const Matrix<V>>>(matrix.rows, matrix.cols, static_cast<int>(matrix.nonzeros()),
                                                      offsets_.data(), matrix.columns.data(), matrix.values.data());
    solver_.compute(*mapped_);
    if (solver_.info() != Eigen::Success) throw Error(ErrorCode::unsupported, "Eigen refuses the matrix");
  }

  PeerInfo info() const override {
    return {.version = eigen_version(),
            .details = "row-major, products with OpenMP, vectors on 1 thread",
            .bytes = offsets_.bytes() + matrix_->columns.bytes() + matrix_->values.bytes()};
  }

  PeerSolve solve(const V* b, V* x) override {
    const Eigen::Map<const Vector> right(b, matrix_->rows);
    Eigen::Map<Vector> answer(x, matrix_->rows);
    const Stopwatch watch;
    answer = solver_.solve(right);
    PeerSolve result{.seconds = watch.seconds(), .iterations = solver_.iterations()};
    result.converged = solver_.info() == Eigen::Success;
    // Its cg does not count the iteration that comes to the tolerance.
    if (task_.method == "cg" && result.converged && right.squaredNorm() > V(0)) ++result.iterations;
    result.status = result.converged                          ? "converged"
                    : solver_.info() == Eigen::NoConvergence  ? "not converged"
                    : solver_.info() == Eigen::NumericalIssue ? "numerical issue"
                                                              : "failed";
    return result;
  }

 private:
  SolveTask task_;
  const Csr<V>* matrix_ = nullptr;
  Array<int> offsets_;
  std::unique_ptr<Eigen::Map<const Matrix<V>>> mapped_;  // the solver refers to it
  Solver solver_;
};

template <Value V, template <Value, class> class Method>
std::unique_ptr<SolverPeer<V>> make_solver(const SolveTask& task) {
  if (task.preconditioner == "none")
    return std::make_unique<EigenSolver<V, Method<V, Eigen::IdentityPreconditioner>>>(task);
  return std::make_unique<EigenSolver<V, Method<V, Eigen::DiagonalPreconditioner<V>>>>(task);
}

}  // namespace

template <Value V>
SolverPeerList<V> eigen_solvers(Device device, const SolveTask& task) {
  if (!device.is_cpu()) return impossible_solvers<V>(Device::Kind::cpu);
  SolverPeerList<V> list{.version = eigen_version()};
  if (task.method == "cg")
    list.peers.push_back(make_solver<V, Cg>(task));
  else if (task.method == "bicgstab")
    list.peers.push_back(make_solver<V, Bicgstab>(task));
  else
    return no_such_solver<V>(task);
  return list;
}
#else
template <Value V>
SolverPeerList<V> eigen_solvers(Device device, const SolveTask&) {
  if (!device.is_cpu()) return impossible_solvers<V>(Device::Kind::cpu);
  return {.why_none = "this build has no Eigen; install libeigen3-dev and build again"};
}
#endif

#define WEFT_INSTANTIATE(V) template SolverPeerList<V> eigen_solvers<V>(Device, const SolveTask&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
