#pragma once
#include <type_traits>

#include "core/simd.hpp"
#include "formats/column_groups.hpp"
#include "formats/operator.hpp"

// Row-major vectors, for files compiled once per instruction set, see core/isa.hpp.
namespace weft::WEFT_ISA_NAMESPACE {

/// What holds `Size` elements of a row.
template <class V, int Size>
struct RowLanes {
  using Type = NativeSimd<V, Size>;
};
template <class V>
struct RowLanes<V, 1> {
  using Type = V;
};

/// Vector registers: half of them for sums.
#if defined(__AVX512F__)
inline constexpr int registers = 32;
#else
inline constexpr int registers = 16;
#endif

/// The row-major vectors of a product: for each entry, its value times a row of x is added to sums in registers, as
/// `Parts` SIMD vectors of `Size` elements. Where the number of vectors is not a multiple of Size, the last part begins
/// earlier and computes some sums twice, which takes no longer and touches nothing but the caller's elements; the one
/// part of a row that is Masked has fewer elements than Size.
template <class V, int Size, int Parts, bool Masked = false>
class RowVectors {
 public:
  static_assert(!Masked || Parts == 1);
  static constexpr bool row_major = true;
  using Lanes = typename RowLanes<V, Size>::Type;
  /// Rows of the product whose sums fit the registers together, and need not wait for each other's additions.
  static constexpr int together = Parts <= registers / 16  ? 8
                                  : Parts <= registers / 8 ? 4
                                  : Parts <= registers / 4 ? 2
                                                           : 1;

  /// A row of the product so far.
  struct Sums {
    Lanes part[Parts];
    Sums() {
#pragma GCC unroll 16
      for (int p = 0; p < Parts; ++p) part[p] = V(0);
    }
  };

  explicit RowVectors(const Product<V>& product)
      : x_(product.x),
        y_(product.y),
        x_stride_(product.x_stride),
        y_stride_(product.y_stride),
        last_(Masked ? 0 : static_cast<std::size_t>(product.count - Size)),
        count_(product.count),
        alpha_(product.alpha),
        beta_(product.beta) {}

  const V* x(Offset row) const { return x_ + static_cast<std::size_t>(row) * x_stride_; }
  Offset x_stride() const { return static_cast<Offset>(x_stride_); }
  /// The row of x that padding meets.
  const V* zeros() const { return zeros_; }

  /// sums += value * x
  void add(Sums& sums, V value, const V* x) const {
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) add_product(sums.part[p], Lanes(value), load(x + begin(p)));
  }
  /// Some neighbouring rows of the product so far, which begin at 0.
  template <int Rows>
  struct Tile {
    static constexpr int rows = Rows;
    Lanes part[Rows][Parts];
    [[gnu::always_inline]] Tile() {
      unrolled<Rows>([&](auto r) __attribute__((always_inline)) {
        unrolled<Parts>([&](auto p) __attribute__((always_inline)) { part[r][p] = V(0); });
      });
    }
    /// For a constant r.
    template <class Number>
    [[gnu::always_inline]] Sums row(Number r) const {
      Sums sums;
      unrolled<Parts>([&](auto p) __attribute__((always_inline)) { sums.part[p] = part[r][p]; });
      return sums;
    }
  };
  /// Row r += value * x, for a constant r.
  template <int Rows, class Number>
  [[gnu::always_inline]] void add(Tile<Rows>& sums, Number r, V value, const V* x) const {
    unrolled<Parts>(
        [&](auto p) __attribute__((always_inline)) { add_product(sums.part[r][p], Lanes(value), load(x + begin(p))); });
  }
  /// Row r += values[r] * row r of those at x, for all of them.
  template <int Rows>
  [[gnu::always_inline]] void add_rows(Tile<Rows>& sums, const V* values, const V* x, Offset stride) const {
    unrolled<Rows>([&](auto r) __attribute__((always_inline)) { add(sums, r, values[r], x + r * stride); });
  }
  /// Adds `other`.
  static void join(Sums& sums, const Sums& other) {
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) sums.part[p] += other.part[p];
  }

  /// y = alpha sums + beta y, not reading y when beta is 0.
  void store(Offset row, const Sums& sums) const {
    V* const y = y_ + static_cast<std::size_t>(row) * y_stride_;
    Lanes result[Parts];  // parts may share elements of y: all are read before one is written
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) {
      if (beta_ == V(0))
        result[p] = alpha_ * sums.part[p];
      else
        result[p] = multiply_add<Lanes>(Lanes(alpha_), sums.part[p], Lanes(beta_ * load(y + begin(p))));
    }
    put(result, y);
  }
  /// y += alpha sums
  void add_to(Offset row, const Sums& sums) const {
    V* const y = y_ + static_cast<std::size_t>(row) * y_stride_;
    Lanes result[Parts];
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) result[p] = multiply_add<Lanes>(Lanes(alpha_), sums.part[p], load(y + begin(p)));
    put(result, y);
  }

  /// Sums that are kept in memory for a while, in max_row_major_vectors elements.
  void save(const Sums& sums, V* to) const {
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) put_whole(sums.part[p], to + begin(p));
  }
  Sums saved(const V* from) const {
    Sums sums;
#pragma GCC unroll 16
    for (int p = 0; p < Parts; ++p) sums.part[p] = load_whole(from + begin(p));
    return sums;
  }

 private:
  static constexpr V zeros_[max_row_major_vectors] = {};

  std::size_t begin(int part) const { return part == Parts - 1 ? last_ : static_cast<std::size_t>(part * Size); }
  static Lanes load_whole(const V* from) {
    if constexpr (Size == 1)
      return *from;
    else
      return load_as<Lanes>(from);
  }
  Lanes load(const V* from) const {
    if constexpr (Masked)
      return load_some<Lanes>(from, (1u << count_) - 1);
    else
      return load_whole(from);
  }
  static void put_whole(const Lanes& part, V* to) {
    if constexpr (Size == 1)
      *to = part;
    else
      store_as(part, to);
  }
  void put(const Lanes (&parts)[Parts], V* to) const {
    if constexpr (Masked) {
      store_some(parts[0], to, (1u << count_) - 1);
    } else {
#pragma GCC unroll 16
      for (int p = 0; p < Parts; ++p) put_whole(parts[p], to + begin(p));
    }
  }

  const V* x_;
  V* y_;
  std::size_t x_stride_, y_stride_;
  std::size_t last_;  // where the last part begins
  int count_;
  V alpha_, beta_;
};

