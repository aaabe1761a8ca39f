#pragma once
#include <string>
#include <vector>

#include "bench/harness/run.hpp"
#include "bench_solve.hpp"
#include "options.hpp"

namespace weft::app {

/// Of `weft bench`.
struct BenchOptions {
  CommonOptions common;
  ReadingOptions reading;
  bool type_given = false;
  std::vector<std::string> sources;
  std::string suite;
  std::string folder;
  int count = 20;
  std::string paper;
  std::string formats = "all";
  std::string order = "none";
  GivenParts parts;
  std::string device = "cpu";
  std::string peers = "none";
  std::vector<int> vectors = {1};
  std::string layout = "column";
  std::string json;
  std::string csv;
  std::string svg;
  std::vector<std::int64_t> products = {1000};
  double seconds = 0.5;
  int groups = 11;
  double patience = 60;
  bool no_cold = false;
  bool from_device = false;
  std::uint64_t seed = 1;
  bool formats_given = false;
  bool solve = false;
  SolveBenchOptions solving;  ///< what goes with --solve only, and what it shares is put there when it runs
  std::vector<std::string> not_for_solve = {};  ///< options that were given and do not go with --solve
  std::vector<std::string> for_solve_only = {};
};

/// Runs all matrices and shows each table as soon as it is there.
class BenchSession {
 public:
  explicit BenchSession(const BenchOptions& options);

  /// Throws as reading the matrix does; what fails in measuring is in the report.
  void run(const std::string& source);

  /// A matrix of a folder that cannot be read is reported and left out: one of hundreds must not end the run.
  void run_or_tell(const std::string& source);

  void print_summary() const;

  const bench::Report& report() const { return report_; }

 private:
  void plan_for_each_number();
  template <Value V>
  void measure_matrix(const std::string& source, const Csr<V>& matrix);
  template <Value V>
  void measure_vectors(const std::string& source, const Csr<V>& matrix, int vectors);

  const BenchOptions& options_;
  bool shows_tables_;
  std::vector<std::string> formats_;
  bench::Report report_;
};

}  // namespace weft::app
