// The CPU kernel of sell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"
#include "formats/sell/cpu_storage.hpp"

namespace weft::sell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: prefetched, as in csr

inline void prefetch(const void* address) { __builtin_prefetch(static_cast<const char*>(address) + bytes_ahead); }

/// The sums of C rows, as the widest vectors there are; two for each, so that an addition need not wait for the last.
template <Index C, class V>
struct Sums {
  using Lanes = simd::NativeSimd<V, C>;
  static constexpr Index lanes = static_cast<Index>(Lanes::size());
  static constexpr Index parts = C / lanes;
  Lanes even[parts], odd[parts];

  Sums() {
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) {
      even[p] = 0;
      odd[p] = 0;
    }
  }
  Lanes of(Index part) const { return even[part] + odd[part]; }
};

/// Adds the runs of one slice; `x` is that of its first row. Returns where its values end.
template <Index C, class V>
inline const V* add_runs(const Band& band, const Index* distances, const std::uint32_t* masks, const V* values,
                         const V* x, Sums<C, V>& sums) {
  using S = Sums<C, V>;
  using Lanes = typename S::Lanes;
  Index k = 0;
  for (; k + 2 <= band.full; k += 2, values += 2 * C) {
    const V *x_even = x + distances[k], *x_odd = x + distances[k + 1];
    prefetch(values);
    if constexpr (C * sizeof(V) > 32) prefetch(values + C);
#pragma GCC unroll 16
    for (Index p = 0; p < S::parts; ++p) {
      sums.even[p] += simd::load_as<Lanes>(values + p * S::lanes) * simd::load_as<Lanes>(x_even + p * S::lanes);
      sums.odd[p] += simd::load_as<Lanes>(values + C + p * S::lanes) * simd::load_as<Lanes>(x_odd + p * S::lanes);
    }
  }
  if (k < band.full) {
    const V* const x_last = x + distances[k];
    prefetch(values);
#pragma GCC unroll 16
    for (Index p = 0; p < S::parts; ++p)
      sums.even[p] += simd::load_as<Lanes>(values + p * S::lanes) * simd::load_as<Lanes>(x_last + p * S::lanes);
    values += C;
  }
  for (k = band.full; k < band.full + band.partial; ++k, values += C) {
    const V* const x_some = x + distances[k];
    prefetch(values);
#pragma GCC unroll 16
    for (Index p = 0; p < S::parts; ++p)
      sums.odd[p] += simd::load_as<Lanes>(values + p * S::lanes) *
                     simd::load_some<Lanes>(x_some + p * S::lanes, masks[k] >> (p * S::lanes));
  }
  return values;
}

/// y = alpha sums + beta y for C rows from `row` on.
template <Index C, class V>
inline void store_whole_slice(const Product<V>& product, Offset row, int vector, const Sums<C, V>& sums) {
  using S = Sums<C, V>;
  V* const y = product.y + static_cast<std::size_t>(vector) * product.y_stride + static_cast<std::size_t>(row);
#pragma GCC unroll 16
  for (Index p = 0; p < S::parts; ++p) {
    auto sum = sums.of(p) * product.alpha;
    if (product.beta != V(0)) sum += simd::load_as<typename S::Lanes>(y + p * S::lanes) * product.beta;
    simd::store_as(sum, y + p * S::lanes);
  }
}

/// Adds columns, C rows side by side, to their sums; where Padded, some may be padding, for which x is not read. C is
/// known to the compiler.
template <Index C, bool Padded, class V, class Column>
inline void add_columns(const V* values, const Column* columns, Index count, const V* x, V* sums) {
  using Lanes = simd::Simd<V>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr Index parts = C / lanes;
  const V zero = 0;
  Lanes running[parts];
#pragma GCC unroll 16
  for (Index p = 0; p < parts; ++p) running[p] = simd::load(sums + p * lanes);
  for (Index k = 0; k < count; ++k, values += C, columns += C) {
    prefetch(values);
    __builtin_prefetch(reinterpret_cast<const char*>(columns) + bytes_ahead / 4);
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) {
      const Column* const column = columns + p * lanes;
      if constexpr (Padded)
        running[p] += simd::load(values + p * lanes) * Lanes([&](auto lane) {
                        return *(column[lane] == padding_column<Column> ? &zero : x + column[lane]);
                      });
      else
        running[p] += simd::load(values + p * lanes) * simd::gather(x, column);
    }
  }
#pragma GCC unroll 16
  for (Index p = 0; p < parts; ++p) simd::store(running[p], sums + p * lanes);
}

/// The same for any number of rows per slice, entry by entry.
template <class V, class Column>
inline void add_columns(const V* values, const Column* columns, Index rows, Index count, const V* x, V* sums) {
  for (Index k = 0; k < count; ++k, values += rows, columns += rows)
    for (Index i = 0; i < rows; ++i)
      if (columns[i] != padding_column<Column>) sums[i] += values[i] * x[columns[i]];
}

/// Adds the columns of entries that are in no run.
template <Index C, class V, class Column>
inline void add_columns_of(const Band& band, Index rows, const V* values, const Column* columns, const V* x, V* sums) {
  Index done = 0;
  if constexpr (C > 0) {
    add_columns<C, false>(values, columns, band.unpadded, x, sums);
    done = band.unpadded;
    if (done < band.dense) {
      const Offset place = static_cast<Offset>(done) * C;
      add_columns<C, true>(values + place, columns + place, band.dense - done, x, sums);
      done = band.dense;
    }
  }
  const Offset place = static_cast<Offset>(done) * rows;
  add_columns(values + place, columns + place, rows, band.width - done, x, sums);
}

