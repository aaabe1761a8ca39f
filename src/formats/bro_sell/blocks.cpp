// Which blocks a matrix has.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "formats/bro_sell/bro_sell.hpp"

namespace weft::bro_sell {
namespace {

constexpr Index rows_at_once = 2048;  // of a parallel loop
constexpr Index none = std::numeric_limits<Index>::max();

/// Calls body(block column) for the blocks of a block row, in ascending order.
template <class F>
void for_each_block(const Offset* offsets, const Index* columns, Offset first_row, int block, F&& body) {
  Offset next[6];
  for (int r = 0; r < block; ++r) next[r] = offsets[first_row + r];
  for (;;) {
    Index first = none;
    for (int r = 0; r < block; ++r)
      if (next[r] < offsets[first_row + r + 1]) first = std::min(first, columns[next[r]]);
    if (first == none) return;
    const Index column = first / block;
    const Offset behind = (Offset(column) + 1) * block;
    for (int r = 0; r < block; ++r)
      while (next[r] < offsets[first_row + r + 1] && columns[next[r]] < behind) ++next[r];
    body(column);
  }
}

}  // namespace

int choose_block(Index rows, Index cols, const Offset* offsets, const Index* columns) {
  constexpr Index most_stretches = 256, stretch = 12;  // block rows
  constexpr Offset most_entries = 1 << 16;             // looked at
  constexpr Offset enough_to_give_up = 1 << 11;
  for (int block = 6; block > 1; --block) {
    if (rows % block != 0 || cols % block != 0 || rows == 0) continue;
    const Index block_rows = rows / block;
    const Index stretches = std::min<Index>(most_stretches, (block_rows + stretch - 1) / stretch);
    Offset entries = 0, blocks = 0;
    const auto full_to = [&](double share) {
      return static_cast<double>(entries) >= share * static_cast<double>(blocks * block * block);
    };
    for (Index i = 0; i < stretches && entries < most_entries; ++i) {
      const auto first = static_cast<Index>(Offset(i) * block_rows / stretches);
      for (Index row = first; row < std::min(block_rows, first + stretch); ++row) {
        const Offset begin = Offset(row) * block;
        entries += offsets[begin + block] - offsets[begin];
        for_each_block(offsets, columns, begin, block, [&](Index) { ++blocks; });
      }
      if (entries > enough_to_give_up && !full_to(0.8 * block_fill_wanted)) break;
    }
    if (entries > 0 && full_to(block_fill_wanted)) return block;
  }
  return 1;
}

template <Value V>
int block_for(const Csr<V>& matrix, const BuildOptions& options) {
  if (!options.has("block"))
    return choose_block(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data());
  const auto block = static_cast<int>(options.parameter("block", 1));
  return matrix.rows % block == 0 && matrix.cols % block == 0 ? block : 1;
}

#define WEFT_INSTANTIATE(V) template int block_for<V>(const Csr<V>&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

Pattern find_pattern(Index rows, const Array<Offset>& offsets, const Array<Index>& columns, int block) {
  if (block == 1) return {1, rows, offsets, columns};
  Pattern pattern;
  pattern.block = block;
  pattern.rows = rows / block;
  pattern.offsets = Array<Offset>(static_cast<std::size_t>(pattern.rows) + 1);
  parallel_for(pattern.rows, rows_at_once, [&](Offset row) {
    Offset count = 0;
    for_each_block(offsets.data(), columns.data(), row * block, block, [&](Index) { ++count; });
    pattern.offsets[row] = count;
  });
  prefix_sum(pattern.offsets.data(), pattern.rows);
  pattern.columns = Array<Index>(static_cast<std::size_t>(pattern.offsets.back()));
  parallel_for(pattern.rows, rows_at_once, [&](Offset row) {
    Offset to = pattern.offsets[row];
    for_each_block(offsets.data(), columns.data(), row * block, block,
                   [&](Index column) { pattern.columns[to++] = column; });
  });
  return pattern;
}

}  // namespace weft::bro_sell
