#pragma once
#include <weft/csr.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

namespace weft::bench {

/// The matrix cut into cells; cell (r, c) holds the share of its places with an entry.
struct Raster {
  static constexpr int levels = 6;

  Index rows = 0;
  Index cols = 0;
  std::vector<double> density;

  double sparsest = std::numeric_limits<double>::infinity();  // among the cells with entries
  double densest = 0;

  /// From sparse to dense, on a logarithmic scale: 0..levels-1, or -1 for a cell without entries.
  int level(Index row, Index col) const {
    const double here = density[static_cast<std::size_t>(row) * cols + col];
    if (here == 0) return -1;
    if (densest <= sparsest * 1.01) return levels - 2;
    const double share = std::log(here / sparsest) / std::log(densest / sparsest);
    return std::min(levels - 1, static_cast<int>(share * levels));
  }
};

/// At most `cells` cells a side; rows and columns are shared out as evenly as whole numbers allow.
template <Value V>
Raster rasterize(const Csr<V>& matrix, Index cells) {
  // The first row or column of each cell, and behind them their number.
  const auto borders = [](Offset count, Offset size) {
    std::vector<Offset> begins(static_cast<std::size_t>(count) + 1);
    for (Offset cell = 0; cell <= count && count > 0; ++cell) begins[cell] = (cell * size + count - 1) / count;
    return begins;
  };
  Raster raster;
  raster.rows = std::min(matrix.rows, cells);
  raster.cols = std::min(matrix.cols, cells);
  raster.density.resize(static_cast<std::size_t>(raster.rows) * raster.cols);
  const std::vector<Offset> row_begins = borders(raster.rows, matrix.rows);
  const std::vector<Offset> col_begins = borders(raster.cols, matrix.cols);
  // A division for each entry would take longer than a few products do: multiply, and step to the next cell where
  // rounding fell short or went too far.
  const double cells_a_column = static_cast<double>(raster.cols) / std::max(matrix.cols, 1);
  // A raster row is a stretch of consecutive entries, counted by one thread.
  parallel_for(raster.rows, 1, [&](Offset r) {
    std::vector<Offset> counts(static_cast<std::size_t>(raster.cols));
    const Offset begin = row_begins[r], end = row_begins[r + 1];
    for (Offset i = matrix.offsets[begin]; i < matrix.offsets[end]; ++i) {
      const Index column = matrix.columns[i];
      Offset cell = std::min<Offset>(static_cast<Offset>(column * cells_a_column), raster.cols - 1);
      cell += (column >= col_begins[cell + 1]) - (column < col_begins[cell]);
      ++counts[cell];
    }
    for (Index c = 0; c < raster.cols; ++c) {
      const Offset places = (end - begin) * (col_begins[c + 1] - col_begins[c]);
      raster.density[r * raster.cols + c] = static_cast<double>(counts[c]) / static_cast<double>(places);
    }
  });
  for (double density : raster.density) {
    if (density > 0) raster.sparsest = std::min(raster.sparsest, density);
    raster.densest = std::max(raster.densest, density);
  }
  return raster;
}

}  // namespace weft::bench
