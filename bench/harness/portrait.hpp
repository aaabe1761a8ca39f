#pragma once
#include <weft/csr.hpp>
#include <weft/structure.hpp>

#include <string>
#include <vector>

namespace weft::bench {

/// How many rows have from `first` to `last` entries.
struct LengthBin {
  Offset first = 0;
  Offset last = 0;
  Offset rows = 0;
  bool operator==(const LengthBin&) const = default;
};

/// What a matrix looks like, small enough to be kept with every result.
struct Portrait {
  /// The matrix cut into at most 64 x 64 cells, a string a row of cells: '.' for a cell without entries, else '0' to
  /// '5' from sparse to dense, on a logarithmic scale.
  std::vector<std::string> cells;
  std::vector<LengthBin> lengths;  ///< ascending, at most 64, none of them without rows
};

constexpr Index portrait_cells = 64;

/// Two passes over the pattern, in parallel: about what two products take.
template <Value V>
Portrait portrait_of(const Csr<V>& matrix);

/// True where lengths differ so widely that they are looked at on a logarithmic axis.
bool lengths_differ_widely(Offset shortest, Offset longest);

/// The distribution in at most 64 bins, ascending, none without rows: a bin a length where there are few, else bins of
/// equal width or, where lengths differ widely, of growing width. The first begins with the shortest row, the last ends
/// with the longest; empty rows have a bin of their own where lengths differ widely.
std::vector<LengthBin> length_bins(const RowLengths& lengths);

}  // namespace weft::bench
