#pragma once
#include <string>
#include <vector>

#include "bench/paper_bro.hpp"
#include "bench/report.hpp"
#include "options.hpp"

namespace weft::app {

/// `weft bench --paper bro`.
struct PaperOptions {
  const ReadingOptions& reading;
  std::vector<std::string> sources;  ///< none: the paper's matrices that can be generated
  std::string json;
  bench::RunOptions run;
};
int run_paper_bro(const PaperOptions& options);

/// The paper's tables and figures, as tables.
std::string savings_table(const std::vector<bench::BroCase>& cases);
std::string speed_table(const std::vector<bench::BroCase>& cases);
std::string ordering_table(const std::vector<bench::BroCase>& cases);
std::string sweep_table(const bench::BroSweep& sweep);

}  // namespace weft::app
