#pragma once
#include <weft/types.hpp>

#include "core/parallel.hpp"
#include "formats/operator.hpp"

namespace weft {

/// y = beta y for all vectors of a product on the CPU, never reading y where beta is 0.
template <Value V>
void scale_on_cpu(const Product<V>& product, Index rows) {
  for (int j = 0; j < product.count; ++j) {
    V* y = product.y_of(j);
    parallel_ranges(rows, 1 << 15, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y[i] = product.beta == V(0) ? V(0) : product.beta * y[i];
    });
  }
}

/// Copies values into an operator's own array.
template <Value V>
void copy_values(std::span<const V> from, V* to) {
  parallel_ranges(static_cast<std::int64_t>(from.size()), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = from[i];
  });
}

}  // namespace weft
