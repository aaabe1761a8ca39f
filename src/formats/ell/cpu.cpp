// The CPU kernels of ell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/ell/ell.hpp"
#include "formats/row_vectors.hpp"

namespace weft::ell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;
using simd::store_sum;

enum class Padding { none, some, all };

/// How much of what neighbouring rows have in one step is padding.
inline Padding padding_in(const Index* columns) {
  constexpr auto lanes = static_cast<Index>(simd::Simd<Index>::size());
  simd::Simd<Index> any = 0, all = -1;
#pragma GCC unroll 4
  for (Index r = 0; r < rows_at_once; r += lanes) {
    const simd::Simd<Index> column = simd::load(columns + r);
    any |= column;
    all &= column;
  }
  if (!simd::any_negative<Index>(any)) return Padding::none;
  // Sign bits of different lanes belong to different rows.
  return simd::any_negative<Index>(~all) ? Padding::some : Padding::all;
}

/// One step of rows_at_once rows: sums += values * x[columns]. In padding 0 is added, and x is not read.
template <bool Padded, class V>
inline void add_step(const Index* columns, const V* values, const V* x, V* sums) {
  constexpr auto lanes = static_cast<Index>(simd::Simd<V>::size());
  const V zero = 0;
#pragma GCC unroll 8
  for (Index r = 0; r < rows_at_once; r += lanes) {
    const Index* column = columns + r;
    simd::Simd<V> factor;
    if constexpr (Padded)
      factor = simd::Simd<V>([&](auto lane) { return *(column[lane] < 0 ? &zero : x + column[lane]); });
    else
      factor = simd::gather(x, column);
    simd::store<V>(simd::multiply_add(simd::load(values + r), factor, simd::load(sums + r)), sums + r);
  }
}

/// Where padding begins in a group of rows: up to `full` no row has any, from `end` on there is nothing else.
struct Extent {
  Index full = 0;
  Index end = 0;
};

template <class V>
inline Extent extent_of(const View<V>& matrix, Offset row) {
  if (row >= matrix.rows) return {};
  if (!matrix.lengths) return {0, matrix.width};  // the columns show it
  Extent extent{matrix.width, 0};
  for (Index r = 0; r < rows_at_once; ++r) {
    const Index length = row + r < matrix.rows ? matrix.lengths[row + r] : 0;
    extent.full = length < extent.full ? length : extent.full;
    extent.end = length > extent.end ? length : extent.end;
  }
  return extent;
}

/// A tile of neighbouring rows, step by step: what a step reads lies together, and the sums stay in the first-level
/// cache. One thread per row.
template <class V>
void multiply_tile(const View<V>& matrix, const Product<V>& product, int vector, Offset row) {
  constexpr Index groups = rows_per_tile / rows_at_once;
  const V* const x = product.x + static_cast<std::size_t>(vector) * product.x_stride;
  const Offset rows = matrix.rows - row < rows_per_tile ? matrix.rows - row : rows_per_tile;
  Extent extents[groups];
  Index last = 0;
  for (Index g = 0; g < groups; ++g) {
    extents[g] = extent_of(matrix, row + g * rows_at_once);
    last = extents[g].end > last ? extents[g].end : last;
  }
  V sums[rows_per_tile] = {};
  // Every step begins on another page, where the CPU's own prefetching would start anew: two steps ahead are asked for,
  // and at the end the first ones of the next tile.
  const Index steps_ahead = matrix.width < 2 ? matrix.width : 2;
  for (Index k = 0; k < last; ++k) {
    const Index* columns = matrix.columns + (k * matrix.slots + row);
    const V* values = matrix.values + (k * matrix.slots + row);
    const Offset ahead = k + Offset(steps_ahead) < matrix.width
                             ? steps_ahead * matrix.slots
                             : rows_per_tile + (steps_ahead - Offset(matrix.width)) * matrix.slots;
    for (Index g = 0; g < groups; ++g, columns += rows_at_once, values += rows_at_once) {
      Extent& extent = extents[g];
      if (k >= extent.end) continue;
      __builtin_prefetch(columns + ahead);
      for (Index r = 0; r < rows_at_once; r += static_cast<Index>(64 / sizeof(V)))
        __builtin_prefetch(values + ahead + r);
      const Padding padding = k < extent.full ? Padding::none : padding_in(columns);
      V* sum = sums + g * rows_at_once;
      if (padding == Padding::none)
        add_step<false>(columns, values, x, sum);
      else if (padding == Padding::some)
        add_step<true>(columns, values, x, sum);
      else
        extent.end = k;  // nothing but padding follows
    }
  }
  for (Offset r = 0; r < rows; ++r) store_sum(product, row + r, vector, sums[r]);
}

