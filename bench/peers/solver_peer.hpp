#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>

#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"

namespace weft::bench {

/// What everybody is to do: from x = 0 until |b - A x| <= rtol |b|.
struct SolveTask {
  std::string method = "cg";              ///< "cg", "minres", "gmres" or "bicgstab"
  std::string preconditioner = "jacobi";  ///< of those that only scale: "jacobi" or "none"
  double rtol = 1e-8;
  std::int64_t max_iterations = 20000;
  int restart = 30;  ///< of gmres
};

/// How a solve went, as its library has it.
struct PeerSolve {
  double seconds = 0;
  std::int64_t iterations = 0;
  bool converged = false;
  std::string status = {};  ///< in a few words; empty where the library does not tell
};

/// Another library's solver, to compare with. Used by the bench only.
template <Value V>
class SolverPeer {
 public:
  virtual ~SolverPeer() = default;
  SolverPeer() = default;
  SolverPeer(const SolverPeer&) = delete;
  SolverPeer& operator=(const SolverPeer&) = delete;

  virtual std::string library() const = 0;         ///< "petsc"
  virtual std::string method() const = 0;          ///< "cg"
  virtual std::string preconditioner() const = 0;  ///< "icc"
  /// "petsc:cg+icc"
  std::string name() const { return library() + ":" + method() + "+" + preconditioner(); }

  /// Everything that comes before the first solve: the matrix as the library wants it, and its preconditioner. `matrix`
  /// is square and outlives the peer. Throws Error, saying why, when the library cannot take it.
  virtual void prepare(const Csr<V>& matrix) = 0;

  virtual PeerInfo info() const = 0;

  /// The x with A x = b, from 0, with the seconds that took. The pointers are into the memory of the device the peer
  /// was made for; b and x have an element for each row.
  virtual PeerSolve solve(const V* b, V* x) = 0;
};

/// The solvers for `device` that `wanted` names, as in find_peers: "petsc", "petsc:cg+icc".
template <Value V>
std::vector<std::unique_ptr<SolverPeer<V>>> find_solver_peers(Device device, const SolveTask& task,
                                                              const std::string& wanted,
                                                              std::vector<std::string>& missing);

}  // namespace weft::bench
