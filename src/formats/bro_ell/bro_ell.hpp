#pragma once
#include <limits>

#include "core/isa.hpp"
#include "formats/bit_packing.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::bro_ell {

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

/// How a matrix is cut.
struct Shape {
  Index slice_rows = 256;  ///< h
  int symbol_bits = 32;    ///< 32 or 64
  Index max_columns =
      std::numeric_limits<Index>::max();  ///< entries kept of a row; less only in a part, see build_part
  int min_bits = 1;  ///< of a delta; more than needed only to measure what bits cost, as the paper's Figure 3 does

  bool is_part() const { return max_columns < std::numeric_limits<Index>::max(); }
};

/// Where a slice is stored.
struct Slice {
  Offset value = 0;   ///< its first value
  Offset word = 0;    ///< its first symbol, in words of 32 bits
  Offset width = 0;   ///< the width of its first column in `bit_alloc`: a multiple of 4
  Index columns = 0;  ///< the paper's num_col: the entries of its longest row
  Index symbols = 0;  ///< of a row
  bool operator==(const Slice&) const = default;
};

/// Widths are looked at four columns at a time, so a slice's begin at multiples of 4. Those between are 0.
constexpr Index widths_together = 4;
WEFT_HOST_DEVICE constexpr Offset round_up(Offset number, Offset multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

/// A matrix in slices of h rows. In a slice of n rows and l columns,
/// - entry k of row r has its value at value + k * n + r; where the row has no entry k, a 0 is stored (padding);
/// - its column is found from deltas: the distance to the column of entry k - 1 or, of entry 0, the column's number
///   counted from 1. Padding has delta 0, which no entry has. A row has its entries first, padding after them;
/// - the deltas of entry k are written with bit_alloc[width + k] bits, at most 31, each row's in a stream of its own
///   (bit_packing.hpp); symbol j of row r is at word + (j * n + r) * words_per_symbol.
/// Slices follow one another without gaps in all three arrays, apart from what rounds widths up to multiples of 4.
template <class V>
struct Storage {
  Shape shape;
  Index rows = 0;
  Index cols = 0;
  Offset kept = 0;  ///< the matrix's own entries among the stored ones
  Array<Slice> slices;
  Array<std::uint8_t> bit_alloc;
  Array<std::uint32_t> words;  ///< the symbols; one of 64 bits takes two words, as this machine stores such a number
  Array<V> values;
};

WEFT_HOST_DEVICE constexpr Index slice_count(Index rows, Index slice_rows) {
  return static_cast<Index>((static_cast<Offset>(rows) + slice_rows - 1) / slice_rows);
}

/// The rows n of a slice's arrays: h, and of the last slice no more than its rows fill warps.
WEFT_HOST_DEVICE constexpr Index rows_in_slice(Index rows, Index slice_rows, Index slice) {
  constexpr Offset warp = 32;
  const Offset left = (rows - static_cast<Offset>(slice) * slice_rows + warp - 1) / warp * warp;
  return left < slice_rows ? static_cast<Index>(left) : slice_rows;
}

/// What the user requests, or else the paper's.
Shape choose_shape(const BuildOptions& options);

/// The parameters that give this shape.
std::map<std::string, std::int64_t> numbers_of(const Shape& shape);

/// An operator in any shape, whatever parameters `options` hold.
template <Value V>
std::unique_ptr<Operator<V>> build_shape(const MatrixSource<V>& source, const Shape& shape,
                                         const BuildOptions& options);

/// The first `width` entries of each row as an operator of its own: the bro-ell part of bro-hyb. New values are those
/// of the whole matrix.
template <Value V>
std::unique_ptr<Operator<V>> build_part(const MatrixSource<V>& source, Index width, const BuildOptions& options);

/// The deltas of a row go to `writer`, and 0 for entries it does not have: `columns` of them in all, of these widths.
template <class Symbol>
WEFT_HOST_DEVICE constexpr void pack_row(const Index* csr_columns, Index length, const std::uint8_t* widths,
                                         Index columns, BitWriter<Symbol>& writer) {
  std::uint32_t before = 0;
  for (Index k = 0; k < columns; ++k) {
    const std::uint32_t column = k < length ? static_cast<std::uint32_t>(csr_columns[k]) + 1 : before;
    writer.put(column - before, widths[k]);
    before = column;
  }
  writer.finish();
}

/// Some rows of a csr matrix, which become a slice.
struct SliceRows {
  const Offset* offsets = nullptr;  ///< of the first row
  const Index* columns = nullptr;   ///< of the whole matrix
  Index count = 0;
};

/// Finds the widths of a slice's `columns` columns.
void measure_slice(const SliceRows& rows, Index columns, std::uint8_t* widths, int min_bits = 1);

/// Writes a slice's symbols, of any length up to that of Symbol, for n rows.
template <class Symbol>
void pack_slice(const SliceRows& rows, Index columns, const std::uint8_t* widths, int symbol_bits, Index n, Symbol* to);

/// The encoder on the CPU: parallel over slices. Throws Error(unsupported) when padding exceeds the limit.
template <Value V>
Storage<V> encode(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options);

/// Writes the values, in csr's order, to their places, and 0 to padding.
template <Value V>
void place_values(const Storage<V>& storage, const Array<Offset>& offsets, const V* csr_values, V* values);

/// The storage as named arrays, and back. The second throws Error(parse) where sizes or widths are wrong; `decode` then
/// looks at what the arrays hold, and throws it unless that is what `encode` makes of a canonical matrix.
template <Value V>
StoredArrays to_arrays(const Storage<V>& storage);
template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols);
template <Value V>
Csr<V> decode(const Storage<V>& storage);

