#include "formats/sorted_rows.hpp"

#include "core/parallel.hpp"

namespace weft {

namespace {

constexpr Index rows_per_range = 4096;

/// Writes each window of row(0), ..., row(rows - 1) to `order`, sorted.
template <class Row>
void sort_windows(const Array<Offset>& offsets, Index rows, Index window, Row&& row, Index* order) {
  const Offset windows = (static_cast<Offset>(rows) + window - 1) / window;
  parallel_ranges(windows, std::max(1, rows_per_range / window), [&](std::int64_t first, std::int64_t last) {
    std::vector<Index> starts;
    for (std::int64_t w = first; w < last; ++w) {
      const auto begin = static_cast<Index>(w * window);
      sort_by_length(
          std::min(window, rows - begin), [&](Index i) { return row(begin + i); },
          [&](Index r) { return static_cast<Index>(offsets[r + 1] - offsets[r]); }, order + begin, starts);
    }
  });
}

}  // namespace

Array<Index> sorted_rows(const Array<Offset>& offsets, Index rows, Index window) {
  if (window <= 1 || rows == 0) return {};
  Array<Index> order(static_cast<std::size_t>(rows));
  sort_windows(offsets, rows, window, [](Index i) { return i; }, order.data());
  return order;
}

Array<Index> sorted_rows_after_hubs(const Array<Offset>& offsets, Index rows, Index window, Offset hub_length) {
  const auto is_hub = [&](std::int64_t row) { return offsets[row + 1] - offsets[row] > hub_length; };
  const Offset ranges = (static_cast<Offset>(rows) + rows_per_range - 1) / rows_per_range;
  std::vector<Index> hubs_before(static_cast<std::size_t>(ranges) + 1, 0);
  parallel_ranges(rows, rows_per_range, [&](std::int64_t begin, std::int64_t end) {
    Index count = 0;
    for (std::int64_t row = begin; row < end; ++row) count += is_hub(row);
    hubs_before[static_cast<std::size_t>(begin / rows_per_range)] = count;
  });
  prefix_sum(hubs_before.data(), ranges);
  const Index hubs = hubs_before.back();
  Array<Index> unsorted(static_cast<std::size_t>(rows)), order(static_cast<std::size_t>(rows));
  parallel_ranges(rows, rows_per_range, [&](std::int64_t begin, std::int64_t end) {
    Index hub = hubs_before[static_cast<std::size_t>(begin / rows_per_range)];
    Index other = hubs + static_cast<Index>(begin) - hub;
    for (std::int64_t row = begin; row < end; ++row) unsorted[is_hub(row) ? hub++ : other++] = static_cast<Index>(row);
  });
  sort_windows(offsets, hubs, std::max<Index>(1, hubs), [&](Index i) { return unsorted[i]; }, order.data());
  sort_windows(
      offsets, rows - hubs, std::max<Index>(1, window), [&](Index i) { return unsorted[hubs + i]; },
      order.data() + hubs);
  return order;
}

}  // namespace weft
