// The CPU kernel of bro-ell; compiled once per instruction set, see core/isa.hpp. A slice is taken column by column:
// then values and symbols are read in the order in which they lie, and what is kept of each row, its column and its
// sum, stays in the first-level cache.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/bro_ell/bro_ell.hpp"

namespace weft::bro_ell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;
using Lanes = simd::Simd<std::uint32_t>;
constexpr auto lane_count = static_cast<Index>(Lanes::size());

/// Where the deltas of one column are: all rows' begin at the same bit of a symbol.
struct Column {
  int begin = 0;
  int width = 0;
  bool crosses = false;  ///< into the next symbol
  Index n = 0;           ///< rows: the distance to the next symbol
};

/// The deltas of neighbouring rows, whose symbols are neighbours. A width is at least 1.
template <bool Crosses>
inline Lanes deltas_at(const std::uint32_t* symbols, const Column& column) {
  Lanes deltas = (simd::load(symbols) << column.begin) >> (32 - column.width);
  if constexpr (Crosses) deltas |= simd::load(symbols + column.n) >> (64 - column.begin - column.width);
  return deltas;
}
template <bool Crosses>
inline Lanes deltas_at(const std::uint64_t* symbols, const Column& column) {
  return Lanes([&](auto lane) {
    std::uint64_t delta = (symbols[lane] << column.begin) >> (64 - column.width);
    if constexpr (Crosses) delta |= symbols[lane + column.n] >> (128 - column.begin - column.width);
    return static_cast<std::uint32_t>(delta);
  });
}

/// sums += values * x[columns] for lane_count rows. Padding adds 0 and does not read x.
template <bool Padded, class V>
inline void add(const Index* columns, const std::uint32_t* deltas, const V* values, const V* x, V* sums) {
  constexpr auto together = static_cast<Index>(simd::Simd<V>::size());
  const V zero = 0;
#pragma GCC unroll 4
  for (Index r = 0; r < lane_count; r += together) {
    simd::Simd<V> factor;
    if constexpr (Padded)
      factor = simd::Simd<V>([&](auto lane) { return *(deltas[r + lane] == 0 ? &zero : x + columns[r + lane]); });
    else
      factor = simd::gather(x, columns + r);
    simd::store<V>(simd::load(sums + r) + simd::load(values + r) * factor, sums + r);
  }
}

template <bool Crosses, class Symbol, class V>
inline void add_column(const Column& column, const Symbol* symbols, const V* values, const V* x, std::uint32_t* columns,
                       V* sums) {
  for (Index r = 0; r < column.n; r += lane_count) {
    const Lanes deltas = deltas_at<Crosses>(symbols + r, column);
    simd::store<std::uint32_t>(simd::load(columns + r) + deltas, columns + r);
    const auto* const column_numbers = reinterpret_cast<const Index*>(columns + r);
    if (!simd::any_zero<std::uint32_t>(deltas)) {
      add<false>(column_numbers, nullptr, values + r, x, sums + r);
    } else {
      std::uint32_t stored[lane_count];
      simd::store<std::uint32_t>(deltas, stored);
      add<true>(column_numbers, stored, values + r, x, sums + r);
    }
  }
}

template <class Symbol, class V>
void multiply_slice(const CpuMatrix<V>& matrix, const Product<V>& product, Index s, const Symbol* symbols) {
  constexpr int symbol_bits = 8 * sizeof(Symbol);
  const Slice& slice = matrix.slices[s];
  const std::uint8_t* const widths = matrix.bit_alloc + slice.width;
  const Offset first = static_cast<Offset>(s) * matrix.slice_rows;
  Column column;
  column.n = rows_in_slice(matrix.rows, matrix.slice_rows, s);
  const Index live = matrix.rows - first < column.n ? static_cast<Index>(matrix.rows - first) : column.n;
  // The slice stays in the cache from one vector to the next.
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    std::uint32_t columns[most_slice_rows];  // counted from 0: one less than the sum of the deltas
    V sums[most_slice_rows];
    for (Index r = 0; r < column.n; ++r) columns[r] = ~std::uint32_t(0);
    for (Index r = 0; r < column.n; ++r) sums[r] = 0;
    const Symbol* from = symbols;
    const V* values = matrix.values + slice.value;
    column.begin = 0;
    for (Index k = 0; k < slice.columns; ++k, values += column.n) {
      column.width = widths[k];
      if (column.begin + column.width > symbol_bits)
        add_column<true>(column, from, values, x, columns, sums);
      else
        add_column<false>(column, from, values, x, columns, sums);
      column.begin += column.width;
      if (column.begin >= symbol_bits) {
        column.begin -= symbol_bits;
        from += column.n;
      }
    }
    V* const y = product.y + static_cast<std::size_t>(j) * product.y_stride + first;
    for (Index r = 0; r < live; ++r)
      y[r] = product.beta == V(0) ? product.alpha * sums[r] : product.alpha * sums[r] + product.beta * y[r];
  }
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
  for (Index s = 0; s < matrix.slice_count; ++s) {
    const std::uint32_t* const words = matrix.words + matrix.slices[s].word;
    if (matrix.symbol_bits == 64)
      multiply_slice(matrix, product, s, reinterpret_cast<const std::uint64_t*>(words));
    else
      multiply_slice(matrix, product, s, words);
  }
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell::WEFT_ISA_NAMESPACE
