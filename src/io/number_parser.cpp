#include "io/number_parser.hpp"

#include <algorithm>
#include <string>

namespace weft::io {
namespace {

enum class Unusual { number, too_large, not_finite, no_number };

/// Whether a decimal number that no V holds lies near zero rather than near infinity: where its first nonzero digit
/// stands.
bool is_tiny(std::string_view number) {
  std::size_t at = number.find_first_of("123456789");
  const std::size_t exponent_mark = number.find('e');
  if (at == std::string_view::npos || at > exponent_mark) return true;
  const std::size_t point = std::min(number.find('.'), std::min(exponent_mark, number.size()));
  long long exponent = 0;
  if (exponent_mark != std::string_view::npos) {
    const char* first = number.data() + exponent_mark + 1;
    if (*first == '+') ++first;
    if (std::from_chars(first, number.data() + number.size(), exponent).ec == std::errc::result_out_of_range)
      return *first == '-';
  }
  const auto place = static_cast<long long>(point) - static_cast<long long>(at);
  return exponent < -place;
}

/// Reads `word` after rewriting what std::from_chars does not take.
template <Value V>
Unusual read_word(std::string_view word, V& value) {
  std::string number(word);
  if (number.size() > 1 && number.front() == '+' && number[1] != '-' && number[1] != '+') number.erase(0, 1);
  for (std::size_t i = 1; i < number.size(); ++i) {
    const bool after_digits = is_digit(number[i - 1]) || number[i - 1] == '.';
    if (after_digits && (number[i] == 'd' || number[i] == 'D' || number[i] == 'E')) number[i] = 'e';
  }
  const char* const end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, value);
  if (stopped != end || error == std::errc::invalid_argument) return Unusual::no_number;
  if (error == std::errc::result_out_of_range || (std::isinf(value) && number.find_first_of("0123456789") < 2)) {
    if (!is_tiny(number)) return Unusual::too_large;
    value = number.front() == '-' ? V(-0.0) : V(0);
    return Unusual::number;
  }
  return std::isfinite(value) ? Unusual::number : Unusual::not_finite;
}

}  // namespace

template <Value V>
const char* scan_unusual_real(const char* at, const char* end, V& value) {
  const auto [stopped, error] = std::from_chars(at, end, value);
  if (error == std::errc{} && is_space(*stopped) && std::isfinite(value)) return stopped;
  const char* const stop = std::find_if(at, end, is_space);
  return read_word({at, stop}, value) == Unusual::number ? stop : nullptr;
}

template <Value V>
std::string explain_value(std::string_view word, bool integer) {
  V value{};
  switch (read_word(word, value)) {
    case Unusual::too_large:
      return "the value " + quoted(word) + " is too large for " + std::string(to_string(value_type<V>));
    case Unusual::not_finite:
      return "the value " + quoted(word) + " is not a finite number";
    case Unusual::no_number:
      return quoted(word) + " stands where a value belongs";
    case Unusual::number:
      break;
  }
  if (!integer) return {};
  return "the value " + quoted(word) +
         (value == std::trunc(value) ? " does not fit 64 bits" : " is not a whole number, as the header promises");
}

#define WEFT_INSTANTIATE(V)                                                \
  template const char* scan_unusual_real<V>(const char*, const char*, V&); \
  template std::string explain_value<V>(std::string_view, bool);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::io
