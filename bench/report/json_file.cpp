#include "json_file.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

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

}  // namespace weft::bench
