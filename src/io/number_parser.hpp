#pragma once
#include <weft/types.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "io/text_cursor.hpp"

namespace weft::io {

/// The scanners below read from a text that has a newline at or before `end - 1`, so that no loop over digits or blanks
/// needs to look for the end. They return where they stopped, or nullptr when there is no such number.

inline const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

/// A whole number from 1 to `most`, stored counted from 0.
inline const char* scan_index(const char* at, std::uint32_t most, Index& index) {
  at = skip_blanks(at);
  const char* const begin = at;
  std::uint64_t number = 0;
  while (is_digit(*at)) {
    number = number * 10 + static_cast<std::uint64_t>(*at++ - '0');
    if (number > most) return nullptr;
  }
  if (at == begin || number == 0) return nullptr;
  index = static_cast<Index>(number - 1);
  return at;
}

/// Every unusual number: a leading +, Fortran's D exponent, one too small to tell from zero. nullptr for one that is too
/// large, not finite, or no number.
template <Value V>
const char* scan_unusual_real(const char* at, const char* end, V& value);

/// A finite decimal number, rounded to the nearest V.
template <Value V>
inline const char* scan_real(const char* at, const char* end, V& value) {
  at = skip_blanks(at);
  if constexpr (std::same_as<V, double>) {
    // Short numbers: both the digits (below 2^53) and the power of ten are exact in f64, so one division rounds once.
    static constexpr std::array<double, 20> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                                      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
    const char* digit = at;
    const bool negative = *digit == '-';
    digit += negative;
    std::uint64_t number = 0;
    const char* const whole = digit;
    while (is_digit(*digit)) number = number * 10 + static_cast<std::uint64_t>(*digit++ - '0');
    std::ptrdiff_t digits = digit - whole;
    std::ptrdiff_t decimals = 0;
    if (*digit == '.') {
      const char* const fraction = ++digit;
      while (is_digit(*digit)) number = number * 10 + static_cast<std::uint64_t>(*digit++ - '0');
      decimals = digit - fraction;
      digits += decimals;
    }
    if (digits > 0 && digits < 20 && number < (std::uint64_t{1} << 53) && is_space(*digit)) {
      const double magnitude = static_cast<double>(number) / powers[static_cast<std::size_t>(decimals)];
      value = negative ? -magnitude : magnitude;
      return digit;
    }
  }
  const auto [stopped, error] = std::from_chars(at, end, value);
  if (error == std::errc{} && is_space(*stopped) && std::isfinite(value)) return stopped;
  return scan_unusual_real(at, end, value);
}

/// A whole number that fits 64 bits (signed or unsigned), rounded to the nearest V.
template <Value V>
inline const char* scan_integer(const char* at, const char* end, V& value) {
  at = skip_blanks(at);
  if (*at == '+' && is_digit(at[1])) ++at;
  if (*at == '-') {
    std::int64_t number = 0;
    const auto [stopped, error] = std::from_chars(at, end, number);
    value = static_cast<V>(number);
    return error == std::errc{} ? stopped : nullptr;
  }
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(at, end, number);
  value = static_cast<V>(number);
  return error == std::errc{} ? stopped : nullptr;
}

/// What is wrong with `word` where a value belongs, as the end of a sentence.
template <Value V>
std::string explain_value(std::string_view word, bool integer);

}  // namespace weft::io
