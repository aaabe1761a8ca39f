#pragma once
#include <string>
#include <vector>

#include "bench/paper_ehyb.hpp"

namespace weft::app {

/// The paper's tables and figures, as tables, of the cases of one type.
std::string ehyb_speed_table(const std::vector<bench::EhybCase>& cases, ValueType type, Device device);
std::string ehyb_speedup_table(const std::vector<bench::EhybCase>& cases, ValueType type, Device device);
std::string ehyb_preparation_table(const std::vector<bench::EhybCase>& cases);

}  // namespace weft::app
