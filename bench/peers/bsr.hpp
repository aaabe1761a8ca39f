#pragma once
#include <weft/csr.hpp>

#include <algorithm>
#include <vector>

namespace weft::bench {

/// A matrix in square blocks of `size`, each stored in full, row by row. A row of blocks has them in ascending order of
/// their columns; offsets count blocks.
template <Value V>
struct Bsr {
  Index size = 1;
  Array<Offset> offsets;
  Array<Index> columns;
  Array<V> values;
};

/// `size` must divide the rows and columns of `matrix`.
template <Value V>
Bsr<V> to_bsr(const Csr<V>& matrix, Index size) {
  const Index block_rows = matrix.rows / size;
  const auto area = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<Offset> place(static_cast<std::size_t>(matrix.cols / size), -1);  // of a block column, in this block row
  Bsr<V> result{size, Array<Offset>(static_cast<std::size_t>(block_rows) + 1, 0), {}, {}};

  // Twice over the rows: which blocks there are, then their values.
  std::vector<Index> columns;
  for (Index block_row = 0; block_row < block_rows; ++block_row) {
    const auto begin = static_cast<Offset>(columns.size());
    for (Offset k = matrix.offsets[block_row * size]; k < matrix.offsets[(block_row + 1) * size]; ++k) {
      const Index column = matrix.columns[k] / size;
      if (place[column] >= begin) continue;
      place[column] = static_cast<Offset>(columns.size());
      columns.push_back(column);
    }
    std::sort(columns.begin() + begin, columns.end());
    result.offsets[block_row + 1] = static_cast<Offset>(columns.size());
  }
  result.columns = Array<Index>(std::move(columns));
  result.values = Array<V>(result.columns.size() * area, V(0));
  for (Index block_row = 0; block_row < block_rows; ++block_row) {
    for (Offset b = result.offsets[block_row]; b < result.offsets[block_row + 1]; ++b) place[result.columns[b]] = b;
    for (Index inner = 0; inner < size; ++inner) {
      const Index row = block_row * size + inner;
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const Index column = matrix.columns[k];
        result.values[static_cast<std::size_t>(place[column / size]) * area +
                      static_cast<std::size_t>(inner * size + column % size)] = matrix.values[k];
      }
    }
  }
  return result;
}

}  // namespace weft::bench
