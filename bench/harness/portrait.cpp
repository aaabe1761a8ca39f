#include "portrait.hpp"

#include <algorithm>
#include <cmath>

#include "raster.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t most_bins = 64;

/// The last length of each bin, ascending, from the shortest to the longest row.
std::vector<Offset> bin_ends(Offset shortest, Offset longest) {
  std::vector<Offset> ends;
  if (!lengths_differ_widely(shortest, longest)) {
    const Offset width = (longest - shortest) / static_cast<Offset>(most_bins) + 1;
    for (Offset first = shortest; first <= longest; first += width) ends.push_back(first + width - 1);
    return ends;
  }
  for (double growth = 1.2; ends.empty() || ends.size() > most_bins; growth += 0.1) {
    ends.assign(1, 0);
    for (Offset next = 1; next <= longest;) {
      next = std::max(next + 1, static_cast<Offset>(static_cast<double>(next) * growth));
      ends.push_back(next - 1);
    }
  }
  return ends;
}

}  // namespace

bool lengths_differ_widely(Offset shortest, Offset longest) {
  return longest >= 64 && longest >= 8 * std::max<Offset>(1, shortest);
}

std::vector<LengthBin> length_bins(const RowLengths& lengths) {
  if (lengths.row_lengths.empty()) return {};
  std::vector<LengthBin> bins;
  Offset first = 0;
  auto count = lengths.row_lengths.begin();
  for (Offset last : bin_ends(lengths.shortest_row, lengths.longest_row)) {
    LengthBin bin{std::max(first, lengths.shortest_row), std::min(last, lengths.longest_row), 0};
    for (; count != lengths.row_lengths.end() && count->length <= last; ++count) bin.rows += count->rows;
    if (bin.rows > 0) bins.push_back(bin);
    first = last + 1;
  }
  return bins;
}

template <Value V>
Portrait portrait_of(const Csr<V>& matrix) {
  Portrait portrait;
  const Raster raster = rasterize(matrix, portrait_cells);
  for (Index row = 0; row < raster.rows; ++row) {
    std::string& line = portrait.cells.emplace_back();
    for (Index col = 0; col < raster.cols; ++col) {
      const int level = raster.level(row, col);
      line += level < 0 ? '.' : static_cast<char>('0' + level);
    }
  }
  portrait.lengths = length_bins(analyze_rows(matrix));
  return portrait;
}

#define WEFT_INSTANTIATE(V) template Portrait portrait_of(const Csr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::bench
