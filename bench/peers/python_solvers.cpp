#include "python_session.hpp"
#include "solver_adapters.hpp"

namespace weft::bench {
namespace {

/// A solver of a library of Python's, in a process of its own that keeps the time.
template <Value V>
class PythonSolver : public SolverPeer<V> {
 public:
  PythonSolver(Device device, const std::string& library, const SolveTask& task)
      : session_(device, library), task_(task) {}

  std::string library() const override { return session_.library(); }
  std::string method() const override { return task_.method; }
  std::string preconditioner() const override { return task_.preconditioner; }

  void prepare(const Csr<V>& matrix) override {
    session_.prepare(matrix, {{"method", task_.method},
                              {"preconditioner", task_.preconditioner},
                              {"rtol", task_.rtol},
                              {"max_iterations", task_.max_iterations},
                              {"restart", task_.restart}});
  }

  PeerInfo info() const override { return session_.info(); }

  PeerSolve solve(const V* b, V* x) override {
    session_.send_x(b);
    const nlohmann::json answer = session_.ask({{"do", "solve"}});
    PeerSolve result{.seconds = session_.seconds(answer),
                     .iterations = session_.template field<std::int64_t>(answer, "iterations"),
                     .converged = session_.template field<bool>(answer, "converged")};
    result.status = result.converged ? "converged" : "not converged";
    session_.receive_y(x);
    return result;
  }

 private:
  PythonSession<V> session_;
  SolveTask task_;
};

template <Value V>
SolverPeerList<V> python_solvers(Device device, Device::Kind kind, const std::string& library,
                                 const std::vector<std::string>& methods, const SolveTask& task) {
  if (device.kind() != kind) return impossible_solvers<V>(kind);
  if (std::ranges::find(methods, task.method) == methods.end()) return no_such_solver<V>(task);
  const PythonLibrary found = find_in_python(library);
  SolverPeerList<V> list{.why_none = found.why_none, .version = found.version};
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<PythonSolver<V>>(device, library, task));
  return list;
}

}  // namespace

/// SciPy's MINRES is not here: it watches another residual.
template <Value V>
SolverPeerList<V> scipy_solvers(Device device, const SolveTask& task) {
  return python_solvers<V>(device, Device::Kind::cpu, "scipy", {"cg", "gmres", "bicgstab"}, task);
}

template <Value V>
SolverPeerList<V> cupy_solvers(Device device, const SolveTask& task) {
  return python_solvers<V>(device, Device::Kind::gpu, "cupy", {"cg"}, task);
}

#define WEFT_INSTANTIATE(V)                                                   \
  template SolverPeerList<V> scipy_solvers<V>(Device, const SolveTask& task); \
  template SolverPeerList<V> cupy_solvers<V>(Device, const SolveTask& task);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
