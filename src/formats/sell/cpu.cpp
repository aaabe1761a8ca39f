// The CPU kernel of sell; compiled once per instruction set, see core/isa.hpp.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/sell/sell.hpp"

namespace weft::sell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: prefetched, as in csr

/// Adds the columns that hold no padding, C rows side by side, to their sums. C is known to the compiler.
template <Index C, class V, class Column>
inline void add_full_columns(const V* values, const Column* columns, Index count, const V* x, V* sums) {
  using Lanes = simd::Simd<V>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr Index parts = C / lanes;
  Lanes running[parts];
#pragma GCC unroll 16
  for (Index p = 0; p < parts; ++p) running[p] = 0;
  for (Index k = 0; k < count; ++k, values += C, columns += C) {
    __builtin_prefetch(reinterpret_cast<const char*>(values) + bytes_ahead);
    __builtin_prefetch(reinterpret_cast<const char*>(columns) + bytes_ahead / 4);
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p)
      running[p] += simd::load(values + p * lanes) * simd::gather(x, columns + p * lanes);
  }
#pragma GCC unroll 16
  for (Index p = 0; p < parts; ++p) simd::store(running[p], sums + p * lanes);
}

/// The same for any number of rows per slice.
template <class V, class Column>
inline void add_full_columns(const V* values, const Column* columns, Index rows, Index count, const V* x, V* sums) {
  for (Index k = 0; k < count; ++k, values += rows, columns += rows)
    for (Index i = 0; i < rows; ++i) sums[i] += values[i] * x[columns[i]];
}

/// C is the number of rows per slice, or 0 if it is only known in the matrix.
template <Index C, class V, class Column>
void multiply_slice(const CpuMatrix<V>& matrix, const Product<V>& product, Index s, const Column* columns, const V* x) {
  const Slice& slice = matrix.slices[s];
  const Index rows = C > 0 ? C : matrix.slice_rows;
  const V* values = matrix.values + slice.entry;
  const Index full = matrix.shortest[s];
  const Offset first = static_cast<Offset>(s) * rows;
  const Index count = matrix.rows - first < rows ? static_cast<Index>(matrix.rows - first) : rows;
  // The slice stays in the cache from one vector to the next.
  for (int j = 0; j < product.count; ++j) {
    const V* const xj = x + static_cast<std::size_t>(j) * product.x_stride;
    V sums[C > 0 ? C : max_slice_rows] = {};
    if constexpr (C > 0)
      add_full_columns<C>(values, columns, full, xj, sums);
    else
      add_full_columns(values, columns, rows, full, xj, sums);
    for (Index k = full; k < slice.width; ++k)
      for (Index i = 0; i < count; ++i) {
        const Offset place = static_cast<Offset>(k) * rows + i;
        if (columns[place] != padding_column<Column>) sums[i] += values[place] * xj[columns[place]];
      }
    for (Index i = 0; i < count; ++i)
      simd::store_sum(product, matrix.order ? matrix.order[first + i] : first + i, j, sums[i]);
  }
}

template <Index C, class V>
void multiply_all(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  // Small hand-outs even out a busy machine; neighbouring slices stay together for the caches' sake.
  const Index share = matrix.slice_count / (threads * 32);
#pragma omp parallel for schedule(dynamic, share > 1 ? share : 1) num_threads(threads) if (threads > 1)
  for (Index s = 0; s < matrix.slice_count; ++s) {
    const Slice& slice = matrix.slices[s];
    const std::uint16_t* columns = matrix.columns + slice.column;
    if (slice.base >= 0)
      multiply_slice<C>(matrix, product, s, columns, product.x + slice.base);
    else
      multiply_slice<C>(matrix, product, s, reinterpret_cast<const Index*>(columns), product.x);
  }
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
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
