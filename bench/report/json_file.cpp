#include "json_file.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft::bench {
namespace {

using Json = Place::Json;

// What nobody measures; beyond, a small file could ask for much memory or a page nobody can open.
constexpr std::size_t most_values = 4'000'000;
constexpr int most_levels = 16;

}  // namespace

Json parse_json(std::string_view text, const std::string& name, const std::string& kind) {
  if (text.size() > most_result_bytes)
    throw Error(ErrorCode::parse,
                fmt::format("{}: larger than {} MiB, expected {}", name, most_result_bytes >> 20, kind));
  std::size_t values = 0;
  const auto count = [&](int depth, Json::parse_event_t, Json&) {
    if (++values > most_values || depth > most_levels)
      throw Error(ErrorCode::parse, fmt::format("{}: too many values or levels, expected {}", name, kind));
    return true;
  };
  try {
    return Json::parse(text, count);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": the tag is nothing for users.
    // The last token may be as long as the file.
    std::string_view sentence = error.what();
    sentence.remove_prefix(std::min(sentence.find("] ") + 2, sentence.size()));
    throw Error(ErrorCode::parse, fmt::format("{}: {}, expected {} as JSON", name, sentence.substr(0, 200), kind));
  }
}

std::string read_text(const std::string& path, const std::string& kind) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text(1 << 16, '\0');
  std::size_t used = 0;
  while (used <= most_result_bytes && file.read(text.data() + used, static_cast<std::streamsize>(text.size() - used))) {
    used = text.size();
    text.resize(2 * used);
  }
  used += static_cast<std::size_t>(file.gcount());
  if (used <= most_result_bytes && !file.eof())
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read, expected a file with {}", path, kind));
  text.resize(used);
  return text;
}

std::string text_of_results(const nlohmann::ordered_json& all) {
  using Json = nlohmann::ordered_json;
  const auto written = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  const auto field = [&](const std::string& key, const Json& value) {
    return fmt::format("{}: {}", Json(key).dump(), written(value));
  };
  std::string text = "{\n";
  for (const auto& [key, value] : all.items())
    if (key != "cases") text += field(key, value) + ",\n";
  text += "\"cases\": [";
  std::string before_case = "\n";
  for (const Json& one : all["cases"]) {
    text += std::exchange(before_case, ",\n") + "{";
    for (const auto& [key, value] : one.items())
      if (key != "measurements") text += field(key, value) + ",\n ";
    text += "\"measurements\": [";
    std::string before = "\n  ";
    for (const Json& m : one["measurements"]) text += std::exchange(before, ",\n  ") + written(m);
    text += "]}";
  }
  return text + "]\n}\n";
}

}  // namespace weft::bench
