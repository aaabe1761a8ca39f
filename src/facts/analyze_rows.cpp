#include <weft/structure.hpp>

#include <cmath>

#include "core/parallel.hpp"
#include "facts/length_tally.hpp"
#include "facts/tally_pool.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

LengthTally tally_lengths(const Array<Offset>& offsets, Index rows) {
  TallyPool<LengthTally> pool;
  parallel_ranges(rows, entry_grain, [&](Offset first_row, Offset last_row) {
    pool.use([&](LengthTally& tally) {
      for (Offset row = first_row; row < last_row; ++row) {
        const Offset length = offsets[row + 1] - offsets[row];
        if (length < LengthTally::short_lengths)
          ++tally.rows_of_length[length];
        else
          ++tally.rows_of_long_length[length];
      }
    });
  });
  return pool.total();
}

}  // namespace

void LengthTally::add(const LengthTally& other) {
  for (std::size_t length = 0; length < rows_of_length.size(); ++length)
    rows_of_length[length] += other.rows_of_length[length];
  for (const auto& [length, rows] : other.rows_of_long_length) rows_of_long_length[length] += rows;
}

RowLengths summarize(Index rows, Index cols, Offset nonzeros, const LengthTally& tally) {
  RowLengths facts;
  facts.rows = rows;
  facts.cols = cols;
  facts.nonzeros = nonzeros;
  if (facts.rows == 0) return facts;

  for (Offset length = 0; length < LengthTally::short_lengths; ++length)
    if (tally.rows_of_length[length] > 0) facts.row_lengths.push_back({length, tally.rows_of_length[length]});
  for (const auto& [length, count] : tally.rows_of_long_length) facts.row_lengths.push_back({length, count});
  facts.shortest_row = facts.row_lengths.front().length;
  facts.longest_row = facts.row_lengths.back().length;
  facts.empty_rows = tally.rows_of_length[0];
  facts.mean_row = static_cast<double>(facts.nonzeros) / facts.rows;
  double squares = 0;
  for (const LengthCount& count : facts.row_lengths) {
    const double distance = static_cast<double>(count.length) - facts.mean_row;
    squares += distance * distance * count.rows;
  }
  facts.row_deviation = std::sqrt(squares / facts.rows);
  return facts;
}

template <Value V>
RowLengths analyze_rows(const Csr<V>& matrix) {
  return summarize(matrix.rows, matrix.cols, matrix.nonzeros(), tally_lengths(matrix.offsets, matrix.rows));
}

#define WEFT_INSTANTIATE(V) template RowLengths analyze_rows(const Csr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
