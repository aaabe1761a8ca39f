#include "formats/csr/row_groups.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/parallel.hpp"

namespace weft::csr {
namespace {

/// A row of another length than the one before costs a mispredicted branch, taken for some 20 cycles; staging the
/// products costs about a cycle an entry. Twice as many made no difference (bench/NOTES.md).
constexpr Offset entries_per_misprediction = 16;

constexpr std::int64_t chunks_at_once = 64;

/// Rows are alike when at most one in this many differs in length from the row before.
constexpr Offset rows_per_change = 8;

Offset length_of(const Offset* offsets, Index row) { return offsets[row + 1] - offsets[row]; }

/// The group of a row: its length, or longest_group + 1.
int group_of(const Offset* offsets, Index row) {
  return static_cast<int>(std::min<Offset>(length_of(offsets, row), longest_group + 1));
}

/// The length more than half of the rows have, or else any row's (Boyer and Moore's majority vote).
Offset usual_length(const Offset* offsets, Index begin, Index end) {
  Offset usual = 0;
  Index votes = 0;
  for (Index row = begin; row < end; ++row) {
    const Offset length = length_of(offsets, row);
    if (votes == 0) usual = length;
    votes += length == usual ? 1 : -1;
  }
  return usual;
}

/// All but the counts.
ChunkShape shape_of(const Offset* offsets, Chunk begin, Chunk end, Index rows_of_matrix) {
  const bool ends_inside_row = end.row < rows_of_matrix && end.entry != offsets[end.row];
  if (begin.row == end.row || begin.entry != offsets[begin.row] || ends_inside_row) return {};
  const Offset rows = end.row - begin.row, entries = end.entry - begin.entry;
  Offset before = length_of(offsets, begin.row), changes = 0;
  for (Index row = begin.row + 1; row < end.row; ++row) {
    const Offset length = length_of(offsets, row);
    changes += length != before;
    before = length;
  }
  if (changes * rows_per_change <= rows) {
    const Offset usual = changes == 0 ? before : usual_length(offsets, begin.row, end.row);
    if (usual >= 1 && usual <= longest_alike)
      return {changes == 0 ? ChunkShape::Kind::equal : ChunkShape::Kind::alike, static_cast<std::uint8_t>(usual)};
  }
  const bool fits = entries <= most_staged && rows <= std::numeric_limits<std::uint16_t>::max();
  if (fits && entries < changes * entries_per_misprediction) return {ChunkShape::Kind::grouped};
  return {};
}

/// Counting sort of the chunk's rows by length.
void sort_rows(const Offset* offsets, Chunk begin, Chunk end, ChunkShape& shape, std::uint16_t* order) {
  std::uint16_t next[longest_group + 2] = {};
  for (Index row = begin.row; row < end.row; ++row) ++next[group_of(offsets, row)];
  std::copy_n(next, longest_group + 1, shape.counts);
  std::uint16_t place = 0;
  for (std::uint16_t& group : next) {
    const std::uint16_t count = group;
    group = place;
    place = static_cast<std::uint16_t>(place + count);
  }
  for (Index row = begin.row; row < end.row; ++row)
    order[begin.row + next[group_of(offsets, row)]++] = static_cast<std::uint16_t>(row - begin.row);
}

}  // namespace

RowGroups group_rows(Index rows, const Array<Offset>& offsets, const Array<Chunk>& chunks) {
  const auto count = static_cast<std::int64_t>(chunks.size()) - 1;
  // Memory for all orders, of which the system supplies what is written to.
  RowGroups groups{Array<ChunkShape>(static_cast<std::size_t>(count)),
                   Array<std::uint16_t>(static_cast<std::size_t>(rows))};
  std::atomic<bool> any_grouped = false;
  parallel_for(count, chunks_at_once, [&](std::int64_t c) {
    ChunkShape& shape = groups.shapes[c] = shape_of(offsets.data(), chunks[c], chunks[c + 1], rows);
    if (shape.kind != ChunkShape::Kind::grouped) return;
    any_grouped.store(true, std::memory_order_relaxed);
    sort_rows(offsets.data(), chunks[c], chunks[c + 1], shape, groups.order.data());
  });
  if (!any_grouped) groups.order = {};
  return groups;
}

}  // namespace weft::csr
