#include "facts/runs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/value_types.hpp"

namespace weft::facts {
namespace {

/// A run has places for all rows of a slice. It pays where at least one of so many has an entry.
constexpr Index rows_per_entry_of_run = 2;
/// A slice is left without runs when so many distances from the diagonal ...
constexpr Index distances_to_judge_by = 32;
/// ... have fewer than one of so many of their entries in runs.
constexpr Offset hopeless_share = 4;
// What a slice takes, in tenths of a cycle of an EPYC (bench/NOTES.md): a run, an entry that is gathered, and both in
// one slice.
constexpr Offset run_cost = 20, gathered_cost = 7, mixed_cost = 150;
constexpr Index nothing_left = std::numeric_limits<Index>::max();

}  // namespace

SliceRows rows_of_slice(Index rows, Index slice_rows, Offset slice) {
  const auto first = static_cast<Index>(slice * slice_rows);
  return {first, std::min(slice_rows, rows - first), slice_rows};
}

void SliceCut::clear(Index rows) {
  full.clear();
  partial.clear();
  left.assign(static_cast<std::size_t>(rows), 0);
  lowest = nothing_left;
  highest = -1;
  in_runs = 0;
}

void SliceCut::leave(Index row, Index first_column, Index last_column, Index count) {
  left[static_cast<std::size_t>(row)] += count;
  lowest = std::min(lowest, first_column);
  highest = std::max(highest, last_column);
}

template <Value V>
void SliceCut::without_runs(const Csr<V>& matrix, const Array<Index>& order, const SliceRows& rows) {
  clear(rows.places);
  for (Index i = 0; i < rows.count; ++i) {
    const Index row = order.empty() ? rows.first + i : order[rows.first + i];
    const Offset begin = matrix.offsets[row], end = matrix.offsets[row + 1];
    if (begin < end) leave(i, matrix.columns[begin], matrix.columns[end - 1], static_cast<Index>(end - begin));
  }
}

template <Value V>
bool SliceCut::into_runs(const Csr<V>& matrix, const SliceRows& rows) {
  clear(rows.places);
  // The rows are gone through side by side, by ascending distance from the diagonal.
  Offset next[max_rows_of_run], end[max_rows_of_run], seen = 0, longest = 0;
  Index distance[max_rows_of_run];
  const auto look = [&](int i) {
    distance[i] = next[i] < end[i] ? matrix.columns[next[i]] - rows.first - i : nothing_left;
  };
  for (int i = 0; i < rows.places; ++i) {
    next[i] = i < rows.count ? matrix.offsets[rows.first + i] : 0;
    end[i] = i < rows.count ? matrix.offsets[rows.first + i + 1] : 0;
    longest = std::max(longest, end[i] - next[i]);
    look(i);
  }
  for (Index looked = 1;; ++looked) {
    const Index nearest = *std::min_element(distance, distance + rows.places);
    if (nearest == nothing_left) break;
    std::uint32_t mask = 0;
    for (int i = 0; i < rows.places; ++i) mask |= static_cast<std::uint32_t>(distance[i] == nearest) << i;
    const int found = std::popcount(mask);
    const bool is_run = found * rows_per_entry_of_run >= rows.places;
    seen += found;
    if (is_run) {
      (found == rows.places ? full : partial).push_back({nearest, mask});
      in_runs += found;
    }
    for (std::uint32_t bits = mask; bits != 0; bits &= bits - 1) {
      const int i = std::countr_zero(bits);
      const Index column = rows.first + i + nearest;
      if (!is_run) leave(i, column, column, 1);
      ++next[i];
      look(i);
    }
    if (looked == distances_to_judge_by && in_runs * hopeless_share < seen) return false;
  }
  const auto runs = static_cast<Offset>(full.size() + partial.size());
  const Offset width = *std::ranges::max_element(left), column_cost = gathered_cost * rows.places;
  return run_cost * runs + column_cost * width + (width > 0 ? mixed_cost : 0) < column_cost * longest;
}

template <Value V>
double share_in_runs(const Csr<V>& matrix, Index slice_rows) {
  // Looking at an entry takes as long as multiplying ten: one in so many is looked at.
  constexpr Offset one_in = 48, stretch = 4, min_stretches = 4, max_stretches = 64;  // of slices
  const Offset slices = (Offset(matrix.rows) + slice_rows - 1) / slice_rows;
  const Offset all = (slices + stretch - 1) / stretch;
  const Offset count = std::min(all, std::clamp(all / one_in, min_stretches, max_stretches));
  Offset seen = 0, in_runs = 0;
  SliceCut cut;
  for (Offset i = 0; i < count; ++i) {
    const Offset first = i * all / count * stretch;
    for (Offset s = first; s < std::min(slices, first + stretch); ++s) {
      const SliceRows rows = rows_of_slice(matrix.rows, slice_rows, s);
      if (cut.into_runs(matrix, rows)) in_runs += cut.in_runs;
      seen += matrix.offsets[rows.first + rows.count] - matrix.offsets[rows.first];
    }
  }
  return seen == 0 ? 0 : static_cast<double>(in_runs) / static_cast<double>(seen);
}

#define WEFT_INSTANTIATE(V)                                                                   \
  template void SliceCut::without_runs(const Csr<V>&, const Array<Index>&, const SliceRows&); \
  template bool SliceCut::into_runs(const Csr<V>&, const SliceRows&);                         \
  template double share_in_runs(const Csr<V>&, Index);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::facts
