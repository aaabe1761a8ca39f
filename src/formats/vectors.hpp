#pragma once
#include <weft/types.hpp>

#include "core/parallel.hpp"
#include "formats/operator.hpp"

namespace weft {

/// y = beta y for all vectors of a product on the CPU, never reading y where beta is 0.
template <Value V>
void scale_on_cpu(const Product<V>& product, Index rows) {
  const bool row_major = product.layout == Layout::row_major;
  const auto scale = [&](V* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = product.beta == V(0) ? V(0) : product.beta * y[i];
  };
  for (int j = 0; j < (row_major ? 1 : product.count); ++j)
    parallel_ranges(rows, (1 << 15) / (row_major ? product.count : 1), [&](std::int64_t begin, std::int64_t end) {
      if (!row_major) return scale(product.y_of(j) + begin, end - begin);
      for (std::int64_t i = begin; i < end; ++i)
        scale(product.y + static_cast<std::size_t>(i) * product.y_stride, product.count);
    });
}

/// Copies values into an operator's own array.
template <Value V>
void copy_values(std::span<const V> from, V* to) {
  parallel_ranges(static_cast<std::int64_t>(from.size()), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] = from[i];
  });
}

}  // namespace weft