/// C is the number of rows per slice, or 0 if it is only known in the matrix.
template <Index C, class V>
void multiply_slice(const CpuMatrix<V>& matrix, const Product<V>& product, const Band& band, Index s, const V* values) {
  const Index rows = C > 0 ? C : matrix.slice_rows;
  const Offset first = static_cast<Offset>(s) * rows;
  const Index count = matrix.rows - first < rows ? static_cast<Index>(matrix.rows - first) : rows;
  const std::uint16_t* const columns = matrix.columns + band.column;
  // The slice stays in the cache from one vector to the next.
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    V sums[C > 0 ? C : max_slice_rows] = {};
    const V* left = values;
    if constexpr (may_have_runs(C))
      if (band.full + band.partial > 0) {
        Sums<C, V> running;
        left = add_runs<C, V>(band, matrix.distances + band.run, matrix.masks + band.run, values, x + first, running);
        if (band.width == 0 && count == C) {
          store_whole_slice<C, V>(product, first, j, running);
          continue;
        }
#pragma GCC unroll 16
        for (Index p = 0; p < Sums<C, V>::parts; ++p) simd::store_as(running.of(p), sums + p * Sums<C, V>::lanes);
      }
    if (band.base >= 0)
      add_columns_of<C>(band, rows, left, columns, x + band.base, sums);
    else
      add_columns_of<C>(band, rows, left, reinterpret_cast<const Index*>(columns), x, sums);
    for (Index i = 0; i < count; ++i)
      simd::store_sum(product, matrix.order ? matrix.order[first + i] : first + i, j, sums[i]);
  }
}

/// Calls body(band, slice, values) for the slices of every share.
template <class V, class F>
void for_each_slice(const CpuMatrix<V>& matrix, Index rows, int threads, F&& body) {
  simd::for_each_piece(matrix.share_count, threads, [&](int, Offset share) {
    const Share end = matrix.shares[share + 1];
    Index s = matrix.shares[share].slice;
    for (Index b = matrix.shares[share].band; s < end.slice; ++b) {
      const Band& band = matrix.bands[b];
      const Offset size = static_cast<Offset>(band.full + band.partial + band.width) * rows;
      const V* values = matrix.values + band.entry + (s - band.slice) * size;
      const Index last = b == end.band ? end.slice : matrix.bands[b + 1].slice;
      for (; s < last; ++s, values += size) body(band, s, values);
    }
  });
}

template <Index C, class V>
void multiply_all(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  for_each_slice(matrix, C > 0 ? C : matrix.slice_rows, threads, [&](const Band& band, Index s, const V* values) {
    multiply_slice<C>(matrix, product, band, s, values);
  });
}

/// R rows of a slice with row-major vectors, from row `row` of it on.
template <int R, class Vectors, class V>
inline void multiply_rows(const CpuMatrix<V>& matrix, const Vectors& vectors, const Band& band, Index s,
                          const V* values, Index row) {
  const Index step = matrix.slice_rows;
  const Offset first = static_cast<Offset>(s) * step + row;
  values += row;
  typename Vectors::Sums sums[R];
  Index k = 0;
  for (; k < band.full; ++k, values += step) {
    prefetch(values);
    const V* const x = vectors.x(first + matrix.distances[band.run + k]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) vectors.add(sums[r], values[r], x + r * vectors.x_stride());
  }
  for (; k < band.full + band.partial; ++k, values += step) {
    prefetch(values);
    const std::uint32_t mask = matrix.masks[band.run + k] >> row;
    const Offset column = first + matrix.distances[band.run + k];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      vectors.add(sums[r], values[r], mask >> r & 1 ? vectors.x(column + r) : vectors.zeros());
  }
  const auto add_others = [&](auto columns, Offset base) {
    columns += row;
    const Offset dense = static_cast<Offset>(band.unpadded) * step;
    simd::add_side_by_side<false>(vectors, values, columns, step, band.unpadded, base, sums);
    simd::add_side_by_side<true>(vectors, values + dense, columns + dense, step, band.width - band.unpadded, base,
                                 sums);
  };
  const std::uint16_t* const columns = matrix.columns + band.column;
  if (band.base >= 0)
    add_others(columns, band.base);
  else
    add_others(reinterpret_cast<const Index*>(columns), 0);
  for (int r = 0; r < R && first + r < matrix.rows; ++r)
    vectors.store(matrix.order ? matrix.order[first + r] : first + r, sums[r]);
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  if (product.layout == Layout::row_major)
    return simd::with_row_vectors(product, [&]<class Vectors>(const Vectors& vectors) {
      constexpr int together = Vectors::together;
      for_each_slice(matrix, matrix.slice_rows, threads, [&](const Band& band, Index s, const V* values) {
        Index row = 0;
        for (; row + together <= matrix.slice_rows; row += together)
          multiply_rows<together>(matrix, vectors, band, s, values, row);
        for (; row < matrix.slice_rows; ++row) multiply_rows<1>(matrix, vectors, band, s, values, row);
      });
    });
  switch (matrix.slice_rows) {
    case 4:
      return multiply_all<4>(matrix, product, threads);
    case 8:
      return multiply_all<8>(matrix, product, threads);
    case 16:
      return multiply_all<16>(matrix, product, threads);
    case 32:
      return multiply_all<32>(matrix, product, threads);
    default:
      return multiply_all<0>(matrix, product, threads);
  }
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::sell::WEFT_ISA_NAMESPACE
