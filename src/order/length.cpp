#include <algorithm>

#include "order/methods.hpp"
#include "sparse/group_by_key.hpp"

namespace weft::ordering {

Array<Index> by_length(const Pattern& pattern) {
  // A row is no longer than the matrix is wide, so that a length is an Index.
  const Index rows = pattern.rows;
  std::atomic<Index> longest{0};
  parallel_ranges(rows, entry_grain, [&](Offset begin, Offset end) {
    Index most = 0;
    for (Offset row = begin; row < end; ++row)
      most = std::max(most, static_cast<Index>(pattern.length(static_cast<Index>(row))));
    Index known = longest.load(std::memory_order_relaxed);
    while (most > known && !longest.compare_exchange_weak(known, most, std::memory_order_relaxed)) {
    }
  });
  const Index most = longest.load();
  Array<Index> order(static_cast<std::size_t>(rows));
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset row = begin; row < end; ++row)
      sink(most - static_cast<Index>(pattern.length(static_cast<Index>(row))), static_cast<Index>(row));
  };
  group_by_key(source, rows, Offset(most) + 1, Fields<Index>(order.data()));
  return order;
}

}  // namespace weft::ordering
