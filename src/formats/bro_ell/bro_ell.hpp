#pragma once
#include "core/isa.hpp"
#include "formats/bit_packing.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::bro_ell {

const Format& format();

/// How a matrix is cut.
struct Shape {
  Index slice_rows = 256;  ///< h
  int symbol_bits = 32;    ///< 32 or 64
  Index most_columns = std::numeric_limits<Index>::max();  ///< entries kept of a row; bro-hyb wants only its first k
};

/// Where a slice lies.
struct Slice {
  Offset value = 0;     ///< its first value
  Offset word = 0;      ///< its first symbol, in words of 32 bits
  Offset width = 0;     ///< the width of its first column in `bit_alloc`: a multiple of 4
  Index columns = 0;    ///< the paper's num_col: the entries of its longest row
  Index symbols = 0;    ///< of a row
  bool operator==(const Slice&) const = default;
};

/// Widths are looked at four columns at a time, so a slice's begin at multiples of 4. Those between are 0.
constexpr Index widths_together = 4;
constexpr Offset round_up(Offset number, Offset multiple) { return (number + multiple - 1) / multiple * multiple; }

/// A matrix in slices of h rows. In a slice of n rows and l columns,
/// - entry k of row r has its value at value + k * n + r; where the row has no entry k, a 0 stands there (padding);
/// - its column is found from deltas: the distance to the column of entry k - 1 or, of entry 0, the column's number
///   counted from 1. Padding has delta 0, which no entry has. A row has its entries first, padding behind them;
/// - the deltas of entry k are written with bit_alloc[width + k] bits, at most 31, each row's in a stream of its own
///   (bit_packing.hpp); symbol j of row r is at word + (j * n + r) * words_a_symbol.
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

constexpr Index slice_count(Index rows, Index slice_rows) {
  return static_cast<Index>((static_cast<Offset>(rows) + slice_rows - 1) / slice_rows);
}

/// The rows n of a slice's arrays: h, and of the last slice no more than its rows fill warps.
WEFT_HOST_DEVICE constexpr Index rows_in_slice(Index rows, Index slice_rows, Index slice) {
  constexpr Offset warp = 32;
  const Offset left = (rows - static_cast<Offset>(slice) * slice_rows + warp - 1) / warp * warp;
  return left < slice_rows ? static_cast<Index>(left) : slice_rows;
}

/// Chooses what the user has left open.
Shape choose_shape(const BuildOptions& options);

/// The encoder on the CPU: parallel over slices. Throws Error(unsupported) when padding exceeds the limit.
template <Value V>
Storage<V> encode(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options);

/// The columns, row after row, without padding: what was encoded. For tests and loaders; it trusts the arrays.
template <Value V>
Csr<V> decode(const Storage<V>& storage);

/// Bytes of the stream, of the widths (one a column) and of num_col (four a slice).
template <Value V>
Offset compressed_bytes(const Storage<V>& storage);

/// The paper's space savings: 1 - C / O, where O is ELLPACK's array of columns, 4 bytes each, padding included.
double space_savings(Offset compressed_bytes, Index rows, Index longest_row);

}  // namespace weft::bro_ell

WEFT_DECLARE_GPU_BUILDER(bro_ell)