/// Throws Error(unsupported) when so many stored values are too much padding.
void refuse_padding(const Shape& shape, Offset stored, Offset kept, std::size_t value_bytes,
                    const BuildOptions& options);

/// What of the indices is compared with ELLPACK's.
struct Savings {
  Offset compressed_bytes = 0;  ///< C: the stream, a byte for each width and four for each num_col
  Offset ellpack_bytes = 0;     ///< O: ELLPACK's array of columns, four bytes each, padding included
  /// The paper's space savings, 1 - C / O; 0 for a matrix without entries.
  double eta() const;
};

/// `widths` are those of all slices, `longest` the entries of the longest row.
Savings savings_of(Index rows, Index slices, Offset words, Offset widths, Offset longest);

template <Value V>
Savings savings_of(const Storage<V>& storage);

/// The savings that `encode` would reach, without storing anything: no padding is too much.
template <Value V>
Savings savings_of(const Csr<V>& matrix, const Shape& shape);

/// "h = 256, 32-bit symbols, eta = 50.7 %"
std::string describe(const Shape& shape, const Savings& savings);

/// What the CPU kernel reads.
template <class V>
struct CpuMatrix {
  Index rows = 0;
  Index slice_rows = 0;
  int symbol_bits = 32;
  Index slice_count = 0;
  const Slice* slices = nullptr;
  const std::uint8_t* bit_alloc = nullptr;
  const std::uint32_t* words = nullptr;
  const V* values = nullptr;
};

constexpr Index max_slice_rows = 1024;

WEFT_FOR_EACH_ISA(template <class V> void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::bro_ell

WEFT_DECLARE_GPU_LOADER(bro_ell, bro_ell::Storage<V>)
WEFT_DECLARE_ON_DEVICES(bro_ell,
                        template <Value V> std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source,
                                                                              const ::weft::bro_ell::Shape& shape,
                                                                              const BuildOptions& options);
                        // For tests: what the encoder on the GPU makes, copied back.
                        template <Value V>::weft::bro_ell::Storage<V> encode(const MatrixSource<V>& source,
                                                                             const ::weft::bro_ell::Shape& shape,
                                                                             const BuildOptions& options);)
