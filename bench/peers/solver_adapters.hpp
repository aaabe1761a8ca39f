#pragma once
#include <algorithm>

#include "adapters.hpp"
#include "selection.hpp"
#include "solver_peer.hpp"

namespace weft::bench {

template <Value V>
using SolverPeerList = PeerListOf<SolverPeer<V>>;

template <Value V>
SolverPeerList<V> eigen_solvers(Device device, const SolveTask& task);
template <Value V>
SolverPeerList<V> petsc_solvers(Device device, const SolveTask& task);
template <Value V>
SolverPeerList<V> scipy_solvers(Device device, const SolveTask& task);
template <Value V>
SolverPeerList<V> cusparse_solvers(Device device, const SolveTask& task);
template <Value V>
SolverPeerList<V> cupy_solvers(Device device, const SolveTask& task);

template <Value V>
SolverPeerList<V> impossible_solvers(Device::Kind kind) {
  return impossible_peers<V, SolverPeer<V>>(kind);
}

/// What a library answers that has no such solver.
template <Value V>
SolverPeerList<V> no_such_solver(const SolveTask& task) {
  return {.why_none = "it has no " + task.method + " that the bench knows", .possible = false};
}

/// 1 / diagonal. Throws Error(unsupported) where that is not a number.
template <Value V>
Array<V> inverse_diagonal(const Csr<V>& matrix, const std::string& library) {
  Array<V> inverse(static_cast<std::size_t>(matrix.rows));
  for (Index row = 0; row < matrix.rows; ++row) {
    const Index* const begin = matrix.columns.data() + matrix.offsets[row];
    const Index* const end = matrix.columns.data() + matrix.offsets[row + 1];
    const Index* const found = std::lower_bound(begin, end, row);
    const V diagonal = found != end && *found == row ? matrix.values[found - matrix.columns.data()] : V(0);
    if (diagonal == V(0))
      throw Error(ErrorCode::unsupported,
                  library + " would divide by the diagonal, but that of row " + std::to_string(row) + " is 0");
    inverse[static_cast<std::size_t>(row)] = V(1) / diagonal;
  }
  return inverse;
}

}  // namespace weft::bench
