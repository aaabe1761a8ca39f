#pragma once
#include <weft/csr.hpp>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/run.hpp"
#include "bench/harness/solve_result.hpp"

// `--paper NAME --solve`: what a paper says of solvers, with whole solves in the place of so many products.
namespace weft::bench {

/// The same system solved with some formats, and on the CPU with what is fastest there.
struct PaperSolves {
  SolveCase on_device = {};
  std::optional<SolveCase> on_cpu = {};  ///< where the device is another one

  const SolveMeasurement* find(const std::string& format) const;  ///< ours, within the tolerance; or null
  const SolveMeasurement* any(const std::string& format) const;   ///< ours, however it went; or null
  /// The soonest of csr and other libraries' solvers on the CPU; null where none came to its tolerance.
  const SolveMeasurement* soonest_on_cpu() const;
};

enum class Preconditioning { automatic, approximate_inverse };

/// The preconditioner that is requested for it: the first approximate inverse there is for such a matrix, or "auto".
template <Value V>
std::string preconditioner_for(Preconditioning preconditioning, const Csr<V>& matrix);

/// Solves with each of `formats`, whose first says whether the system can be solved at all: the others are left out
/// where it does not come to the tolerance within `max_iterations`. A matrix that is not square has no measurements.
template <Value V>
PaperSolves run_paper_solves(const std::string& source, const Csr<V>& matrix, const std::vector<std::string>& formats,
                             Preconditioning preconditioning, std::int64_t max_iterations, const RunOptions& options,
                             std::vector<std::string>& notes);

/// A matrix as the tables name it, and its solves.
struct NamedSolves {
  std::string name;
  const PaperSolves* solves;
};

/// Seconds of everything from the matrix on the host to the answer, a column for each format; what did not come to its
/// tolerance has a remark.
std::string solves_table(const std::vector<NamedSolves>& all, const std::vector<std::string>& formats);
/// By how much less time `best` takes than each other format, in percent.
std::string solves_improvement_table(const std::vector<NamedSolves>& all, const std::string& best,
                                     const std::vector<std::string>& formats);
/// `best` beside the soonest on the CPU.
std::string solves_cpu_table(const std::vector<NamedSolves>& all, const std::string& best);

/// "to |b - A x| = 1e-08 |b|, f64"
std::string solves_goal_text(const std::vector<NamedSolves>& all, ValueType type);

nlohmann::ordered_json to_json(const PaperSolves& solves);

}  // namespace weft::bench
