#include "io/matrix_market_assemble.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sparse/row_parts.hpp"

namespace weft::io {
namespace {

/// A file stores all rows of a column, or those from the diagonal on, or (skew) those below it.
Offset first_stored_row(Symmetry symmetry, Offset column) {
  if (symmetry == Symmetry::general) return 0;
  return symmetry == Symmetry::skew ? column + 1 : column;
}

/// The value at (row, column) is number column_begin + row of the file.
Offset column_begin(Symmetry symmetry, Offset rows, Offset column) {
  if (symmetry == Symmetry::general) return column * rows;
  const Offset longest = symmetry == Symmetry::skew ? rows - 1 : rows;
  return column * longest - column * (column - 1) / 2 - first_stored_row(symmetry, column);
}

}  // namespace

template <Value V>
void fold_below_diagonal(Coo<V>& entries, bool skew) {
  parallel_for(entries.entries(), entry_grain, [&](Offset i) {
    Index& row = entries.row_indices[i];
    Index& column = entries.column_indices[i];
    if (row >= column) return;
    std::swap(row, column);
    if (skew) entries.values[i] = -entries.values[i];
  });
}

template <Value V>
Csr<V> array_to_csr(const Array<V>& stored, const MatrixMarketHeader& header) {
  const Index rows = header.rows, cols = header.cols;
  Csr<V> matrix{rows, cols, Array<Offset>(static_cast<std::size_t>(rows) + 1), {}, {}};
  // Neighbouring rows share cache lines of a matrix stored by columns: walk down the columns within a block of rows.
  constexpr Index block = 64;
  const auto each_value = [&](Offset first, Offset last, auto&& visit) {
    for (Index column = 0; column < cols; ++column) {
      const Offset begin = column_begin(header.symmetry, rows, column);
      for (Offset row = std::max(first, first_stored_row(header.symmetry, column)); row < last; ++row)
        if (stored[begin + row] != V(0)) visit(row, column, stored[begin + row]);
    }
  };
  parallel_ranges(rows, block, [&](Offset first, Offset last) {
    std::fill(matrix.offsets.begin() + first, matrix.offsets.begin() + last, Offset(0));
    each_value(first, last, [&](Offset row, Index, V) { ++matrix.offsets[row]; });
  });
  prefix_sum(matrix.offsets.data(), rows);
  matrix.columns = Array<Index>(static_cast<std::size_t>(matrix.nonzeros()));
  matrix.values = Array<V>(static_cast<std::size_t>(matrix.nonzeros()));
  parallel_ranges(rows, block, [&](Offset first, Offset last) {
    std::vector<Offset> next(matrix.offsets.begin() + first, matrix.offsets.begin() + last);
    each_value(first, last, [&](Offset row, Index column, V value) {
      const Offset at = next[row - first]++;
      matrix.columns[at] = column;
      matrix.values[at] = value;
    });
  });
  return matrix;
}

#define WEFT_INSTANTIATE(V)                            \
  template void fold_below_diagonal<V>(Coo<V>&, bool); \
  template Csr<V> array_to_csr<V>(const Array<V>&, const MatrixMarketHeader&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::io
