#include "formats/bce/partition.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace weft::bce {
namespace {

__extension__ using Wide = __int128;

/// The lengths that occur, from 1 on, and how many rows have at most these. widths[0] and rows[0] are 0, so that a
/// block reaches from a place to a later one.
struct Distribution {
  std::vector<Offset> widths{0};
  std::vector<Offset> rows{0};

  std::size_t places() const { return widths.size(); }
};

/// Checks what the sums below rely on: with widths and rows below 2^31, one block's cost is below 2^62.
Distribution distribution_of(std::span<const LengthCount> lengths, Index rows_to_fill) {
  constexpr Offset most = std::numeric_limits<Index>::max();
  if (rows_to_fill < 1)
    throw Error(ErrorCode::invalid_argument,
                "a partition needs at least 1 row to fill a multiprocessor, not " + std::to_string(rows_to_fill));
  Distribution result;
  result.widths.reserve(lengths.size() + 1);
  result.rows.reserve(lengths.size() + 1);
  Offset before = -1;
  for (const auto [length, rows] : lengths) {
    if (length <= before || length > most || rows < 0 || rows > most - result.rows.back())
      throw Error(ErrorCode::invalid_argument, "row lengths must ascend, and they and the rows stay below 2^31; " +
                                                   std::to_string(rows) + " rows of length " + std::to_string(length) +
                                                   " after length " + std::to_string(before) + " do not");
    before = length;
    if (length == 0 || rows == 0) continue;
    result.widths.push_back(length);
    result.rows.push_back(result.rows.back() + rows);
  }
  return result;
}

/// The partition whose blocks end at these places.
Partition partition_into(std::span<const LengthCount> lengths, const Distribution& distribution,
                         std::span<const std::size_t> ends, Index rows_to_fill) {
  Partition result;
  Wide cost = 0;
  std::size_t begin = 0;
  auto next = lengths.begin();
  for (const std::size_t end : ends) {
    const Offset width = distribution.widths[end], rows = distribution.rows[end] - distribution.rows[begin];
    Offset entries = 0;
    for (; next != lengths.end() && next->length <= width; ++next) entries += next->length * next->rows;
    result.widths.push_back(width);
    result.rows.push_back(static_cast<Index>(rows));
    result.entries.push_back(entries);
    result.padding += width * rows - entries;
    cost += static_cast<Wide>(width) * std::max<Offset>(rows, rows_to_fill);
    begin = end;
  }
  if (cost > std::numeric_limits<Offset>::max())
    throw Error(ErrorCode::invalid_argument, "the cost of " + std::to_string(ends.size()) +
                                                 " blocks that each cost as much as " + std::to_string(rows_to_fill) +
                                                 " rows is past 2^63: let fewer rows fill a multiprocessor");
  result.cost = static_cast<Offset>(cost);
  return result;
}

/// A cost, and below it the number of blocks, in one number that orders by both. The best cost up to any place is below
/// 2^62, since no more than one block's; the number of blocks is below 2^31.
constexpr int bits_of_blocks = 32;
Wide weighted(Offset cost) { return static_cast<Wide>(cost) << bits_of_blocks; }

/// The places a last block of more than rows_to_fill rows may begin at, as lines over the width: place j is worth
/// best[j] - width * rows[j] there, and best[j] and rows[j] grow with j. So a later line falls faster, and once it is
/// as low as an earlier one, it stays so. Kept are the lines that will be lowest at some width to come.
class Hull {
 public:
  Hull(const std::vector<Wide>& best, const std::vector<Offset>& rows) : best_(best), rows_(rows) {}

  /// Places come in ascending order.
  void add(std::size_t place) {
    while (lines_.size() - first_ >= 2 &&
           takeover(lines_.back(), place) <= takeover(lines_[lines_.size() - 2], lines_.back()))
      lines_.pop_back();
    lines_.push_back(place);
  }

  bool empty() const { return first_ == lines_.size(); }

