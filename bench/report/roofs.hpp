#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "bench/harness/result.hpp"

/// What a product can be limited by: reading at a measured bandwidth, and executing its instructions.
namespace weft::bench {

/// A bandwidth that was measured.
struct Roof {
  double bandwidth = 0;   ///< bytes per second
  std::size_t bytes = 0;  ///< read again and again, for that of caches; 0 for that of the memory

  std::string name() const;  ///< "memory, 17.2 GB/s", "8.4 MB in caches, 120 GB/s"
};

/// The memory's first, then those of caches, rising. Without the memory's there are none; caches that are hardly faster
/// than what comes before them are left out.
std::vector<Roof> roofs_of(const Report& report);

/// Bytes that a product must move: the stored matrix, x and y, once each.
double bytes_moved(const Measurement& m);

/// The roof that the products of a case are under: the smallest cache that was measured with as many bytes as its least
/// product moves, or else the memory; but where a product was clearly faster than the memory, the largest cache: it
/// holds more than was read of it. Null without roofs.
const Roof* roof_of(const Case& one, const std::vector<Roof>& roofs);

/// Of a measurement with counted instructions: how many were executed per second, by all threads together.
double instruction_rate(const Case& one, const Measurement& m);

/// The measurement of the highest rate. `one` is null where nothing was counted.
struct FastestExecution {
  const Case* one = nullptr;
  const Measurement* measurement = nullptr;
  double rate = 0;
};
FastestExecution fastest_execution(const std::vector<const Case*>& cases);

}  // namespace weft::bench
