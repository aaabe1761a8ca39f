#include "formats/padding_limit.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstdio>

namespace weft {
namespace {

constexpr double always_allowed_bytes = 16e6;  // whatever the padding: nobody runs out of memory for it

std::string in_words(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 1e9 ? "%.0f MB" : "%.3g GB", bytes < 1e9 ? bytes / 1e6 : bytes / 1e9);
  return text;
}

}  // namespace

ParameterInfo padding_parameter() {
  return {.name = "padding",
          .summary = "how many times the entries may be stored; else 3 times",
          .least = 1,
          .most = max_padding_limit,
          .limit = true};
}

std::string refuses_padding() {
  return "padding that would store over 3 times the entries, and over 16 MB (raise it by padding=N)";
}

std::string padding_over(std::int64_t limit, Offset stored, Offset kept, std::size_t entry_bytes) {
  const double bytes = static_cast<double>(stored) * static_cast<double>(entry_bytes);
  if (bytes <= always_allowed_bytes ||
      static_cast<double>(stored) <= static_cast<double>(limit) * static_cast<double>(kept))
    return {};
  char times[32];
  std::snprintf(times, sizeof times, "%.3g",
                static_cast<double>(stored) / static_cast<double>(std::max<Offset>(kept, 1)));
  return in_words(bytes) + ", " + times + " times the entries";
}

void require_little_padding(const std::string& format, Offset stored, Offset kept, std::size_t entry_bytes,
                            const BuildOptions& options, const std::string& instead) {
  const std::string needs =
      padding_over(options.parameter("padding", default_padding_limit), stored, kept, entry_bytes);
  if (needs.empty()) return;
  const Offset allows = stored / std::max<Offset>(kept, 1) + 1;
  const std::string allow = allows <= max_padding_limit
                                ? "allow " + format + ":padding=" + std::to_string(allows) + ", or use " + instead
                                : "use " + instead;
  throw Error(ErrorCode::unsupported, format + " needs " + needs + ": " + allow);
}

void require_little_padding_in_part(const std::string& part, const std::string& hybrid, Offset stored, Offset kept,
                                    std::size_t entry_bytes, const BuildOptions& options) {
  const std::string needs =
      padding_over(options.parameter("padding", default_padding_limit), stored, kept, entry_bytes);
  if (!needs.empty())
    throw Error(ErrorCode::unsupported,
                "the " + part + " part of " + hybrid + " needs " + needs + ": use a smaller k, or none");
}

}  // namespace weft
