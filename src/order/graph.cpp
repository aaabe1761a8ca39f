#include "order/graph.hpp"

#include <algorithm>
#include <atomic>

#include "sparse/group_by_key.hpp"

namespace weft::ordering {
namespace {

/// Walks two ascending lists and calls take(element) once for each that is in one of them.
template <class F>
void merge(std::span<const Index> a, std::span<const Index> b, F&& take) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
    const Index next = from_a ? a[i] : b[j];
    if (i < a.size() && a[i] == next) ++i;
    if (j < b.size() && b[j] == next) ++j;
    take(next);
  }
}

}  // namespace

Graph::Graph(const Pattern& pattern) : nodes_(pattern.rows), offsets_(pattern.offsets), columns_(pattern.columns) {
  const Offset entries = pattern.nonzeros();
  const auto nodes = static_cast<std::size_t>(nodes_);
  Array<Offset> offsets(nodes + 1);  // of the transposed matrix
  Array<Index> columns(static_cast<std::size_t>(entries));
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for_row_parts(pattern.offsets, pattern.rows, begin, end, [&](Index row, Offset first, Offset last) {
      for (Offset i = first; i < last; ++i) sink(pattern.columns[i], row);
    });
  };
  group_by_key(source, entries, nodes_, Fields<Index>(columns.data()), offsets.data());

  std::atomic<bool> symmetric{true};
  parallel_ranges(nodes_, entry_grain, [&](Offset begin, Offset end) {
    if (!std::equal(offsets.data() + begin, offsets.data() + end, pattern.offsets + begin)) symmetric = false;
  });
  if (symmetric)
    parallel_ranges(entries, entry_grain, [&](Offset begin, Offset end) {
      if (!std::equal(columns.data() + begin, columns.data() + end, pattern.columns + begin)) symmetric = false;
    });
  if (symmetric) return;

  const auto row = [](const Offset* starts, const Index* all, Offset i) {
    return std::span<const Index>(all + starts[i], static_cast<std::size_t>(starts[i + 1] - starts[i]));
  };
  own_offsets_ = Array<Offset>(nodes + 1);
  parallel_for(nodes_, 1024, [&](Offset i) {
    Offset count = 0;
    merge(row(pattern.offsets, pattern.columns, i), row(offsets.data(), columns.data(), i), [&](Index) { ++count; });
    own_offsets_[i] = count;
  });
  prefix_sum(own_offsets_.data(), nodes_);
  own_columns_ = Array<Index>(static_cast<std::size_t>(own_offsets_[nodes]));
  parallel_for(nodes_, 1024, [&](Offset i) {
    Index* to = own_columns_.data() + own_offsets_[i];
    merge(row(pattern.offsets, pattern.columns, i), row(offsets.data(), columns.data(), i),
          [&](Index neighbour) { *to++ = neighbour; });
  });
  offsets_ = own_offsets_.data();
  columns_ = own_columns_.data();
}

}  // namespace weft::ordering
