#pragma once
#include <weft/types.hpp>

#include <cstdint>

namespace weft::generation {

/// A bijection of 64-bit words whose output looks random: the finaliser of SplitMix64.
/// Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
constexpr std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// Random numbers by position instead of by turn: number `counter` of (seed, stream) is computed from these three
/// alone, so every thread can make its own entries and the matrix does not depend on who made which. Integer arithmetic
/// and exact conversions only: the same bits on every machine, unlike the standard library's distributions.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : key_(mix(mix(seed + golden) + stream * golden)) {}

  /// An independent generator for part `stream` of what this one stands for.
  constexpr Random stream(std::uint64_t stream) const { return Random(key_, stream); }

  constexpr std::uint64_t bits(std::uint64_t counter) const { return mix(key_ + (counter + 1) * golden); }

  /// Uniform in 0..n-1; n must be in 1..2^32-1. The high half of a 64 x 32 bit product, so the bias is below 2^-32.
  constexpr std::int64_t below(std::int64_t n, std::uint64_t counter) const {
    const std::uint64_t word = bits(counter);
    const auto bound = static_cast<std::uint64_t>(n);
    return static_cast<std::int64_t>(((word >> 32) * bound + (((word & 0xffffffffu) * bound) >> 32)) >> 32);
  }

  /// Uniform in (-1, 1), never 0: an odd multiple of 2^-52.
  constexpr double uniform(std::uint64_t counter) const {
    return static_cast<double>(2 * (bits(counter) >> 12) + 1) * 0x1p-52 - 1.0;
  }

  /// Uniform in (0, 1).
  constexpr double fraction(std::uint64_t counter) const {
    return static_cast<double>(2 * (bits(counter) >> 12) + 1) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  std::uint64_t key_;
};

/// Random numbers by turn, for loops that do not know beforehand how many they need.
class RandomSequence {
 public:
  constexpr explicit RandomSequence(Random random) : random_(random) {}
  constexpr std::int64_t below(std::int64_t n) { return random_.below(n, next_++); }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

/// Writes `count` distinct numbers of 0..n-1 to `out`, ascending; every subset is equally likely. count <= n.
void sample_distinct(RandomSequence random, std::int64_t count, std::int64_t n, Index* out);

}  // namespace weft::generation
