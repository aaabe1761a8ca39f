// The CPU kernel of bro-ell; compiled once per instruction set, see core/isa.hpp. A few neighbouring rows are followed
// together: their symbols are neighbours, and their widths are the same.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/cpu_product.hpp"

namespace weft::bro_ell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;
using Lanes = simd::Simd<std::uint32_t>;
constexpr auto lane_count = static_cast<Index>(Lanes::size());

constexpr Index tile_rows = 16;
constexpr Index tile_parts = tile_rows / lane_count;

/// Where the deltas of one column are: all rows' begin at the same bit of a symbol.
struct Column {
  int begin = 0;
  int width = 0;
  Index n = 0;  ///< rows: the distance to the next symbol
};

/// The deltas of neighbouring rows. A width is at least 1. Crosses: they end in the next symbol.
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

/// What is known of the rows of a tile after some columns.
template <class V>
struct Tile {
  using Sums = simd::Simd<V>;
  static constexpr auto sum_lanes = static_cast<Index>(Sums::size());
  static constexpr Index sum_parts = tile_rows / sum_lanes;

  Lanes columns[tile_parts];  // counted from 0: one less than the sum of the deltas
  Sums sums[sum_parts];
};

/// One column of a tile: sums += values * x[columns]. Padding adds 0 and does not read x.
template <bool Crosses, class Symbol, class V>
inline void add_column(Tile<V>& tile, const Column& column, const Symbol* symbols, const V* values, const V* x) {
  constexpr Index together = Tile<V>::sum_lanes;
  std::uint32_t numbers[tile_rows];
  Lanes deltas[tile_parts];
  Lanes least = 0;
#pragma GCC unroll 4
  for (Index p = 0; p < tile_parts; ++p) {
    deltas[p] = deltas_at<Crosses>(symbols + p * lane_count, column);
    tile.columns[p] += deltas[p];
    simd::store<std::uint32_t>(tile.columns[p], numbers + p * lane_count);
    least = p == 0 ? deltas[p] : simd::smaller_of<std::uint32_t>(least, deltas[p]);
  }
  if (!simd::any_zero<std::uint32_t>(least)) {
#pragma GCC unroll 16
    for (Index p = 0; p < Tile<V>::sum_parts; ++p)
      tile.sums[p] += simd::load(values + p * together) * simd::gather(x, numbers + p * together);
    return;
  }
  const V zero = 0;
  std::uint32_t stored[tile_rows];
#pragma GCC unroll 4
  for (Index p = 0; p < tile_parts; ++p) simd::store<std::uint32_t>(deltas[p], stored + p * lane_count);
#pragma GCC unroll 16
  for (Index p = 0; p < Tile<V>::sum_parts; ++p) {
    const Index r = p * together;
    const simd::Simd<V> factor([&](auto lane) { return *(stored[r + lane] == 0 ? &zero : x + numbers[r + lane]); });
    tile.sums[p] += simd::load(values + r) * factor;
  }
}

/// The sums of tile_rows rows.
template <class Symbol, class V>
inline void sum_tile(const Slice& slice, Index n, const std::uint8_t* widths, const Symbol* symbols, const V* values,
                     Offset ahead, const V* x, V* sums) {
  constexpr int symbol_bits = 8 * sizeof(Symbol);
  Tile<V> tile;
#pragma GCC unroll 4
  for (Index p = 0; p < tile_parts; ++p) tile.columns[p] = ~std::uint32_t(0);
#pragma GCC unroll 16
  for (Index p = 0; p < Tile<V>::sum_parts; ++p) tile.sums[p] = 0;
  Column column;
  column.n = n;
  for (Index k = 0; k < slice.columns; ++k, values += n) {
    // The next tile's rows lie elsewhere, where the CPU's own prefetching does not look.
    for (Index r = 0; r < tile_rows; r += static_cast<Index>(64 / sizeof(V))) __builtin_prefetch(values + ahead + r);
    column.width = widths[k];
    if (column.begin + column.width > symbol_bits)
      add_column<true>(tile, column, symbols, values, x);
    else
      add_column<false>(tile, column, symbols, values, x);
    column.begin += column.width;
    if (column.begin >= symbol_bits) {
      column.begin -= symbol_bits;
      symbols += n;
      __builtin_prefetch(symbols + tile_rows);
    }
  }
#pragma GCC unroll 16
  for (Index p = 0; p < Tile<V>::sum_parts; ++p) simd::store<V>(tile.sums[p], sums + p * Tile<V>::sum_lanes);
}

template <class Symbol, class V>
void multiply_slice(const CpuMatrix<V>& matrix, const Product<V>& product, Index s, const Symbol* symbols) {
  const Slice& slice = matrix.slices[s];
  const Offset first = static_cast<Offset>(s) * matrix.slice_rows;
  const Index n = rows_in_slice(matrix.rows, matrix.slice_rows, s);
  const Index live = matrix.rows - first < n ? static_cast<Index>(matrix.rows - first) : n;
  // The slice stays in the cache from one vector to the next.
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    for (Index r = 0; r < live; r += tile_rows) {
      // After the last tile comes the next slice.
      const Offset ahead = live - r > tile_rows ? tile_rows : static_cast<Offset>(slice.columns) * n - r;
      V sums[tile_rows];
      sum_tile(slice, n, matrix.bit_alloc + slice.width, symbols + r, matrix.values + slice.value + r, ahead, x, sums);
      const Index count = live - r < tile_rows ? live - r : tile_rows;
      simd::store_sums(product, first + r, j, sums, count);
    }
  }
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  simd::for_each_piece(matrix.slice_count, threads, [&](int, Offset number) {
    const auto s = static_cast<Index>(number);
    const std::uint32_t* const words = matrix.words + matrix.slices[s].word;
    if (matrix.symbol_bits == 64)
      multiply_slice(matrix, product, s, reinterpret_cast<const std::uint64_t*>(words));
    else
      multiply_slice(matrix, product, s, words);
  });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell::WEFT_ISA_NAMESPACE
