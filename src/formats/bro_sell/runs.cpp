#include "formats/bro_sell/runs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/parallel.hpp"

namespace weft::bro_sell {
namespace {

constexpr Index slots_per_range = 4096;
constexpr Index nothing_left = std::numeric_limits<Index>::max();

/// A run has places for all slots. So many of them are worth one column fewer to gather: with blocks the values are
/// nearly all that is read, without them gathering takes twice as long as reading.
constexpr Offset max_steps(Offset longest, int block) { return block == 1 ? longest * 5 / 4 : longest * 9 / 8; }

/// The first block row of a slice if the others follow it; else -1.
Index first_of_consecutive(const Array<Index>& order, Offset place, Index count) {
  if (order.empty()) return static_cast<Index>(place);
  for (Index i = 1; i < count; ++i)
    if (order[place + i] != order[place] + i) return -1;
  return order[place];
}

}  // namespace

bool RunCut::find(const Pattern& pattern, Index first, Index count, Index places) {
  full.clear();
  partial.clear();
  // The rows are gone through side by side, by ascending distance from the diagonal.
  Offset next[facts::max_rows_of_run], end[facts::max_rows_of_run], longest = 0;
  Index distance[facts::max_rows_of_run];
  const auto look = [&](Index i) {
    distance[i] = next[i] < end[i] ? pattern.columns[next[i]] - first - i : nothing_left;
  };
  for (Index i = 0; i < count; ++i) {
    next[i] = pattern.offsets[first + i];
    end[i] = pattern.offsets[first + i + 1];
    longest = std::max(longest, end[i] - next[i]);
    look(i);
  }
  const Offset limit = max_steps(longest, pattern.block);
  for (;;) {
    const Index nearest = count == 0 ? nothing_left : *std::min_element(distance, distance + count);
    if (nearest == nothing_left) return true;
    if (steps() == limit) return false;
    std::uint32_t mask = 0;
    for (Index i = 0; i < count; ++i) {
      if (distance[i] != nearest) continue;
      mask |= 1u << i;
      ++next[i];
      look(i);
    }
    (std::popcount(mask) == places ? full : partial).push_back({nearest, mask});
  }
}

bool runs_instead_of_order(const Pattern& pattern, const Shape& shape) {
  constexpr Offset one_in = 16, stretch = 4, min_stretches = 4, max_stretches = 64;  // of slices
  constexpr double enough_in_runs = 0.5, max_padding = 0.08;
  if (!may_have_runs(shape) || shape.window == 1) return false;
  const Index c = shape.slice_rows;
  const Offset slices = (Offset(pattern.rows) + c - 1) / c, all = (slices + stretch - 1) / stretch;
  const Offset count = std::min(all, std::clamp(all / one_in, min_stretches, max_stretches));
  Offset blocks = 0, places = 0, found = 0;
  RunCut cut;
  for (Offset i = 0; i < count; ++i)
    for (Offset s = i * all / count * stretch; s < std::min(slices, (i * all / count + 1) * stretch); ++s) {
      const facts::SliceRows rows = facts::rows_of_slice(pattern.rows, c, s);
      Offset longest = 0;
      for (Index row = rows.first; row < rows.first + rows.count; ++row)
        longest = std::max(longest, pattern.offsets[row + 1] - pattern.offsets[row]);
      const Offset own = pattern.offsets[rows.first + rows.count] - pattern.offsets[rows.first];
      const bool is_runs = cut.find(pattern, rows.first, rows.count, c);
      blocks += own;
      places += (is_runs ? cut.steps() : longest) * rows.count;
      if (is_runs) found += own;
    }
  return static_cast<double>(found) > enough_in_runs * static_cast<double>(blocks) &&
         static_cast<double>(places) <= (1 + max_padding) * static_cast<double>(blocks);
}

template <Value V>
void find_runs(const Pattern& pattern, Part<V>& part) {
  const Shape& shape = part.shape;
  if (!may_have_runs(shape)) return;
  const Index c = shape.slice_rows;
  parallel_ranges(static_cast<Offset>(part.slices.size()), slots_per_range / c, [&](Offset begin, Offset end) {
    RunCut cut, last;
    bool follows_runs = false;
    for (Offset s = begin; s < end; ++s) {
      Slice& slice = part.slices[s];
      const auto count = static_cast<Index>(std::min<Offset>(c, part.rows - s * c));
      const Index first = first_of_consecutive(part.order, s * c, count);
      if (first < 0 || (slice.marks & masked) || !cut.find(pattern, first, count, c)) {
        follows_runs = false;
        continue;
      }
      slice.marks = in_runs | (follows_runs && cut == last ? repeats : 0);
      slice.width = cut.steps();
      slice.codes = static_cast<std::uint32_t>(cut.full.size());
      std::swap(cut, last);
      follows_runs = true;
    }
  });
}

void write_runs(const RunCut& cut, int block, Index slice_rows, std::uint32_t* words) {
  for (const auto* runs : {&cut.full, &cut.partial})
    for (const facts::Run& run : *runs) *words++ = static_cast<std::uint32_t>(run.distance * block);
  for (const facts::Run& run : cut.partial) {
    // Each slot's bit for all of its elements of x, in pieces of C.
    for (Index piece = 0; piece < block; ++piece) {
      std::uint32_t bits = 0;
      for (Index i = 0; i < slice_rows; ++i) bits |= (run.mask >> ((piece * slice_rows + i) / block) & 1u) << i;
      *words++ = bits;
    }
  }
}

#define WEFT_INSTANTIATE(V) template void find_runs<V>(const Pattern&, Part<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell
