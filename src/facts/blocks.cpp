#include "facts/blocks.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "core/parallel.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

/// The entries of the b rows of a block row with columns in from..to, one cursor per row.
template <int b>
class BlockRow {
 public:
  BlockRow(const Offset* offsets, const Index* columns, Index block_row, Index from, Index to) {
    for (int r = 0; r < b; ++r) {
      const Index* begin = columns + offsets[block_row * b + r];
      const Index* end = columns + offsets[block_row * b + r + 1];
      next_[r] = from == 0 ? begin : std::lower_bound(begin, end, from);
      end_[r] = to == all ? end : std::lower_bound(next_[r], end, to);
    }
  }

  static constexpr Index all = std::numeric_limits<Index>::max();

  Offset entries() const {
    Offset sum = 0;
    for (int r = 0; r < b; ++r) sum += end_[r] - next_[r];
    return sum;
  }

  /// The number of b x b blocks with an entry: the b rows are merged, a block at a time.
  Offset count_blocks() {
    Offset blocks = 0;
    for (;; ++blocks) {
      Index first = all;
      for (int r = 0; r < b; ++r)
        if (next_[r] != end_[r]) first = std::min(first, *next_[r]);
      if (first == all) return blocks;
      const Offset next_block = Offset(first / b) * b + b;
      for (int r = 0; r < b; ++r)
        while (next_[r] != end_[r] && *next_[r] < next_block) ++next_[r];
    }
  }

 private:
  std::array<const Index*, b> next_, end_;
};

/// Whether some block rows, spread over the matrix, are at least half full where they are touched.
template <int b>
bool promises_blocks(Index block_rows, const Offset* offsets, const Index* columns) {
  constexpr Index samples = 16;
  constexpr Offset long_block_row = 4096;
  if (block_rows < 4 * samples) return true;
  Offset entries = 0, blocks = 0;
  for (Index sample = 0; sample < samples; ++sample) {
    const auto block_row = static_cast<Index>((2 * Offset(sample) + 1) * block_rows / (2 * Offset(samples)));
    BlockRow<b> row(offsets, columns, block_row, 0, BlockRow<b>::all);
    if (row.entries() > long_block_row) continue;
    entries += row.entries();
    blocks += row.count_blocks();
  }
  return 2 * entries >= blocks * b * b;
}

/// The share of the touched b x b blocks that is filled, or 0 as soon as it is sure to stay below block_fill_wanted.
///
/// Each touched block wastes the room that no entry fills. The waste only grows while we count, so a matrix without
/// such blocks is given up after a few percent of its entries, and the order of counting does not matter.
template <int b>
double block_fill(Index rows, const Offset* offsets, const Index* columns, bool sampled) {
  constexpr Offset long_block_row = 4 * entry_grain;
  const Offset nonzeros = offsets[rows];
  const double tolerated = tolerated_waste(nonzeros);
  const Index block_rows = rows / b;
  if (sampled && !promises_blocks<b>(block_rows, offsets, columns)) return 0;
  std::atomic<Offset> waste{0};
  std::atomic<bool> given_up{false};
  const auto add = [&](Offset wasted) {
    if (static_cast<double>(waste.fetch_add(wasted, std::memory_order_relaxed) + wasted) > tolerated)
      given_up.store(true, std::memory_order_relaxed);
  };

  std::mutex mutex;
  std::vector<Index> long_block_rows;
  // Ranges of block rows, few enough in each for an early end, many enough to balance.
  const Offset grain = std::max<Offset>(1, std::min<Offset>(4096, entry_grain * block_rows / (nonzeros + 1) / 4));
  parallel_ranges(block_rows, grain, [&](Offset begin, Offset end) {
    if (given_up.load(std::memory_order_relaxed)) return;
    Offset wasted = 0;
    for (Index block_row = static_cast<Index>(begin); block_row < end; ++block_row) {
      BlockRow<b> row(offsets, columns, block_row, 0, BlockRow<b>::all);
      const Offset entries = row.entries();
      if (entries > long_block_row) {
        std::lock_guard lock(mutex);
        long_block_rows.push_back(block_row);
      } else {
        wasted += row.count_blocks() * b * b - entries;
      }
    }
    add(wasted);
  });

  // An enormous block row is cut at columns that split its longest row evenly.
  for (Index block_row : long_block_rows) {
    Index longest = block_row * b;
    for (Index row = longest; row < (block_row + 1) * b; ++row)
      if (offsets[row + 1] - offsets[row] > offsets[longest + 1] - offsets[longest]) longest = row;
    const Offset length = offsets[longest + 1] - offsets[longest];
    const Offset pieces = length / entry_grain + 1;
    const auto cut = [&](Offset piece) {
      return columns[offsets[longest] + std::min(length - 1, piece * entry_grain)] / b * b;
    };
    parallel_ranges(pieces, 1, [&](Offset piece, Offset) {
      if (given_up.load(std::memory_order_relaxed)) return;
      BlockRow<b> part(offsets, columns, block_row, piece == 0 ? 0 : cut(piece),
                       piece + 1 == pieces ? BlockRow<b>::all : cut(piece + 1));
      const Offset entries = part.entries();
      add(part.count_blocks() * b * b - entries);
    });
  }
  return given_up ? 0 : block_fill_of(nonzeros, waste);
}

}  // namespace

BlockFacts find_blocks(Index rows, Index cols, const Offset* offsets, const Index* columns, bool sampled) {
  if (offsets[rows] == 0) return {};
  return largest_blocks(rows, cols, [&](auto b) { return block_fill<b>(rows, offsets, columns, sampled); });
}

}  // namespace weft