/// A row stored for several threads: pieces of so many neighbouring entries.
template <class V>
void multiply_row(const View<V>& matrix, const Product<V>& product, int vector, Offset row) {
  const V* const x = product.x + static_cast<std::size_t>(vector) * product.x_stride;
  V sum = 0;
  Offset place = row * matrix.threads;
  for (Index left = matrix.lengths[row]; left > 0; left -= matrix.threads, place += matrix.slots) {
    const Index piece = left < matrix.threads ? left : matrix.threads;
    for (Index k = 0; k < piece; ++k) simd::add_product(sum, matrix.values[place + k], x[matrix.columns[place + k]]);
  }
  store_sum(product, row, vector, sum);
}

/// The same with row-major vectors.
template <class Vectors, class V>
void multiply_row(const View<V>& matrix, const Vectors& vectors, Offset row) {
  typename Vectors::Sums sums;
  Offset place = row * matrix.threads;
  for (Index left = matrix.lengths[row]; left > 0; left -= matrix.threads, place += matrix.slots) {
    const Index piece = left < matrix.threads ? left : matrix.threads;
    for (Index k = 0; k < piece; ++k) vectors.add(sums, matrix.values[place + k], vectors.x(matrix.columns[place + k]));
  }
  vectors.store(row, sums);
}

/// A group of neighbouring rows, one thread per row, with row-major vectors.
template <class Vectors, class V>
void multiply_group(const View<V>& matrix, const Vectors& vectors, Offset row) {
  constexpr int together = Vectors::together;
  const Extent extent = extent_of(matrix, row);
  const Index full = extent.full < extent.end ? extent.full : extent.end;
  for (Offset r = row; r < row + rows_at_once && r < matrix.rows; r += together) {
    typename Vectors::template Tile<together> sums;
    const V* const values = matrix.values + r;
    const Index* const columns = matrix.columns + r;
    simd::add_side_by_side<false>(vectors, values, columns, matrix.slots, full, 0, sums);
    const Offset done = full * matrix.slots;
    simd::add_side_by_side<true>(vectors, values + done, columns + done, matrix.slots, extent.end - full, 0, sums);
    simd::unrolled<together>([&](auto i) {
      if (r + i < matrix.rows) vectors.store(r + i, sums.row(i));
    });
  }
}

template <class Vectors, class V>
void multiply_chunk_rows(const View<V>& matrix, const Vectors vectors, Offset begin, Offset end) {
  if (matrix.threads > 1) {
    for (Offset row = begin; row < end; ++row) multiply_row(matrix, vectors, row);
    return;
  }
  for (Offset row = begin; row < end; row += rows_at_once) multiply_group(matrix, vectors, row);
}

/// All vectors of a product for some rows: their part of the matrix stays in the cache from one to the next.
template <class V>
void multiply_chunk(const View<V>& matrix, const Product<V>& product, Offset begin, Offset end) {
  if (matrix.threads > 1) {
    for (Offset row = begin; row < end; ++row)
      for (int j = 0; j < product.count; ++j) multiply_row(matrix, product, j, row);
    return;
  }
  // Long enough for the CPU's own prefetching of x and y.
  constexpr Offset rows_per_piece = 4 * rows_per_tile;
  for (Offset piece = begin; piece < end; piece += rows_per_piece) {
    const Offset piece_end = end - piece < rows_per_piece ? end : piece + rows_per_piece;
    for (int j = 0; j < product.count; ++j)
      for (Offset row = piece; row < piece_end; row += rows_per_tile) multiply_tile(matrix, product, j, row);
  }
}

}  // namespace

template <class V>
void multiply(const View<V>& matrix, const Product<V>& product, Index chunk_rows, int threads) {
  const Offset rows = matrix.rows;
  const Offset chunks = (rows + chunk_rows - 1) / chunk_rows;
  const auto run = [&](auto&& multiply_rows) {
    simd::for_each_piece(chunks, threads, [&](int, Offset chunk) {
      const Offset end = (chunk + 1) * chunk_rows;
      multiply_rows(chunk * chunk_rows, end < rows ? end : rows);
    });
  };
  if (product.layout == Layout::row_major)
    simd::with_row_vectors(product, [&](const auto& vectors) {
      run([&](Offset begin, Offset end) { multiply_chunk_rows(matrix, vectors, begin, end); });
    });
  else
    run([&](Offset begin, Offset end) { multiply_chunk(matrix, product, begin, end); });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const View<V>&, const Product<V>&, Index, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::ell::WEFT_ISA_NAMESPACE
