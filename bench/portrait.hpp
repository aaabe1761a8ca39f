#pragma once
#include <weft/csr.hpp>

#include <string>
#include <vector>

namespace weft::bench {

/// How many rows have from `first` to `last` entries.
struct LengthBin {
  Offset first = 0;
  Offset last = 0;
  Offset rows = 0;
};

/// What a matrix looks like, small enough to be kept with every result.
struct Portrait {
  /// The matrix cut into at most 64 x 64 cells, a string a row of cells: '.' for a cell without entries, else '0' to
  /// '5' from sparse to dense, on a logarithmic scale.
  std::vector<std::string> cells;
  std::vector<LengthBin> lengths;  ///< ascending, at most 64, none of them without rows
};

}  // namespace weft::bench
