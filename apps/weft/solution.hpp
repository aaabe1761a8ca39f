#pragma once
#include <weft/plan.hpp>
#include <weft/solve.hpp>

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/solvers.hpp"

// What `weft solve` found, and how it is shown.
namespace weft::app {

/// Of one right side.
struct SolvedColumn {
  SolveReport report;
  std::optional<double> error = {};  ///< |x - answer| / |answer|, where the answer is known
};

struct Solution {
  std::string source;
  bench::SolverChoice choice;
  PlanInfo plan;
  double setup_seconds = 0;  ///< of the preconditioner
  double rtol = 0;
  bool answer_of_the_equation = false;  ///< so the error of the mesh is in `error`
  std::vector<SolvedColumn> columns;    ///< one for each right side

  bool converged() const;
};

/// For people: one right side with some of its residuals, several as a table.
std::string text_of(const Solution& solution);

/// One right side's fields are those of the file; several are a list, `solutions`.
std::string json_of(const Solution& solution);

/// The residual over the iterations, a line for each right side, with the tolerance.
std::string svg_of(const Solution& solution);

}  // namespace weft::app
