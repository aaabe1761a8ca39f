// The CPU kernel of bce; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/bce/bce.hpp"
#include "formats/column_vectors.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

namespace weft::bce::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

/// As in csr: the CPU's own prefetching is not enough. Past the end of the arrays that asks for nothing.
constexpr Offset entries_ahead = 512;

/// Sums of a row, or of a piece of a long one.
template <class Vectors, class V>
inline void store(const View<V>& matrix, const Vectors& vectors, Index number, const typename Vectors::Sums& sums) {
  if (number < 0)
    vectors.save(sums, matrix.partials + static_cast<Offset>(~number) * max_row_major_vectors);
  else
    vectors.store(number, sums);
}

/// cpu_lanes rows side by side, one vector.
template <class V>
inline void multiply_side_by_side(const V* values, const Index* columns, Index full, Index width, const V* x, V* sums) {
  constexpr int lanes = static_cast<int>(simd::Simd<V>::size());
  simd::Simd<V> wide[cpu_lanes / lanes] = {};
  for (Index k = 0; k < full; ++k, values += cpu_lanes, columns += cpu_lanes) {
    __builtin_prefetch(values + entries_ahead);
    __builtin_prefetch(columns + entries_ahead);
#pragma GCC unroll 8
    for (int i = 0; i < cpu_lanes / lanes; ++i)
      simd::add_product(wide[i], simd::load(values + i * lanes), simd::gather(x, columns + i * lanes));
  }
#pragma GCC unroll 8
  for (int i = 0; i < cpu_lanes / lanes; ++i) simd::store(wide[i], sums + i * lanes);
  for (Index k = full; k < width; ++k, values += cpu_lanes, columns += cpu_lanes)
    for (int r = 0; r < cpu_lanes; ++r)
      if (columns[r] >= 0) simd::add_product(sums[r], values[r], x[columns[r]]);
}

/// The same with row-major vectors, for some of these rows.
template <class Vectors, class V>
inline void multiply_side_by_side(const View<V>& matrix, const Vectors& vectors, const V* values, const Index* columns,
                                  Index full, Index width, const Index* numbers) {
  constexpr int rows = Vectors::together;
  for (int r = 0; r < cpu_lanes; r += rows) {
    typename Vectors::template Tile<rows> sums;
    simd::add_side_by_side<false>(vectors, values + r, columns + r, cpu_lanes, full, 0, sums);
    const Offset done = static_cast<Offset>(full) * cpu_lanes;
    simd::add_side_by_side<true>(vectors, values + done + r, columns + done + r, cpu_lanes, width - full, 0, sums);
    simd::unrolled<rows>([&](auto i) { store(matrix, vectors, numbers[r + i], sums.row(i)); });
  }
}

/// A sub-block of any shape, row by row.
template <class Vectors, class V>
void multiply_rows(const View<V>& matrix, const Vectors& vectors, Offset s) {
  const Offset first = matrix.block_rows[s], rows = matrix.block_rows[s + 1] - first;
  const Index threads = matrix.threads[s], width = matrix.widths[s];
  const V* values = matrix.values + matrix.positions[s];
  const Index* columns = matrix.columns + matrix.positions[s];
  const Offset step = rows * threads;
  for (Offset r = 0; r < rows; ++r) {
    typename Vectors::Sums sums;
    Offset at = r * threads;
    for (Index k = 0; k < width; k += threads, at += step)
      for (Index lane = 0; lane < threads; ++lane) {
        const Index column = columns[at + lane];
        if (column >= 0) vectors.add(sums, values[at + lane], vectors.x(column));
      }
    store(matrix, vectors, matrix.row_numbers[first + r], sums);
  }
}

/// A sub-block with row-major vectors, or with the one vector of `product`.
template <class Vectors, class V>
void multiply_sub_block(const View<V>& matrix, const Product<V>& product, const Vectors& vectors, Offset s) {
  const Offset first = matrix.block_rows[s], rows = matrix.block_rows[s + 1] - first;
  if (rows != cpu_lanes || matrix.threads[s] != 1) return multiply_rows(matrix, vectors, s);
  const Index* const numbers = matrix.row_numbers + first;
  const V* const values = matrix.values + matrix.positions[s];
  const Index* const columns = matrix.columns + matrix.positions[s];
  const Index full = matrix.full_widths[s], width = matrix.widths[s];
  if constexpr (Vectors::row_major) {
    multiply_side_by_side(matrix, vectors, values, columns, full, width, numbers);
  } else {
    V sums[cpu_lanes];
    multiply_side_by_side(values, columns, full, width, product.x, sums);
    for (int r = 0; r < cpu_lanes; ++r) store(matrix, vectors, numbers[r], {{sums[r]}});
  }
}

/// Adds up the pieces of long rows.
template <class Vectors, class V>
void finish_long_rows(const View<V>& matrix, const Vectors& vectors) {
  for (Offset i = 0; i < matrix.long_rows; ++i) {
    typename Vectors::Sums sums;
    for (Offset q = matrix.piece_starts[i]; q < matrix.piece_starts[i + 1]; ++q)
      Vectors::join(sums, vectors.saved(matrix.partials + q * max_row_major_vectors));
    store(matrix, vectors, matrix.long_row_numbers[i], sums);
  }
}

}  // namespace

template <class V>
void multiply(const View<V>& matrix, const Offset* chunks, Offset chunk_count, const Product<V>& product, int threads) {
  if (product.layout == ::weft::Layout::row_major)
    return simd::with_row_vectors(product, [&](const auto& vectors) {
      simd::for_each_piece(chunk_count, threads, [&](int, Offset c) {
        for (Offset s = chunks[c]; s < chunks[c + 1]; ++s) multiply_sub_block(matrix, product, vectors, s);
      });
      finish_long_rows(matrix, vectors);
    });

  // The chunk stays in the cache from one vector to the next.
  const auto for_each_vector = [&](auto&& body) {
    Product<V> one = product;
    View<V> own = matrix;
    for (int j = 0; j < product.count; ++j) {
      body(own, one, simd::ColumnVectors<V, 1>(one));
      one.x += product.x_stride;
      one.y += product.y_stride;
      ++own.partials;
    }
  };
  simd::for_each_piece(chunk_count, threads, [&](int, Offset c) {
    for_each_vector([&](const View<V>& own, const Product<V>& one, const auto& vectors) {
      for (Offset s = chunks[c]; s < chunks[c + 1]; ++s) multiply_sub_block(own, one, vectors, s);
    });
  });
  for_each_vector([](const View<V>& own, const Product<V>&, const auto& vectors) { finish_long_rows(own, vectors); });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const View<V>&, const Offset*, Offset, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bce::WEFT_ISA_NAMESPACE
