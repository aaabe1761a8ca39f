// The CPU kernel of bro-ell; compiled once per instruction set, see core/isa.hpp. A few neighbouring rows are followed
// together: their symbols are neighbours, and their widths are the same.
#include "core/simd.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

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

/// What is known of the rows of a tile after some columns, but for sums.
struct Decoded {
  Lanes columns[tile_parts];         // counted from 0: one less than the sum of the deltas
  std::uint32_t numbers[tile_rows];  // the same
  std::uint32_t deltas[tile_rows];   // where `next` returned true

  Decoded() {
#pragma GCC unroll 4
    for (Index p = 0; p < tile_parts; ++p) columns[p] = ~std::uint32_t(0);
  }

  /// Goes on to the next column. True: some rows have padding there, those whose delta is 0.
  template <bool Crosses, class Symbol>
  inline bool next(const Column& column, const Symbol* symbols) {
    Lanes found[tile_parts];
    Lanes least = 0;
#pragma GCC unroll 4
    for (Index p = 0; p < tile_parts; ++p) {
      found[p] = deltas_at<Crosses>(symbols + p * lane_count, column);
      columns[p] += found[p];
      simd::store<std::uint32_t>(columns[p], numbers + p * lane_count);
      least = p == 0 ? found[p] : simd::smaller_of<std::uint32_t>(least, found[p]);
    }
    if (!simd::any_zero<std::uint32_t>(least)) return false;
#pragma GCC unroll 4
    for (Index p = 0; p < tile_parts; ++p) simd::store<std::uint32_t>(found[p], deltas + p * lane_count);
    return true;
  }
};

/// The sums of a tile with one vector.
template <class V>
class Tile {
 public:
  explicit Tile(const V* x) : x_(x) {
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) sums_[p] = 0;
  }

  /// One column: sums += values * x[columns]. Padding adds 0 and does not read x.
  template <bool Crosses, class Symbol>
  inline void add(const Column& column, const Symbol* symbols, const V* values) {
    if (!decoded_.template next<Crosses>(column, symbols)) {
#pragma GCC unroll 16
      for (Index p = 0; p < parts; ++p)
        simd::add_product(sums_[p], simd::load(values + p * lanes), simd::gather(x_, decoded_.numbers + p * lanes));
      return;
    }
    const V zero = 0;
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) {
      const Index r = p * lanes;
      const Sums factor(
          [&](auto lane) { return *(decoded_.deltas[r + lane] == 0 ? &zero : x_ + decoded_.numbers[r + lane]); });
      simd::add_product(sums_[p], simd::load(values + r), factor);
    }
  }

  void store(const Product<V>& product, Offset row, int vector, Index count) const {
    V sums[tile_rows];
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) simd::store<V>(sums_[p], sums + p * lanes);
    simd::store_sums(product, row, vector, sums, count);
  }

 private:
  using Sums = simd::Simd<V>;
  static constexpr auto lanes = static_cast<Index>(Sums::size());
  static constexpr Index parts = tile_rows / lanes;

  Decoded decoded_;
  Sums sums_[parts];
  const V* x_;
};

/// The sums of a tile with row-major vectors.
template <class Vectors, class V>
class RowMajorTile {
 public:
  explicit RowMajorTile(const Vectors& vectors) : vectors_(vectors) {
    for (V(&row)[max_row_major_vectors] : sums_) vectors.save({}, row);
  }

  template <bool Crosses, class Symbol>
  inline void add(const Column& column, const Symbol* symbols, const V* values) {
    const bool padded = decoded_.template next<Crosses>(column, symbols);
    for (Index r = 0; r < tile_rows; ++r) {
      if (padded && decoded_.deltas[r] == 0) continue;
      typename Vectors::Sums sums = vectors_.saved(sums_[r]);
      vectors_.add(sums, values[r], vectors_.x(decoded_.numbers[r]));
      vectors_.save(sums, sums_[r]);
    }
  }

  void store(Offset row, Index count) const {
    for (Index r = 0; r < count; ++r) vectors_.store(row + r, vectors_.saved(sums_[r]));
  }

 private:
  Decoded decoded_;
  V sums_[tile_rows][max_row_major_vectors];
  const Vectors vectors_;
};

/// Adds all columns of a slice to a tile of its rows.
template <class Tile, class Symbol, class V>
inline void add_columns(Tile& tile, const Slice& slice, Index n, const std::uint8_t* widths, const Symbol* symbols,
                        const V* values, Offset ahead) {
  constexpr int symbol_bits = 8 * sizeof(Symbol);
  Column column;
  column.n = n;
  for (Index k = 0; k < slice.columns; ++k, values += n) {
    // The next tile's rows lie elsewhere, where the CPU's own prefetching does not look.
    for (Index r = 0; r < tile_rows; r += static_cast<Index>(64 / sizeof(V))) __builtin_prefetch(values + ahead + r);
    column.width = widths[k];
    if (column.begin + column.width > symbol_bits)
      tile.template add<true>(column, symbols, values);
    else
      tile.template add<false>(column, symbols, values);
    column.begin += column.width;
    if (column.begin >= symbol_bits) {
      column.begin -= symbol_bits;
      symbols += n;
      __builtin_prefetch(symbols + tile_rows);
    }
  }
}

/// A slice with every vector (`vectors` is the product), or with row-major vectors.
template <class Symbol, class V, class Vectors>
void multiply_slice(const CpuMatrix<V>& matrix, const Vectors& vectors, Index s, const Symbol* symbols) {
  const Slice& slice = matrix.slices[s];
  const Offset first = static_cast<Offset>(s) * matrix.slice_rows;
  const Index n = rows_in_slice(matrix.rows, matrix.slice_rows, s);
  const Index live = matrix.rows - first < n ? static_cast<Index>(matrix.rows - first) : n;
  const auto add_rows = [&](auto& tile, Index r) {
    // After the last tile comes the next slice.
    const Offset ahead = live - r > tile_rows ? tile_rows : static_cast<Offset>(slice.columns) * n - r;
    add_columns(tile, slice, n, matrix.bit_alloc + slice.width, symbols + r, matrix.values + slice.value + r, ahead);
    return live - r < tile_rows ? live - r : tile_rows;
  };
  if constexpr (std::is_same_v<Vectors, Product<V>>) {
    // The slice stays in the cache from one vector to the next.
    for (int j = 0; j < vectors.count; ++j)
      for (Index r = 0; r < live; r += tile_rows) {
        Tile<V> tile(vectors.x + static_cast<std::size_t>(j) * vectors.x_stride);
        const Index count = add_rows(tile, r);
        tile.store(vectors, first + r, j, count);
      }
  } else {
    for (Index r = 0; r < live; r += tile_rows) {
      RowMajorTile<Vectors, V> tile(vectors);
      const Index count = add_rows(tile, r);
      tile.store(first + r, count);
    }
  }
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const auto run = [&](const auto& vectors) {
    simd::for_each_piece(matrix.slice_count, threads, [&](int, Offset number) {
      const auto s = static_cast<Index>(number);
      const std::uint32_t* const words = matrix.words + matrix.slices[s].word;
      if (matrix.symbol_bits == 64)
        multiply_slice(matrix, vectors, s, reinterpret_cast<const std::uint64_t*>(words));
      else
        multiply_slice(matrix, vectors, s, words);
    });
  };
  if (product.layout == Layout::row_major)
    simd::with_row_vectors(product, run);
  else
    run(product);
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell::WEFT_ISA_NAMESPACE
