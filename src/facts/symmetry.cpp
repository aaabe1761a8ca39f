#include "facts/symmetry.hpp"

#include <atomic>

#include "core/parallel.hpp"
#include "facts/tally_pool.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

/// The place of `column` among a row's ascending columns, or null. In long rows the columns are taken to be spread
/// evenly, and the search starts where that says, in steps that double.
const Index* find_column(const Index* begin, const Index* end, Index column) {
  if (end - begin > 32) {
    const Index first = *begin, last = end[-1];
    if (column < first || column > last) return nullptr;
    const double share = static_cast<double>(column - first) / static_cast<double>(last - first);
    const Index* guess = begin + static_cast<std::ptrdiff_t>(share * static_cast<double>(end - begin - 1));
    std::ptrdiff_t step = 1;
    if (*guess < column) {
      while (end - guess > step && guess[step] < column) step *= 2;
      end = guess + std::min(step + 1, end - guess);
      begin = guess + step / 2;
    } else {
      while (guess - begin > step && guess[-step] >= column) step *= 2;
      begin = guess - std::min(step, guess - begin);
      end = guess - step / 2 + 1;
    }
    begin = std::lower_bound(begin, end, column);
  } else {
    while (begin != end && *begin < column) ++begin;
  }
  return begin != end && *begin == column ? begin : nullptr;
}

}  // namespace

template <Value V>
bool look_for_mirrors(const Csr<V>& matrix, Index row, Offset first, Offset last, MirrorTally& tally) {
  const Index* columns = matrix.columns.data();
  if (first < last && columns[first] == row) {
    const V value = matrix.values[first++];
    ++tally.diagonal;
    tally.skew &= value == V(0);
    tally.symmetric &= value == value;
  }
  if (matrix.rows != matrix.cols) return true;
  bool all = true;
  for (Offset i = first; i < last; ++i) {
    const Index mirror_row = columns[i];
    const Index* mirror =
        find_column(columns + matrix.offsets[mirror_row], columns + matrix.offsets[mirror_row + 1], row);
    if (!mirror) {
      all = false;
      continue;
    }
    ++tally.mirrored;
    if (!tally.symmetric && !tally.skew) continue;
    const V here = matrix.values[i], there = matrix.values[mirror - columns];
    tally.symmetric &= here == there;
    tally.skew &= here == -there;
  }
  return all;
}

template <Value V>
SymmetryFacts find_symmetry(const Csr<V>& matrix) {
  if (matrix.rows != matrix.cols) return {};
  const Index* columns = matrix.columns.data();
  TallyPool<MirrorTally> pool;
  std::atomic<bool> broken{false};
  parallel_ranges(matrix.nonzeros(), entry_grain, [&](Offset begin, Offset end) {
    if (broken.load(std::memory_order_relaxed)) return;
    pool.use([&](MirrorTally& tally) {
      for_row_parts(matrix.offsets.data(), matrix.rows, begin, end, [&](Index row, Offset first, Offset last) {
        const Offset upper = std::lower_bound(columns + first, columns + last, row) - columns;
        if (!look_for_mirrors(matrix, row, upper, last, tally)) broken.store(true, std::memory_order_relaxed);
      });
    });
  });
  if (broken) return {};
  return pool.total().facts(matrix.nonzeros());
}

#define WEFT_INSTANTIATE(V)                                                           \
  template bool look_for_mirrors(const Csr<V>&, Index, Offset, Offset, MirrorTally&); \
  template SymmetryFacts find_symmetry(const Csr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
