#pragma once
#include <weft/device.hpp>
#include <weft/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "measure.hpp"

// What `weft bench --solve` measures: the time from a matrix and a right side to the answer.
namespace weft::bench {

/// One solver on one matrix: a format of ours with a method and a preconditioner, or a peer.
struct SolveMeasurement {
  std::string name = {};  ///< the format as requested, or the peer's library
  std::string method = {};
  std::string preconditioner = {};
  bool peer = false;
  std::string version = {};   ///< of a peer's library; else empty
  std::string failure = {};   ///< why there are no numbers; else empty
  std::string chosen = {};    ///< the format that was taken; empty for peers
  std::string details = {};   ///< one line: parameters of the format, or what the peer is
  std::string recipe = {};    ///< see PlanInfo; empty for peers
  std::string status = {};    ///< in the solver's words: "converged"
  bool reached = false;       ///< the residual that the bench computed is within the tolerance, see `residual_slack`
  bool repeatable = true;     ///< x had the same bits in every solve
  double upload_seconds = 0;  ///< of the set-up, what a peer spent on moving the matrix; ours has it in the plan
  double plan_seconds = 0;    ///< of the set-up: from the csr matrix on the host to the first product
  double preconditioner_seconds = 0;  ///< of the set-up; peers have both in plan_seconds
  Quartiles solve = {};               ///< seconds of whole solves, from x = 0
  int solves = 0;                     ///< that were timed
  std::int64_t iterations = 0;
  double relative_residual = 0;  ///< |b - A x| / |b| of the x that came out, computed by the bench in f64
  int rank = 0;                  ///< by the time in all: 1 for the soonest and all within 5 % of it; 0 when not reached
  std::optional<double> peer_ratio = {};  ///< time in all of the soonest peer / ours; none without peers
  /// Time of an iteration of the peer that is fastest by it, with the same method and preconditioner / ours.
  std::optional<double> iteration_ratio = {};

  bool measured() const { return failure.empty(); }
  bool counts() const { return measured() && reached; }  ///< may be compared with others
  std::string solver() const { return method + "+" + preconditioner; }
  double setup_seconds() const { return plan_seconds + preconditioner_seconds; }
  double total_seconds() const { return setup_seconds() + solve.median; }
  double iteration_seconds() const { return iterations > 0 ? solve.median / static_cast<double>(iterations) : 0; }
};

/// By how much a residual may miss the tolerance: most solvers watch a residual that they update, and rounding takes
/// it away from the true one.
constexpr double residual_slack = 2;

/// All solvers on one matrix with one value type.
struct SolveCase {
  std::string source = {};
  ValueType type = ValueType::f64;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
  double rtol = 0;  ///< what |b - A x| / |b| was to become
  std::vector<SolveMeasurement> measurements = {};
};

struct SolveBenchReport {
  static constexpr int schema = 1;  ///< rises when a field changes its meaning or goes away
  Machine machine;
  Device device;
  std::string device_name;
  std::string command;  ///< that repeats the run
  double seconds = 0;   ///< the parameters of the run
  int repeats = 0;
  std::int64_t products = 0;
  std::int64_t max_iterations = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> notes;  ///< peers that were not there
  std::vector<SolveCase> cases;

  bool all_reached() const;  ///< peers do not count
};

}  // namespace weft::bench
