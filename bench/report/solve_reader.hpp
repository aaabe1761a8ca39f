#pragma once
#include <string>
#include <string_view>

#include "bench/harness/solve_result.hpp"

namespace weft::bench {

/// Whether a text is what `weft bench --solve --json` wrote, as far as its name for itself tells.
bool is_solve_report(std::string_view text, const std::string& name);

/// Reads that. Throws Error(parse) with a sentence that names the place when it is not such a result; `name` is used
/// there as the file's name.
SolveBenchReport parse_solve_report(std::string_view text, const std::string& name);

}  // namespace weft::bench
