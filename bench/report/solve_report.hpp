#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/harness/solve_result.hpp"
#include "svg.hpp"

// What `weft bench --solve` measured, for people and for programs. solve_schema.json describes the JSON.
namespace weft::bench {

inline constexpr const char* solve_tool = "weft bench --solve";  ///< as the JSON names it

/// A line for each solver; who is the soonest.
std::string tables_of(const SolveCase& one, bool with_peers);

nlohmann::ordered_json to_json(const SolveCase& one);
nlohmann::ordered_json to_json(const SolveBenchReport& report);

/// The JSON as it is kept in files: a line for each measurement.
std::string to_text(const SolveBenchReport& report);

/// One line per measurement under a line of names; a failed one has its sentence in the last column.
std::string to_csv(const SolveBenchReport& report);

/// The time to the answer as bars: plan, preconditioner and solve, on a scale of the matrix's own.
svg::Panel solve_panel(const SolveCase& one);

/// The same for all matrices below each other: a complete SVG document.
std::string solve_chart_svg(const SolveBenchReport& report);

}  // namespace weft::bench
