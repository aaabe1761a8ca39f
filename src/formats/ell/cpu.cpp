// The CPU kernels of ell; compiled once per instruction set, see core/isa.hpp.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/ell/ell.hpp"
#include "formats/vector_count.hpp"

namespace weft::ell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

template <int Count, class V>
inline void store_row(const Product<V>& product, Index row, const V* sums, Index sums_stride) {
  for (int j = 0; j < Count; ++j) {
    V& target = product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row)];
    const V sum = product.alpha * sums[j * sums_stride];
    target = product.beta == V(0) ? sum : sum + product.beta * target;
  }
}

enum class Padding { none, some, all };

/// How much of what neighbouring rows have in one step is padding.
template <Index Rows>
inline Padding padding_in(const Index* columns) {
  constexpr auto lanes = static_cast<Index>(simd::Simd<Index>::size());
  simd::Simd<Index> any = 0, all = -1;
#pragma GCC unroll 4
  for (Index r = 0; r < Rows; r += lanes) {
    const simd::Simd<Index> column = simd::load(columns + r);
    any |= column;
    all &= column;
  }
  if (!simd::any_negative<Index>(any)) return Padding::none;
  // Sign bits of different lanes belong to different rows.
  return simd::any_negative<Index>(~all) ? Padding::some : Padding::all;
}

/// A step of `Rows` rows: sums += values * x[columns]. In padding, 0 is added, and x is not read.
template <Index Rows, int Count, bool Padded, class V>
inline void step(const Index* columns, const V* values, const Product<V>& product,
                 simd::Simd<V> (&sums)[Count][Rows / simd::Simd<V>::size()]) {
  constexpr auto lanes = static_cast<Index>(simd::Simd<V>::size());
  const V zero = 0;
#pragma GCC unroll 8
  for (Index part = 0; part < Rows / lanes; ++part) {
    const simd::Simd<V> value = simd::load(values + part * lanes);
    const Index* column = columns + part * lanes;
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) {
      const V* x = product.x + static_cast<std::size_t>(j) * product.x_stride;
      if constexpr (Padded)
        sums[j][part] +=
            value * simd::Simd<V>([&](auto lane) { return *(column[lane] < 0 ? &zero : x + column[lane]); });
      else
        sums[j][part] += value * simd::gather(x, column);
    }
  }
}

/// `Rows` neighbouring rows, side by side. One thread a row.
template <Index Rows, int Count, class V>
void multiply_group(const View<V>& matrix, const Product<V>& product, Index row, Offset ahead) {
  constexpr auto lanes = static_cast<Index>(simd::Simd<V>::size());
  const Index rows = matrix.rows - row < Rows ? matrix.rows - row : Rows;
  // Up to `full` no row has padding, from `end` on there is nothing else.
  Index full = 0, end = matrix.width;
  if (matrix.lengths) {
    full = rows == Rows ? matrix.width : 0;
    end = 0;
    for (Index r = 0; r < rows; ++r) {
      const Index length = matrix.lengths[row + r];
      full = length < full ? length : full;
      end = length > end ? length : end;
    }
  }
  const Index* columns = matrix.columns + row;
  const V* values = matrix.values + row;
  simd::Simd<V> sums[Count][Rows / lanes] = {};
  for (Index k = 0; k < end; ++k) {
    __builtin_prefetch(columns + ahead);
    for (Index r = 0; r < Rows; r += static_cast<Index>(64 / sizeof(V))) __builtin_prefetch(values + ahead + r);
    if (k < full) {
      step<Rows, Count, false>(columns, values, product, sums);
    } else {
      const Padding padding = padding_in<Rows>(columns);
      if (padding == Padding::all) break;
      if (padding == Padding::some)
        step<Rows, Count, true>(columns, values, product, sums);
      else
        step<Rows, Count, false>(columns, values, product, sums);
    }
    columns += matrix.slots;
    values += matrix.slots;
  }
  V results[Count][Rows];
  for (int j = 0; j < Count; ++j)
    for (Index part = 0; part < Rows / lanes; ++part) simd::store(sums[j][part], results[j] + part * lanes);
  for (Index r = 0; r < rows; ++r) store_row<Count>(product, row + r, &results[0][r], Rows);
}

/// A row stored for several threads: pieces of so many neighbouring entries.
template <int Count, class V>
void multiply_row(const View<V>& matrix, const Product<V>& product, Index row) {
  V sums[Count] = {};
  Offset place = static_cast<Offset>(row) * matrix.threads;
  for (Index left = matrix.lengths[row]; left > 0; left -= matrix.threads, place += matrix.slots) {
    const Index piece = left < matrix.threads ? left : matrix.threads;
    for (Index k = 0; k < piece; ++k) {
      const V value = matrix.values[place + k];
      const V* x = product.x + matrix.columns[place + k];
#pragma GCC unroll 8
      for (int j = 0; j < Count; ++j) sums[j] += value * x[static_cast<std::size_t>(j) * product.x_stride];
    }
  }
  store_row<Count>(product, row, sums, 1);
}

template <int Count, class V>
void multiply_chunk(const View<V>& matrix, const Product<V>& product, Offset begin, Offset end) {
  if (matrix.threads > 1) {
    for (Offset row = begin; row < end; ++row) multiply_row<Count>(matrix, product, static_cast<Index>(row));
    return;
  }
  // As many rows as leave the sums in registers.
  constexpr Index rows = Count == 1 ? rows_at_once : Count <= 4 ? rows_at_once / 2 : rows_at_once / 4;
  // Each step reads from other pages, so the CPU's own prefetching sees nothing to go by.
  constexpr Offset entries_ahead = 512;
  const Offset ahead = (entries_ahead / matrix.width / rows_at_once + 1) * rows_at_once;
  for (Offset row = begin; row < end; row += rows)
    multiply_group<rows, Count>(matrix, product, static_cast<Index>(row), ahead);
}

template <int Count, class V>
void multiply_counted(const View<V>& matrix, const Product<V>& product, Index chunk_rows, int threads) {
  const Offset rows = matrix.rows;
  const Offset chunks = (rows + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (Offset chunk = 0; chunk < chunks; ++chunk) {
    const Offset end = (chunk + 1) * chunk_rows;
    multiply_chunk<Count>(matrix, product, chunk * chunk_rows, end < rows ? end : rows);
  }
}

}  // namespace

template <class V>
void multiply(const View<V>& matrix, const Product<V>& product, Index chunk_rows, int threads) {
  ::weft::WEFT_ISA_NAMESPACE::with_vector_count(product.count, [&](auto count) {
    multiply_counted<decltype(count)::value>(matrix, product, chunk_rows, threads);
  });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const View<V>&, const Product<V>&, Index, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::ell::WEFT_ISA_NAMESPACE
