#include <algorithm>
#include <numeric>

#include "order/methods.hpp"
#include "order/regroup.hpp"

namespace weft::ordering {

Array<Index> by_length(const Pattern& pattern, const Array<Index>& rows) {
  // A row is no longer than the matrix is wide, so that a length is an Index.
  std::atomic<Index> longest{0};
  parallel_ranges(pattern.rows, entry_grain, [&](Offset begin, Offset end) {
    Index most = 0;
    for (Offset row = begin; row < end; ++row)
      most = std::max(most, static_cast<Index>(pattern.length(static_cast<Index>(row))));
    Index known = longest.load(std::memory_order_relaxed);
    while (most > known && !longest.compare_exchange_weak(known, most, std::memory_order_relaxed)) {
    }
  });
  const Index most = longest.load();
  return regroup(rows, Offset(most) + 1, [&](Index row) { return most - static_cast<Index>(pattern.length(row)); });
}

Array<Index> by_length(const Pattern& pattern) {
  Array<Index> rows(static_cast<std::size_t>(pattern.rows));
  std::iota(rows.begin(), rows.end(), 0);
  return by_length(pattern, rows);
}

}  // namespace weft::ordering
