#pragma once
#include <string>
#include <vector>

#include "bench/paper_bro.hpp"
#include "paper.hpp"

namespace weft::app {

/// The paper's tables and figures, as tables.
std::string savings_table(const std::vector<bench::BroCase>& cases);
std::string speed_table(const std::vector<bench::BroCase>& cases);
std::string ordering_table(const std::vector<bench::BroCase>& cases);
std::string sweep_table(const bench::BroSweep& sweep);

}  // namespace weft::app
