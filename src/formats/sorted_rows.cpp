#include "formats/sorted_rows.hpp"

#include "core/parallel.hpp"

namespace weft {

Array<Index> sorted_rows(const Array<Offset>& offsets, Index rows, Index window) {
  constexpr Index rows_per_range = 4096;
  if (window <= 1 || rows == 0) return {};
  Array<Index> order(static_cast<std::size_t>(rows));
  const Offset windows = (static_cast<Offset>(rows) + window - 1) / window;
  parallel_ranges(windows, std::max(1, rows_per_range / window), [&](std::int64_t first, std::int64_t last) {
    std::vector<Index> starts;
    for (std::int64_t w = first; w < last; ++w) {
      const auto begin = static_cast<Index>(w * window);
      sort_by_length(
          std::min(window, rows - begin), [&](Index i) { return begin + i; },
          [&](Index row) { return static_cast<Index>(offsets[row + 1] - offsets[row]); }, order.data() + begin, starts);
    }
  });
  return order;
}

}  // namespace weft
