#include "formats/bce/layout.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

namespace weft::bce {
namespace {

void cut_long_rows(std::span<const Index> long_rows, const Array<Offset>& offsets, Offset piece, Layout& layout) {
  layout.piece_starts = Array<Offset>(long_rows.size() + 1);
  Offset count = 0;
  for (std::size_t i = 0; i < long_rows.size(); ++i) {
    layout.piece_starts[i] = count;
    count += (offsets[long_rows[i] + 1] - offsets[long_rows[i]] + piece - 1) / piece;
  }
  layout.piece_starts[long_rows.size()] = count;
  layout.pieces = Array<Piece>(static_cast<std::size_t>(count));
  Piece* next = layout.pieces.data();
  for (const Index row : long_rows)
    for (Offset begin = offsets[row]; begin < offsets[row + 1]; begin += piece)
      *next++ = {begin, std::min(begin + piece, offsets[row + 1])};
}

std::vector<LengthCount> with_pieces(std::span<const LengthCount> lengths, const Array<Piece>& pieces) {
  std::map<Offset, Offset> rows;
  for (const LengthCount& count : lengths) rows[count.length] += count.rows;
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

int threads_a_row(Offset width, Offset entries, const Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  const Offset least = settings.least_entries_a_thread;
  const Offset share = std::clamp<Offset>(entries / settings.threads_to_fill, least, settings.most_entries_a_thread);
  int threads = 1;
  while (threads < 32 && width > threads * share && width >= 2 * threads * least) threads *= 2;
  return threads;
}

Layout make_layout(std::span<const LengthCount> lengths, std::span<const Index> long_rows, const Array<Offset>& offsets,
                   const Settings& settings) {
  Layout layout;
  layout.group = settings.group;
  cut_long_rows(long_rows, offsets, settings.piece, layout);
  const std::vector<LengthCount> all = with_pieces(lengths, layout.pieces);
  layout.partition = settings.boundaries.empty() ? optimal_partition(all, settings.rows_to_fill)
                                                 : partition_at(all, settings.boundaries, settings.rows_to_fill);

  const Partition& partition = layout.partition;
  const Offset entries = std::accumulate(partition.entries.begin(), partition.entries.end(), Offset(0));
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
    cut_block(partition.rows[b], threads_a_row(partition.widths[b], entries, settings));
  if (!all.empty() && all.front().length == 0) cut_block(all.front().rows, 1);
  layout.block_rows = Array<Offset>(std::move(block_rows));
  layout.threads = Array<Index>(std::move(threads));
  return layout;
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
