// The objective of BAR: equation (1) of Tang et al. 2013, section 3.4.
#include <weft/error.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>

#include "core/parallel.hpp"
#include "order/bar.hpp"
#include "sparse/permutation.hpp"

namespace weft::ordering {

template <Value V>
Index line_elements(const BarModel& model) {
  if (model.slice_rows < 1 || model.warp_rows < 1 || model.symbol_bits < 1)
    throw Error(ErrorCode::invalid_argument, "the model of bar needs slices, warps and symbols of 1 or more, not " +
                                                 std::to_string(model.slice_rows) + ", " +
                                                 std::to_string(model.warp_rows) + " and " +
                                                 std::to_string(model.symbol_bits));
  if (model.line_bytes < static_cast<int>(sizeof(V)))
    throw Error(ErrorCode::invalid_argument, "the model of bar has cache lines of " + std::to_string(model.line_bytes) +
                                                 " bytes, but a value has " + std::to_string(sizeof(V)));
  return model.line_bytes / static_cast<Index>(sizeof(V));
}

SliceCounter::SliceCounter(const Pattern& pattern, const BarModel& model, Index line_elements)
    : pattern_(pattern),
      model_(model),
      line_elements_(line_elements),
      table_(std::bit_ceil(4 * static_cast<std::size_t>(std::max(1, std::min(model.slice_rows, pattern.rows)))), 0) {}

/// Empties the table.
void SliceCounter::next_round() {
  if (++round_ < std::uint64_t(1) << 32) return;
  std::fill(table_.begin(), table_.end(), 0);
  round_ = 1;
}

Offset SliceCounter::cost(std::span<const Index> rows) {
  longest_first_.assign(rows.begin(), rows.end());
  std::sort(longest_first_.begin(), longest_first_.end(), [&](Index a, Index b) {
    const Offset length_a = pattern_.length(a), length_b = pattern_.length(b);
    return length_a != length_b ? length_a > length_b : a < b;
  });
  Offset bits = 0, lines = 0;
  std::size_t active = longest_first_.size();  // rows that have a j-th entry
  for (Offset j = 0; active > 0; ++j) {
    while (active > 0 && pattern_.length(longest_first_[active - 1]) <= j) --active;
    if (active == 0) break;
    const std::size_t mask = table_.size() - 1;
    std::uint64_t last = 0;  // neighbours often touch the same line
    int width = 0;
    next_round();
    for (std::size_t i = 0; i < active; ++i) {
      const Index* row = pattern_.columns + pattern_.offsets[longest_first_[i]];
      width = std::max(width, step_bits(j == 0 ? -1 : row[j - 1], row[j]));
      const std::uint64_t line = static_cast<std::uint32_t>(row[j] / line_elements_);
      const std::uint64_t key = round_ << 32 | line;
      if (key == last) continue;
      last = key;
      std::size_t slot = (line * 0x9E3779B97F4A7C15ull >> 32) & mask;
      while (table_[slot] >> 32 == round_ && table_[slot] != key) slot = (slot + 1) & mask;
      if (table_[slot] != key) {
        table_[slot] = key;
        ++lines;
      }
    }
    bits += width;
  }
  const Offset warps = (static_cast<Offset>(rows.size()) + model_.warp_rows - 1) / model_.warp_rows;
  return warps * ((bits + model_.symbol_bits - 1) / model_.symbol_bits + lines);
}

Offset objective(const Pattern& pattern, std::span<const Index> rows, const BarModel& model, Index line_elements) {
  std::atomic<Offset> sum{0};
  const Offset slice = model.slice_rows;
  const Offset slices = (static_cast<Offset>(rows.size()) + slice - 1) / slice;
  parallel_ranges(slices, 16, [&](Offset begin, Offset end) {
    SliceCounter counter(pattern, model, line_elements);
    Offset part = 0;
    for (Offset s = begin; s < end; ++s) {
      const auto first = static_cast<std::size_t>(s * slice);
      part += counter.cost(rows.subspan(first, std::min(static_cast<std::size_t>(slice), rows.size() - first)));
    }
    sum += part;
  });
  return sum;
}

}  // namespace weft::ordering

namespace weft {

template <Value V>
Offset bar_objective(const Csr<V>& matrix, const Order& order, const BarModel& model) {
  const Index line_elements = ordering::line_elements<V>(model);
  if (!order.columns.empty()) {
    const Csr<V> reordered = permute(matrix, order);
    return bar_objective(reordered, {}, model);
  }
  Array<Index> rows = order.rows;
  if (rows.empty()) {
    rows = Array<Index>(static_cast<std::size_t>(matrix.rows));
    std::iota(rows.begin(), rows.end(), 0);
  } else {
    inverse_permutation(rows, matrix.rows, "order.rows");  // throws when it is none
  }
  return ordering::objective(ordering::Pattern(matrix), rows, model, line_elements);
}

#define WEFT_INSTANTIATE(V)                                   \
  template Index ordering::line_elements<V>(const BarModel&); \
  template Offset bar_objective<V>(const Csr<V>&, const Order&, const BarModel&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