namespace detail {

/// The widest vectors, as many as it takes.
template <int Size, int Parts, class V, class F>
inline void with_parts(const Product<V>& product, F&& body) {
  if constexpr (Size * (Parts - 1) < max_row_major_vectors) {
    if (product.count <= Size * Parts) return body(RowVectors<V, Size, Parts>(product));
    with_parts<Size, Parts + 1>(product, body);
  }
}

/// Vectors of Size elements, narrower ones if a row has at most half of that.
template <int Size, class V, class F>
inline void with_size(const Product<V>& product, F&& body) {
  if constexpr (Size == 1) {
    body(RowVectors<V, 1, 1>(product));
  } else {
    if (product.count <= Size / 2) return with_size<Size / 2>(product, body);
    if (product.count < Size) {
      // Wider vectors can be loaded in part; two narrower ones that overlap take longer in the caches.
      if constexpr (Size * sizeof(V) >= 32)
        return body(RowVectors<V, Size, 1, true>(product));
      else
        return body(RowVectors<V, Size / 2, 2>(product));
    }
    constexpr bool widest = Size * sizeof(V) == native_bytes || Size == max_row_major_vectors;
    if constexpr (widest)
      with_parts<Size, 1>(product, body);
    else
      body(RowVectors<V, Size, 1>(product));
  }
}

}  // namespace detail

/// Calls body(RowVectors<...>) with the kind that suits the row-major product's number of vectors; types without SIMD
/// vectors get them one by one.
template <class V, class F>
inline void with_row_vectors(const Product<V>& product, F&& body) {
  if constexpr (std::is_floating_point_v<V>) {
    detail::with_size<static_cast<int>(native_bytes / sizeof(V))>(product, body);
  } else {
    for (int j = 0; j < product.count; ++j) {
      Product<V> one = product;
      one.x += j;
      one.y += j;
      one.count = 1;
      body(RowVectors<V, 1, 1>(one));
    }
  }
}

/// Adds entries of a row to its sums. Several sums take turns, so that an addition need not wait for the one before.
/// `ahead` is called with the number of an entry once per line of values.
template <class Vectors, class V, class Ahead>
inline typename Vectors::Sums sum_entries(const Vectors& vectors, const V* values, const Index* columns, Offset length,
                                          Ahead&& ahead) {
  // How many decides the bits, so it goes by the size of the sums, which AVX2 and AVX-512 have in common.
  constexpr int max_turns = sizeof(typename Vectors::Sums) > 64 ? 2 : 4;
  constexpr int turns = Vectors::together < max_turns ? Vectors::together : max_turns;
  constexpr Offset line = static_cast<Offset>(64 / sizeof(V));
  typename Vectors::Sums sums[turns];
  Offset k = 0;
  for (; k + turns <= length; k += turns) {
    if (k % line < turns) ahead(k);
#pragma GCC unroll 4
    for (int t = 0; t < turns; ++t) vectors.add(sums[t], values[k + t], vectors.x(columns[k + t]));
  }
  for (; k < length; ++k) vectors.add(sums[0], values[k], vectors.x(columns[k]));
#pragma GCC unroll 4
  for (int t = 1; t < turns; ++t) Vectors::join(sums[0], sums[t]);
  return sums[0];
}

/// Adds `count` entries of each of some neighbouring rows to their sums, a Tile. They are stored side by side, those of
/// the next entry `step` places further; `first` is the row of x that columns are counted from. Padded: some may be
/// padding.
template <bool Padded, class Vectors, class V, class Column, class Rows>
[[gnu::always_inline]] inline void add_side_by_side(const Vectors& vectors, const V* values, const Column* columns,
                                                    Offset step, Index count, Offset first, Rows& sums) {
  constexpr Offset bytes_ahead = 4096;  // of values, as in csr
  for (Index k = 0; k < count; ++k, values += step, columns += step) {
    __builtin_prefetch(reinterpret_cast<const char*>(values) + bytes_ahead);
    __builtin_prefetch(reinterpret_cast<const char*>(columns) + bytes_ahead / 2);
    unrolled<Rows::rows>([&](auto r) __attribute__((always_inline)) {
      const V* x = vectors.x(first + columns[r]);
      if (Padded && columns[r] == padding_column<Column>) x = vectors.zeros();
      vectors.add(sums, r, values[r], x);
    });
  }
}

}  // namespace weft::WEFT_ISA_NAMESPACE
