#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::io {

/// The leading 128 bits of powers of five, for D. Lemire, "Number parsing at a gigabyte per second" (2021), section 5:
/// rounded up for the negative powers down to -27, whose product with 64 bits is then exact enough, else cut off.
class PowersOfFive {
 public:
  static constexpr int least = -64, most = 55;
  struct Power {
    std::uint64_t high, low;
  };

  constexpr PowersOfFive() {
    Wide number{0, 0, 0, std::uint64_t{1} << 63};
    for (int q = 0; q <= most; ++q) {
      powers_[q - least] = {number[3], number[2]};
      multiply_by_five(number);
    }
    number = {0, 0, 0, std::uint64_t{1} << 63};
    for (int q = -1; q >= least; --q) {
      divide_by_five(number);
      const std::uint64_t round_up = q >= -27;
      powers_[q - least] = {number[3] + (number[2] + round_up < number[2]), number[2] + round_up};
    }
  }
  constexpr const Power& operator[](std::ptrdiff_t q) const { return powers_[static_cast<std::size_t>(q - least)]; }

 private:
  using Wide = std::array<std::uint64_t, 4>;  ///< 256 bits, the lowest first; the highest bit is always set

  static constexpr void shift_left(Wide& number) {
    const int bits = std::countl_zero(number[3]);
    if (bits == 0) return;
    for (std::size_t limb = 3; limb > 0; --limb) number[limb] = number[limb] << bits | number[limb - 1] >> (64 - bits);
    number[0] <<= bits;
  }
  static constexpr void multiply_by_five(Wide& number) {
    for (std::size_t limb = 0; limb < 3; ++limb) number[limb] = number[limb] >> 3 | number[limb + 1] << 61;
    number[3] >>= 3;
    std::uint64_t carry = 0;
    for (std::uint64_t& limb : number) {
      const std::uint64_t low = (limb & 0xffffffff) * 5 + carry, high = (limb >> 32) * 5 + (low >> 32);
      limb = high << 32 | (low & 0xffffffff);
      carry = high >> 32;
    }
    shift_left(number);
  }
  static constexpr void divide_by_five(Wide& number) {
    std::uint64_t rest = 0;
    for (std::size_t limb = 4; limb-- > 0;) {
      const std::uint64_t high = rest << 32 | number[limb] >> 32;
      const std::uint64_t low = high % 5 << 32 | (number[limb] & 0xffffffff);
      number[limb] = high / 5 << 32 | low / 5;
      rest = low % 5;
    }
    shift_left(number);
  }

  std::array<Power, most - least + 1> powers_{};
};

/// number * 10^exponent rounded to the nearest f64. False where this method cannot tell or the exponent is unusual: use
/// std::from_chars then.
[[gnu::always_inline]] inline bool decimal_to_double(std::uint64_t number, std::ptrdiff_t exponent, double& value) {
  static constexpr PowersOfFive powers;
  if (number == 0) {
    value = 0;
    return true;
  }
  if (exponent < PowersOfFive::least || exponent > PowersOfFive::most) return false;
  __extension__ using Product = unsigned __int128;
  const int zeros = std::countl_zero(number);
  number <<= zeros;
  const PowersOfFive::Power& power = powers[exponent];
  Product product = static_cast<Product>(number) * power.high;
  auto high = static_cast<std::uint64_t>(product >> 64), low = static_cast<std::uint64_t>(product);
  // 55 bits of the product decide; when all bits below them are set, the power's lower half may still carry into them.
  if ((high & 0x1ff) == 0x1ff) {
    const auto more = static_cast<std::uint64_t>(static_cast<Product>(number) * power.low >> 64);
    low += more;
    high += low < more;
    if (low == ~std::uint64_t{0} && exponent < -27) return false;
  }
  const int upper = static_cast<int>(high >> 63);
  std::uint64_t mantissa = high >> (upper + 9);
  // floor(log2(10^exponent)) by a multiplication that is exact in this range.
  int power_of_two = static_cast<int>((exponent * 217706) >> 16) + 63 + upper - zeros + 1023;
  // Half-way cases are only possible for these exponents: round to even.
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << (upper + 9) == high)
    mantissa &= ~std::uint64_t{1};
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  if (mantissa >> 53) {
    mantissa >>= 1;
    ++power_of_two;
  }
  value = std::bit_cast<double>((mantissa & ((std::uint64_t{1} << 52) - 1)) | static_cast<std::uint64_t>(power_of_two)
                                                                                  << 52);
  return true;
}

}  // namespace weft::io
