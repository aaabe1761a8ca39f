#include "io/matrix_market_expand.hpp"

#include <algorithm>
#include <vector>

#include "sparse/row_parts.hpp"

namespace weft::io {
namespace {

using Symmetry = MatrixMarketHeader::Symmetry;

/// Value at (row, column) of a dense matrix stored by columns, whole or as its lower triangle.
template <Value V>
V stored_value(const V* stored, Symmetry symmetry, Offset rows, Offset row, Offset column) {
  if (symmetry == Symmetry::general) return stored[column * rows + row];
  const bool mirrored = row < column;
  if (mirrored) std::swap(row, column);
  if (symmetry == Symmetry::symmetric) return stored[column * rows - column * (column - 1) / 2 + row - column];
  if (row == column) return V(0);
  const V value = stored[column * (rows - 1) - column * (column - 1) / 2 + row - column - 1];
  return mirrored ? -value : value;
}

}  // namespace

template <Value V>
Coo<V> add_mirror_images(const Coo<V>& half, bool skew) {
  const Offset count = half.entries();
  std::vector<Offset> begins(static_cast<std::size_t>((count + entry_grain - 1) / entry_grain) + 1);
  parallel_ranges(count, entry_grain, [&](Offset begin, Offset end) {
    Offset mirrored = 0;
    for (Offset i = begin; i < end; ++i) mirrored += half.row_indices[i] != half.column_indices[i];
    begins[begin / entry_grain] = end - begin + mirrored;
  });
  prefix_sum(begins.data(), static_cast<std::int64_t>(begins.size()) - 1);

  const auto total = static_cast<std::size_t>(begins.back());
  Coo<V> full{half.rows, half.cols, Array<Index>(total), Array<Index>(total), Array<V>(total)};
  parallel_ranges(count, entry_grain, [&](Offset begin, Offset end) {
    Offset at = begins[begin / entry_grain];
    const auto add = [&](Index row, Index column, V value) {
      full.row_indices[at] = row;
      full.column_indices[at] = column;
      full.values[at++] = value;
    };
    for (Offset i = begin; i < end; ++i) {
      const Index row = half.row_indices[i], column = half.column_indices[i];
      add(row, column, half.values[i]);
      if (row != column) add(column, row, skew ? -half.values[i] : half.values[i]);
    }
  });
  return full;
}

template <Value V>
Csr<V> array_to_csr(const Array<V>& stored, const MatrixMarketHeader& header) {
  const Index rows = header.rows, cols = header.cols;
  Csr<V> matrix{rows, cols, Array<Offset>(static_cast<std::size_t>(rows) + 1), {}, {}};
  // Neighbouring rows share cache lines of a matrix stored by columns: walk down the columns within a block of rows.
  constexpr Index block = 64;
  const auto each_value = [&](Offset first, Offset last, auto&& visit) {
    for (Index column = 0; column < cols; ++column)
      for (Offset row = first; row < last; ++row) {
        const V value = stored_value(stored.data(), header.symmetry, rows, row, column);
        if (value != V(0)) visit(row, column, value);
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

#define WEFT_INSTANTIATE(V)                                  \
  template Coo<V> add_mirror_images<V>(const Coo<V>&, bool); \
  template Csr<V> array_to_csr<V>(const Array<V>&, const MatrixMarketHeader&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::io
