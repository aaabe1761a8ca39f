// The blocks of a matrix, on the CPU.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "facts/source_facts.hpp"
#include "formats/bro_sell/bro_sell.hpp"

namespace weft::bro_sell {
namespace {

constexpr Index rows_at_once = 2048;  // of a parallel loop
constexpr Index none = std::numeric_limits<Index>::max();

/// Calls body(block column) for the blocks of a block row, in ascending order.
template <class F>
void for_each_block(const Offset* offsets, const Index* columns, Offset first_row, int block, F&& body) {
  Offset next[max_block];
  for (int r = 0; r < block; ++r) next[r] = offsets[first_row + r];
  for (;;) {
    Index first = none;
    for (int r = 0; r < block; ++r)
      if (next[r] < offsets[first_row + r + 1]) first = std::min(first, columns[next[r]]);
    if (first == none) return;
    const Index column = first / block;
    const Offset right = (Offset(column) + 1) * block;
    for (int r = 0; r < block; ++r)
      while (next[r] < offsets[first_row + r + 1] && columns[next[r]] < right) ++next[r];
    body(column);
  }
}

}  // namespace

template <Value V>
int block_for(const MatrixSource<V>& source, const BuildOptions& options) {
  if (!options.has("block")) return blocks(source).size;
  const auto block = static_cast<int>(options.parameter("block", 1));
  return source.rows() % block == 0 && source.cols() % block == 0 ? block : 1;
}

#define WEFT_INSTANTIATE(V) template int block_for<V>(const MatrixSource<V>&, const BuildOptions&);
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
