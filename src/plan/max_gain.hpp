#pragma once
#include "formats/registry.hpp"

namespace weft {

/// The largest share of csr's time that a format can save. It must at least read the values, of a symmetric matrix half
/// of them if it stores halves, where csr reads values and columns. And where others gain, csr may use as little as
/// this share of the memory bandwidth (bench/NOTES.md), of which a format could use all.
template <Value V>
double max_gain(const Format& format, Symmetry symmetry) {
  constexpr double csr_of_bandwidth = 0.6;
  const bool half = format.stores_halves && symmetry != Symmetry::general;
  const double values = static_cast<double>(sizeof(V)) * (half ? 0.5 : 1.0);
  return 1 - csr_of_bandwidth * values / static_cast<double>(sizeof(V) + sizeof(Index));
}

}  // namespace weft
