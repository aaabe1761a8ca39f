#pragma once
#include <string>
#include <vector>

#include "bench/harness/solve_run.hpp"
#include "options.hpp"

namespace weft::app {

/// `weft bench --solve`.
struct SolveBenchOptions {
  ReadingOptions reading;
  std::vector<std::string> sources;
  bool keep_going = false;  ///< a source that cannot be read, or is not square, is reported and left out
  GivenParts parts;
  std::string device = "cpu";
  std::string json, csv, svg;
  std::string methods = "auto";          ///< names separated by commas
  std::string preconditioners = "auto";  ///< names separated by commas
  double rtol = 0;                       ///< 0: 1e-8, and 1e-5 in f32
  bench::SolveRunOptions run;

  /// The options that go with --solve only.
  void add_to(CLI::App& parser);
};

/// Throws UsageError for a name of a method or preconditioner that is none.
void require_solvers(const SolveBenchOptions& options);

/// Measures, prints and writes; returns the exit code.
int run_solve_bench(const SolveBenchOptions& options);

}  // namespace weft::app
