#pragma once
#include <string>

#include "bench/harness/result.hpp"

namespace weft::bench {

/// What was measured on one matrix: a table of times, and below it one of how the formats store the matrix. No wider
/// than a page unless a name is very long.
std::string tables_of(const Case& one, bool with_peers);

/// Broken between words into lines no wider than a page, each with its end.
std::string paragraph(const std::string& text);

}  // namespace weft::bench
