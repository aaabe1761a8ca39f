#pragma once
#include <string>
#include <vector>

#include "bench/harness/solve_result.hpp"

namespace weft::bench {

struct SolveReportFile {
  std::string path;
  SolveBenchReport report;
};

/// One HTML page that needs nothing else, like report_page: for each matrix the time to the answer as bars and as a
/// table. Everything from the files is escaped.
std::string solve_page(const std::vector<SolveReportFile>& files);

}  // namespace weft::bench
