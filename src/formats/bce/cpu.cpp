// The CPU kernel of bce; compiled once per instruction set, see core/isa.hpp.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/bce/bce.hpp"
#include "formats/cpu_product.hpp"
#include "formats/vector_count.hpp"

namespace weft::bce::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

/// As in csr: the CPU's own prefetching is not enough. Past the end of the arrays that asks for nothing.
constexpr Offset entries_ahead = 512;

/// Adds values[k] * x[columns[k]] of vector j to sums[j].
template <int Count, class V>
inline void add_entry(V value, const V* x, std::size_t stride, V* sums) {
#pragma GCC unroll 8
  for (int j = 0; j < Count; ++j) sums[j] += value * x[static_cast<std::size_t>(j) * stride];
}

template <int Count, class V>
inline void store(const View<V>& matrix, const Product<V>& product, Index number, const V* sums) {
  for (int j = 0; j < Count; ++j) {
    if (number < 0)
      matrix.partials[j * matrix.pieces + ~number] = sums[j];
    else
      simd::store_sum(product, number, j, sums[j]);
  }
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
      wide[i] += simd::load(values + i * lanes) * simd::gather(x, columns + i * lanes);
  }
#pragma GCC unroll 8
  for (int i = 0; i < cpu_lanes / lanes; ++i) simd::store(wide[i], sums + i * lanes);
  for (Index k = full; k < width; ++k, values += cpu_lanes, columns += cpu_lanes)
    for (int r = 0; r < cpu_lanes; ++r)
      if (columns[r] >= 0) sums[r] += values[r] * x[columns[r]];
}

template <int Count, class V>
void multiply_sub_block(const View<V>& matrix, const Product<V>& product, Offset s) {
  const Offset first = matrix.block_rows[s], rows = matrix.block_rows[s + 1] - first;
  const Index threads = matrix.threads[s], width = matrix.widths[s];
  const Index* numbers = matrix.row_numbers + first;
  const V* values = matrix.values + matrix.positions[s];
  const Index* columns = matrix.columns + matrix.positions[s];
  if constexpr (Count == 1) {
    if (rows == cpu_lanes && threads == 1) {
      V sums[cpu_lanes];
      multiply_side_by_side(values, columns, matrix.full_widths[s], width, product.x, sums);
      for (int r = 0; r < cpu_lanes; ++r) store<1>(matrix, product, numbers[r], sums + r);
      return;
    }
  }
  const Offset step = rows * threads;
  for (Offset r = 0; r < rows; ++r) {
    V sums[Count] = {};
    Offset at = r * threads;
    for (Index k = 0; k < width; k += threads, at += step)
      for (Index lane = 0; lane < threads; ++lane) {
        const Index column = columns[at + lane];
        if (column >= 0) add_entry<Count>(values[at + lane], product.x + column, product.x_stride, sums);
      }
    store<Count>(matrix, product, numbers[r], sums);
  }
}

template <int Count, class V>
void multiply_counted(const View<V>& matrix, const Offset* chunks, Offset chunk_count, const Product<V>& product,
                      int threads) {
  ::weft::WEFT_ISA_NAMESPACE::for_each_piece(chunk_count, threads, [&](int, Offset c) {
    for (Offset s = chunks[c]; s < chunks[c + 1]; ++s) multiply_sub_block<Count>(matrix, product, s);
  });

  for (Offset i = 0; i < matrix.long_rows; ++i) {
    V sums[Count] = {};
    for (Offset q = matrix.piece_starts[i]; q < matrix.piece_starts[i + 1]; ++q)
      for (int j = 0; j < Count; ++j) sums[j] += matrix.partials[j * matrix.pieces + q];
    store<Count>(matrix, product, matrix.long_row_numbers[i], sums);
  }
}

}  // namespace

template <class V>
void multiply(const View<V>& matrix, const Offset* chunks, Offset chunk_count, const Product<V>& product, int threads) {
  ::weft::WEFT_ISA_NAMESPACE::with_vector_count(product.count, [&](auto count) {
    multiply_counted<decltype(count)::value>(matrix, chunks, chunk_count, product, threads);
  });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const View<V>&, const Offset*, Offset, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bce::WEFT_ISA_NAMESPACE
