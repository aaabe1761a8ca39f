#pragma once
#include <type_traits>

#include "core/simd.hpp"
#include "formats/operator.hpp"

// Several column-major vectors in one pass over the entries, for files compiled once per instruction set, see
// core/isa.hpp.
namespace weft::WEFT_ISA_NAMESPACE {

/// What RowVectors (row_vectors.hpp) is for row-major vectors, with a scalar sum per vector.
template <class V, int Count>
class ColumnVectors {
 public:
  static constexpr bool row_major = false;

  struct Sums {
    V of[Count] = {};
  };

  explicit ColumnVectors(const Product<V>& product)
      : x_(product.x),
        y_(product.y),
        x_stride_(product.x_stride),
        y_stride_(product.y_stride),
        alpha_(product.alpha),
        beta_(product.beta) {}

  const V* x(Offset row) const { return x_ + row; }
  void add(Sums& sums, V value, const V* x) const {
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) add_product(sums.of[j], value, x[static_cast<std::size_t>(j) * x_stride_]);
  }
  static void join(Sums& sums, const Sums& other) {
    for (int j = 0; j < Count; ++j) sums.of[j] += other.of[j];
  }
  void store(Offset row, const Sums& sums) const {
    for (int j = 0; j < Count; ++j) {
      V& y = y_[static_cast<std::size_t>(j) * y_stride_ + static_cast<std::size_t>(row)];
      y = beta_ == V(0) ? alpha_ * sums.of[j] : multiply_add<V>(alpha_, sums.of[j], beta_ * y);
    }
  }
  void add_to(Offset row, const Sums& sums) const {
    for (int j = 0; j < Count; ++j)
      add_product(y_[static_cast<std::size_t>(j) * y_stride_ + static_cast<std::size_t>(row)], alpha_, sums.of[j]);
  }
  void save(const Sums& sums, V* to) const {
    for (int j = 0; j < Count; ++j) to[j] = sums.of[j];
  }
  Sums saved(const V* from) const {
    Sums sums;
    for (int j = 0; j < Count; ++j) sums.of[j] = from[j];
    return sums;
  }

 private:
  const V* x_;
  V* y_;
  std::size_t x_stride_, y_stride_;
  V alpha_, beta_;
};

/// Calls body(ColumnVectors<V, count>(product)): kernels keep a sum for each vector in a register, so they are compiled
/// for every number of vectors.
template <int Count = 1, class V, class F>
inline void with_column_vectors(const Product<V>& product, F&& body) {
  if constexpr (Count == max_vectors) {
    body(ColumnVectors<V, Count>(product));
  } else {
    if (product.count == Count) return body(ColumnVectors<V, Count>(product));
    with_column_vectors<Count + 1>(product, body);
  }
}

}  // namespace weft::WEFT_ISA_NAMESPACE
