#pragma once
#include <weft/csr.hpp>
#include <weft/partition.hpp>

#include <memory>
#include <string>
#include <vector>

#include "solve_result.hpp"

namespace weft::bench {

struct SolveRunOptions {
  Device device;
  std::vector<std::string> formats = {"auto"};
  std::vector<std::string> methods = {"auto"};          ///< see solvers.hpp; each ...
  std::vector<std::string> preconditioners = {"auto"};  ///< ... with each of these
  std::string peers = "none";                           ///< see find_solver_peers; they run the first method
  double rtol = 1e-8;
  std::int64_t max_iterations = 20000;
  int restart = 30;
  std::shared_ptr<const Partition> partition = nullptr;      ///< see PlanOptions
  std::shared_ptr<const Coordinates> coordinates = nullptr;  ///< see PlanOptions
  std::int64_t products = 1000;                              ///< that are to come: what `auto` plans for
  double seconds = 0.5;                                      ///< to spend on each solver; one solve is always finished
  int repeats = 11;                                          ///< solves of each at most
  std::uint64_t seed = 1;
  Progress progress = {};
};

/// Measures every format with every solver, and the peers, on one square matrix, all with the same right side, A times
/// a random x. What refuses or fails keeps its place with the reason; only what concerns the whole run (no such device)
/// throws. Peers that are not there are added to `notes`, once.
template <Value V>
SolveCase run_solve_case(const std::string& source, const Csr<V>& matrix, const SolveRunOptions& options,
                         std::vector<std::string>& notes);

/// Fills in rank and ratios.
void compare(SolveCase& one);

}  // namespace weft::bench
