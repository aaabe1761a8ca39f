#include "numbers.hpp"

#include <fmt/format.h>
#include <weft/order.hpp>

#include <cmath>

namespace weft::bench {
namespace {

/// Three significant digits, never in powers of ten.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3; place -= 3) digits.insert(place - 3, ",");
  return digits;
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : three_digits(bytes) + " " + units[unit];
}

std::string percent_text(double share) { return three_digits(share * 100) + " %"; }

std::string padding_text(std::int64_t padding, std::int64_t entries) {
  if (padding == 0) return "0 %";
  const double share = entries > 0 ? static_cast<double>(padding) / static_cast<double>(entries) : 0;
  return share < 9.995 ? percent_text(share) : count_text(std::llround(share)) + "x";
}

std::string with_noun(std::int64_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string one_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

std::string one_of_orderings() {
  std::vector<std::string> names;
  for (const Ordering ordering : orderings()) names.emplace_back(to_string(ordering));
  return one_of(names);
}

std::string layout_name(Layout layout) { return layout == Layout::row_major ? "row" : "column"; }

std::string vectors_text(int vectors, Layout layout) {
  return vectors == 1 ? "" : fmt::format(", {} vectors, {}-major", vectors, layout_name(layout));
}

}  // namespace weft::bench
