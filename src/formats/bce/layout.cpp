#include "formats/bce/layout.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

namespace weft::bce {
namespace {

void cut_long_rows(std::span<const Piece> long_rows, Offset piece, Layout& layout) {
  layout.piece_starts = Array<Offset>(long_rows.size() + 1);
  Offset count = 0;
  for (std::size_t i = 0; i < long_rows.size(); ++i) {
    layout.piece_starts[i] = count;
    count += (long_rows[i].end - long_rows[i].begin + piece - 1) / piece;
  }
  layout.piece_starts[long_rows.size()] = count;
  layout.pieces = Array<Piece>(static_cast<std::size_t>(count));
  Piece* next = layout.pieces.data();
  for (const Piece& row : long_rows)
    for (Offset begin = row.begin; begin < row.end; begin += piece) *next++ = {begin, std::min(begin + piece, row.end)};
}

/// The lengths of the rows that are not cut, and of the pieces.
std::vector<LengthCount> with_pieces(std::span<const LengthCount> lengths, Offset longest_row,
                                     const Array<Piece>& pieces) {
  std::map<Offset, Offset> rows;
  for (const LengthCount& count : lengths)
    if (count.length <= longest_row) rows[count.length] += count.rows;
  for (const Piece& piece : pieces) ++rows[piece.end - piece.begin];
  std::vector<LengthCount> result;
  Offset total = 0;
  for (const auto& [length, count] : rows) {
    if (length > 0) total += count;
    if (total > std::numeric_limits<Index>::max())
      throw Error(ErrorCode::unsupported,
                  "bce has room for 2^31 - 1 rows and pieces of long rows; this matrix has "
                  "more: use csr");
    result.push_back({length, static_cast<Index>(count)});
  }
  return result;
}

}  // namespace

Offset share_of(Offset entries, const Settings& settings) {
  if (settings.share > 0) return settings.share;
  const Offset share = std::min<Offset>(entries / settings.threads_to_fill, settings.max_entries_per_thread);
  return std::max<Offset>(share, settings.min_entries_per_thread);
}

int threads_per_row(Offset width, Offset entries, const Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  const Offset min_share = settings.min_entries_per_thread;
  const Offset share = share_of(entries, settings);
  int threads = 1;
  while (threads < 32 && width > threads * share && width >= 2 * threads * min_share) threads *= 2;
  return threads;
}

Layout make_layout(std::span<const LengthCount> lengths, std::span<const Piece> long_rows, const Settings& settings) {
  Layout layout;
  layout.group = settings.group;
  cut_long_rows(long_rows, settings.piece, layout);
  const std::vector<LengthCount> all = with_pieces(lengths, settings.longest_row, layout.pieces);
  layout.partition = settings.boundaries.empty() ? optimal_partition(all, settings.rows_to_fill)
                                                 : partition_at(all, settings.boundaries, settings.rows_to_fill);

  const Partition& partition = layout.partition;
  const Offset entries = layout.entries();
  std::vector<Offset> block_rows{0};
  std::vector<Index> threads;
  const auto cut_block = [&](Offset rows, int threads_of_row) {
    const Offset end = block_rows.back() + rows, step = std::max(1, settings.lanes / threads_of_row);
    while (block_rows.back() < end) {
      block_rows.push_back(std::min(block_rows.back() + step, end));
      threads.push_back(threads_of_row);
    }
  };
  for (std::size_t b = 0; b < partition.widths.size(); ++b)
    cut_block(partition.rows[b], threads_per_row(partition.widths[b], entries, settings));
  if (!all.empty() && all.front().length == 0) cut_block(all.front().rows, 1);
  layout.block_rows = Array<Offset>(std::move(block_rows));
  layout.threads = Array<Index>(std::move(threads));
  return layout;
}

Offset Layout::entries() const {
  return std::accumulate(partition.entries.begin(), partition.entries.end(), Offset(0));
}

Array<Offset> place_sub_blocks(const Layout& layout, const Array<Index>& widths, int alignment) {
  Array<Offset> positions(widths.size() + 1);
  positions[0] = 0;
  for (std::size_t s = 0; s < widths.size(); ++s) {
    const Offset end = positions[s] + widths[s] * (layout.block_rows[s + 1] - layout.block_rows[s]);
    positions[s + 1] = (end + alignment - 1) / alignment * alignment;
  }
  return positions;
}

}  // namespace weft::bce
