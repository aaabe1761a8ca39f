#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/harness/result.hpp"

namespace weft::bench {

nlohmann::ordered_json to_json(const Machine& machine);
nlohmann::ordered_json to_json(const Measurement& m);
nlohmann::ordered_json to_json(const Case& one);
nlohmann::ordered_json to_json(const Report& report);

/// The JSON as it is kept in files: a line for each measurement, so that two of them can be compared by eye.
std::string to_text(const Report& report);

std::string csv_text(const std::string& text);  ///< quoted where it must be
std::string csv_cell(const nlohmann::ordered_json& value);

/// One line a measurement under a line of names; a failed one has its sentence in the last column.
std::string to_csv(const Report& report);

}  // namespace weft::bench
