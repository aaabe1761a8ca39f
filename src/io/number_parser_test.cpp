#include "io/number_parser.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

namespace weft::io {
namespace {

template <Value V>
const char* scan(const std::string& line, V& value) {
  return scan_real(line.data(), line.data() + line.size(), value);
}

template <Value V>
void expect_reads_as_from_chars(const std::string& number) {
  V expected{}, value{};
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), expected);
  ASSERT_EQ(parsed.ec, std::errc{}) << number;
  ASSERT_NE(scan(number + "\n", value), nullptr) << number;
  using Bits = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
  ASSERT_EQ(std::bit_cast<Bits>(value), std::bit_cast<Bits>(expected)) << number;
}

TEST(NumberParser, RoundsEveryShapeOfNumberToTheNearest) {
  std::mt19937_64 random(20240501);
  for (int i = 0; i < 300000; ++i) {
    const int digits = 1 + static_cast<int>(random() % 21);
    std::string number = random() % 2 ? "-" : "";
    const int point = static_cast<int>(random() % (digits + 3));
    for (int d = 0; d < digits; ++d) {
      if (d == point && d > 0) number += '.';
      number += static_cast<char>('0' + random() % 10);
    }
    if (random() % 2) number += "e" + std::to_string(static_cast<int>(random() % 180) - 90);
    expect_reads_as_from_chars<double>(number);
  }
}

TEST(NumberParser, RoundsHalfWayCasesToEven) {
  for (const char* number : {"9007199254740993", "9007199254740995", "18014398509481986", "1.5", "4503599627370496.5",
                             "4503599627370497.5", "9007199254740993e1", "9007199254740993e22", "0.5e-3", "5e-324",
                             "2.2250738585072011e-308", "1.7976931348623157e308", "9007199254740992.99999999999999",
                             "1152921504606847104", "1152921504606847232e3", "6.0221408e23", "1e22", "1e23", "1e-27"})
    expect_reads_as_from_chars<double>(number);
}

TEST(NumberParser, ReadsBackEveryBitPattern) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto number = std::bit_cast<double>(random());
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    char text[64];
    if (std::isfinite(number)) expect_reads_as_from_chars<double>({text, std::to_chars(text, text + 64, number).ptr});
    if (std::isfinite(single)) expect_reads_as_from_chars<float>({text, std::to_chars(text, text + 64, single).ptr});
  }
}

TEST(NumberParser, TakesPlusSignsAndFortranExponents) {
  double value = 0;
  EXPECT_NE(scan<double>("+1.5\n", value), nullptr);
  EXPECT_EQ(value, 1.5);
  EXPECT_NE(scan<double>("-1.5D+03\n", value), nullptr);
  EXPECT_EQ(value, -1500);
  EXPECT_NE(scan<double>("2.d-1 \n", value), nullptr);
  EXPECT_EQ(value, 0.2);
  EXPECT_NE(scan<double>(".25\n", value), nullptr);
  EXPECT_EQ(value, 0.25);
}

TEST(NumberParser, TooSmallIsZeroAndTooLargeIsRefused) {
  double value = 1;
  EXPECT_NE(scan<double>("1e-400\n", value), nullptr);
  EXPECT_EQ(value, 0);
  EXPECT_NE(scan<double>("-0.0000001e-99999999999999999999\n", value), nullptr);
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(std::signbit(value));
  EXPECT_EQ(scan<double>("1e400\n", value), nullptr);
  EXPECT_EQ(scan<double>("0.001e99999999999999999999\n", value), nullptr);
  EXPECT_EQ(scan<double>(std::string(400, '9') + "\n", value), nullptr);
  float single = 1;
  EXPECT_EQ(scan<float>("1e39\n", single), nullptr);
  EXPECT_NE(scan<float>("1e-60\n", single), nullptr);
  EXPECT_EQ(single, 0);
}

TEST(NumberParser, RefusesWhatIsNoFiniteNumber) {
  double value = 0;
  for (const char* text :
       {"nan\n", "inf\n", "-inf\n", "Infinity\n", "nan(1)\n", "abc\n",   "\n",     "-\n",   "+\n",   "+-1\n", "--1\n",
        "1e\n",  "1e+\n", "e5\n",   ".\n",        "-.\n",     "1.2.3\n", "0x10\n", "1,5\n", "1_0\n", "1f\n"})
    EXPECT_EQ(scan<double>(text, value), nullptr) << text;
}

TEST(NumberParser, IndicesAreCheckedAgainstTheirRange) {
  const auto index_of = [](std::string text, std::uint32_t most) -> std::int64_t {
    text += '\n';
    Index index = 0;
    return scan_index(text.data(), text.data() + text.size(), most, index) ? index : -1;
  };
  EXPECT_EQ(index_of("1", 5), 0);
  EXPECT_EQ(index_of("  5", 5), 4);
  EXPECT_EQ(index_of("0", 5), -1);
  EXPECT_EQ(index_of("6", 5), -1);
  EXPECT_EQ(index_of("-1", 5), -1);
  EXPECT_EQ(index_of("", 5), -1);
  EXPECT_EQ(index_of("1", 0), -1);
  EXPECT_EQ(index_of("2147483647", 2147483647), 2147483646);
  EXPECT_EQ(index_of("2147483648", 2147483647), -1);
  EXPECT_EQ(index_of("12345678 ", 20000000), 12345677);
  EXPECT_EQ(index_of("00000000000000012", 20), 11);
  EXPECT_EQ(index_of("18446744073709551617", 20), -1) << "2^64 + 1 must not wrap to 1";
}

TEST(NumberParser, IntegersMustBeWholeAndFit64Bits) {
  const auto integer = [](std::string text) {
    text += '\n';
    double value = 0.5;
    const char* stopped = scan_integer(text.data(), text.data() + text.size(), value);
    return stopped && *stopped == '\n' ? value : 0.5;
  };
  EXPECT_EQ(integer("42"), 42);
  EXPECT_EQ(integer("-42"), -42);
  EXPECT_EQ(integer("+7"), 7);
  EXPECT_EQ(integer("5.0"), 5);
  EXPECT_EQ(integer("9223372036854775807"), 0x1p63);
  EXPECT_EQ(integer("-9223372036854775808"), -0x1p63);
  EXPECT_EQ(integer("18446744073709551615"), 0x1p64);
  EXPECT_EQ(integer("18446744073709551616"), 0.5);
  EXPECT_EQ(integer("-9223372036854775809"), 0.5);
  EXPECT_EQ(integer("19223372036854775808"), 0.5);
  EXPECT_EQ(integer("1e19"), 1e19);
  EXPECT_EQ(integer("-9.223372036854775808e18"), -0x1p63);
  EXPECT_EQ(integer("1e30"), 0.5);
  EXPECT_EQ(integer("-1e19"), 0.5);
  EXPECT_EQ(integer("1.5"), 0.5);
  EXPECT_EQ(integer("x"), 0.5);
}

}  // namespace
}  // namespace weft::io
