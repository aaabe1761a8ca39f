#pragma once
#include <weft/types.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/text_cursor.hpp"
#include "io/decimal_to_double.hpp"

namespace weft::io {

/// The scanners below read from a text whose last character, at `end - 1`, is a newline: no loop over digits or blanks
/// needs to look for the end. They return where they stopped, or nullptr when there is no such number.

inline const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}

/// A run of decimal digits: how many, and their number modulo 2^64 (exact up to 19 digits).
struct Digits {
  std::uint64_t number = 0;
  std::ptrdiff_t count = 0;
};

/// Adds the digits at `at` to `digits`, eight bytes a step, and moves behind them.
[[gnu::always_inline]] inline void scan_digits(const char*& at, const char* end, Digits& digits) {
  static_assert(std::endian::native == std::endian::little);
  static constexpr std::array<std::uint64_t, 8> powers = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  while (end - at >= 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, 8);
    bytes ^= 0x3030303030303030;  // digits become 0..9, all else 10 or more
    const std::uint64_t others = (((bytes & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | bytes) & 0x8080808080808080;
    const int run = others ? std::countr_zero(others) >> 3 : 8;
    if (run == 0) return;
    bytes <<= 64 - 8 * run;  // digits to the high bytes, as if zeros led them
    bytes = bytes * 10 + (bytes >> 8);
    bytes = (bytes & 0x00ff00ff00ff00ff) * 100 + ((bytes >> 16) & 0x00ff00ff00ff00ff);
    bytes = (bytes & 0x0000ffff0000ffff) * 10000 + ((bytes >> 32) & 0x0000ffff0000ffff);
    at += run;
    digits.count += run;
    if (run < 8) {
      digits.number = digits.number * powers[run] + (bytes & 0xffffffff);
      return;
    }
    digits.number = digits.number * 100000000 + (bytes & 0xffffffff);
  }
  for (; is_digit(*at); ++at, ++digits.count)
    digits.number = digits.number * 10 + static_cast<std::uint64_t>(*at - '0');
}

/// A whole number from 1 to `most`, stored counted from 0.
inline const char* scan_index(const char* at, const char* end, std::uint32_t most, Index& index) {
  at = skip_blanks(at);
  Digits digits;
  scan_digits(at, end, digits);
  // 0 minus 1 wraps to a number that is too large as well.
  if (digits.number - 1 >= most || digits.count > 19) return nullptr;
  index = static_cast<Index>(digits.number - 1);
  return at;
}

/// Every unusual number: a leading +, Fortran's D exponent, one too small to tell from zero. nullptr for one that is
/// too large, not finite, or no number.
template <Value V>
const char* scan_unusual_real(const char* at, const char* end, V& value);

/// A number as files usually write it: up to 19 digits with or without a point and a small exponent. nullptr for
/// others.
[[gnu::always_inline]] inline const char* scan_usual_real(const char* at, const char* end, double& value) {
  const bool negative = *at == '-';
  at += negative;
  Digits digits;
  if (is_digit(*at) && at[1] == '.') {  // nearly all numbers of scientific files
    digits = {static_cast<std::uint64_t>(*at++ - '0'), 1};
  } else {
    scan_digits(at, end, digits);
  }
  std::ptrdiff_t exponent = 0;
  if (*at == '.') {
    const std::ptrdiff_t whole = digits.count;
    scan_digits(++at, end, digits);
    exponent = whole - digits.count;
  }
  if (digits.count == 0 || digits.count > 19) return nullptr;
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool minus = *at == '-';
    at += minus || *at == '+';
    Digits power;
    scan_digits(at, end, power);
    if (power.count == 0 || power.count > 3) return nullptr;
    exponent += minus ? -static_cast<std::ptrdiff_t>(power.number) : static_cast<std::ptrdiff_t>(power.number);
  }
  if (!is_space(*at) || !decimal_to_double(digits.number, exponent, value)) return nullptr;
  if (negative) value = -value;
  return at;
}

/// A finite decimal number, rounded to the nearest V.
template <Value V>
[[gnu::always_inline]] inline const char* scan_real(const char* at, const char* end, V& value) {
  at = skip_blanks(at);
  if constexpr (std::same_as<V, double>)
    if (const char* const stopped = scan_usual_real(at, end, value)) return stopped;
  return scan_unusual_real(at, end, value);
}

/// A whole number that fits 64 bits (signed or unsigned), rounded to the nearest V. It may be written 5.0 or 5e0; such
/// a one must still fit after it was rounded.
template <Value V>
inline const char* scan_integer(const char* at, const char* end, V& value) {
  at = skip_blanks(at);
  const bool negative = *at == '-';
  const char* digit = at + (negative || *at == '+');
  Digits digits;
  const char* stopped = digit;
  scan_digits(stopped, end, digits);
  if (digits.count > 0 && is_space(*stopped)) {
    std::uint64_t magnitude = 0;
    constexpr std::uint64_t most_negative = std::uint64_t{1} << 63;
    const std::errc error = std::from_chars(digit, end, magnitude).ec;
    if (error != std::errc{} || (negative && magnitude > most_negative)) return nullptr;
    value = negative ? -static_cast<V>(magnitude) : static_cast<V>(magnitude);
    return stopped;
  }
  stopped = scan_real(at, end, value);
  const bool fits = value >= V(-0x1p63) && value < V(0x1p64);
  return stopped && fits && value == std::trunc(value) ? stopped : nullptr;
}

/// What is wrong with `word` where a value belongs, as the end of a sentence; empty when nothing is.
template <Value V>
std::string explain_value(std::string_view word, bool integer);

}  // namespace weft::io