  /// The lowest line at this width; widths come in ascending order. Not to be called while empty.
  std::size_t lowest(Offset width) {
    while (lines_.size() - first_ >= 2 && takeover(lines_[first_], lines_[first_ + 1]) <= width) ++first_;
    return lines_[first_];
  }

 private:
  /// The first width, a whole number as all of them, at which the later line is as low as the earlier one.
  Wide takeover(std::size_t earlier, std::size_t later) const {
    const Wide rows = weighted(rows_[later] - rows_[earlier]);
    return (best_[later] - best_[earlier] + rows - 1) / rows;
  }

  const std::vector<Wide>& best_;
  const std::vector<Offset>& rows_;
  std::vector<std::size_t> lines_;
  std::size_t first_ = 0;
};

}  // namespace

// The paper's recurrence is over the last length and the number of blocks. The number is free, so the best cost up to
// place m is
//   best[m] = min over j < m of best[j] + widths[m] * max(rows[m] - rows[j], rows_to_fill).
// 1. The best cost grows with m: a partition up to m without its longest rows is one up to m - 1, and costs less.
// 2. So of the blocks that do not fill a multiprocessor, where the maximum is rows_to_fill, the one that begins first
//    is best.
// 3. The others are worth best[j] - widths[m] * rows[j], plus what does not depend on j: lines, of which a hull knows
//    the lowest. A place becomes a line once enough rows lie behind it, and stays one.
Partition optimal_partition(std::span<const LengthCount> lengths, Index rows_to_fill) {
  const Distribution distribution = distribution_of(lengths, rows_to_fill);
  const std::vector<Offset>&widths = distribution.widths, &rows = distribution.rows;
  std::vector<Wide> best(distribution.places(), 0);
  std::vector<std::size_t> begin_of_last(distribution.places(), 0);
  Hull hull(best, rows);
  std::size_t first_unfilled = 0;
  for (std::size_t m = 1; m < distribution.places(); ++m) {
    while (rows[m] - rows[first_unfilled] > rows_to_fill) hull.add(first_unfilled++);
    const auto cost_from = [&](std::size_t j) {
      return best[j] + weighted(widths[m] * std::max<Offset>(rows[m] - rows[j], rows_to_fill)) + 1;
    };
    std::size_t begin = first_unfilled;
    if (!hull.empty()) {
      const std::size_t filled = hull.lowest(widths[m]);
      if (first_unfilled == m || cost_from(filled) <= cost_from(first_unfilled)) begin = filled;
    }
    best[m] = cost_from(begin);
    begin_of_last[m] = begin;
  }

  std::vector<std::size_t> ends;
  for (std::size_t place = distribution.places() - 1; place > 0; place = begin_of_last[place]) ends.push_back(place);
  std::reverse(ends.begin(), ends.end());
  return partition_into(lengths, distribution, ends, rows_to_fill);
}

Partition partition_at(std::span<const LengthCount> lengths, std::span<const Offset> boundaries, Index rows_to_fill) {
  const Distribution distribution = distribution_of(lengths, rows_to_fill);
  Offset before = 0;
  std::vector<std::size_t> ends{0};
  const auto end_block = [&](std::size_t place) {
    if (place > ends.back()) ends.push_back(place);
  };
  for (const Offset boundary : boundaries) {
    if (boundary <= before)
      throw Error(ErrorCode::invalid_argument, "the boundaries of a partition must ascend from 1 on; " +
                                                   std::to_string(boundary) + " after " + std::to_string(before) +
                                                   " does not");
    before = boundary;
    const auto& widths = distribution.widths;
    end_block(static_cast<std::size_t>(std::upper_bound(widths.begin(), widths.end(), boundary) - widths.begin()) - 1);
  }
  end_block(distribution.places() - 1);
  return partition_into(lengths, distribution, std::span(ends).subspan(1), rows_to_fill);
}

}  // namespace weft::bce
