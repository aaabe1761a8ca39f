#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "place.hpp"

/// Files of JSON that anybody may have written: read within limits, with one sentence for what is wrong with them.
namespace weft::bench {

/// Larger files are no results of ours.
constexpr std::size_t most_result_bytes = 64u << 20;

/// The bytes of a file, which is cut when it is larger than that. `kind` completes "expected a file with ...". Throws
/// Error(io) when it cannot be read.
std::string read_text(const std::string& path, const std::string& kind);

/// Text as JSON; `name` is used in sentences as the file's name. Throws Error(parse) when it is not JSON, or has more
/// values or levels than anybody measures.
Place::Json parse_json(std::string_view text, const std::string& name, const std::string& kind);

/// Results as text: a line per measurement, so that files can be compared.
std::string text_of_results(const nlohmann::ordered_json& all);

}  // namespace weft::bench
