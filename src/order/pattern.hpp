#pragma once
#include <weft/csr.hpp>

namespace weft::ordering {

/// Where the entries of a canonical matrix are; orders do not depend on the values.
struct Pattern {
  Index rows = 0;
  Index cols = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;

  template <Value V>
  explicit Pattern(const Csr<V>& matrix)
      : rows(matrix.rows), cols(matrix.cols), offsets(matrix.offsets.data()), columns(matrix.columns.data()) {}
  Pattern(Index row_count, Index col_count, const Offset* row_offsets, const Index* row_columns)
      : rows(row_count), cols(col_count), offsets(row_offsets), columns(row_columns) {}

  Offset nonzeros() const { return offsets[rows]; }
  Offset length(Index row) const { return offsets[row + 1] - offsets[row]; }
};

}  // namespace weft::ordering
