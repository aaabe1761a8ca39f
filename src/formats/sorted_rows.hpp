#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include <algorithm>
#include <vector>

// Rows sorted by length on the host, for formats made of slices; sort_windows.cuh does the same on a GPU.
namespace weft {

/// Writes item(0), ..., item(count - 1) to `to`, ordered by length(item), longest first; items of the same length keep
/// their order. `starts` is working space that the next call can use again.
template <class Item, class Length>
void sort_by_length(Index count, Item&& item, Length&& length, Index* to, std::vector<Index>& starts) {
  Index longest = 0;
  for (Index i = 0; i < count; ++i) longest = std::max(longest, length(item(i)));
  if (longest > 4 * static_cast<Offset>(count) + 1024) {
    // Counting would mostly go through lengths that no item has.
    for (Index i = 0; i < count; ++i) to[i] = item(i);
    std::stable_sort(to, to + count, [&](Index a, Index b) { return length(a) > length(b); });
    return;
  }
  // starts[l] is where items of length longest - l begin.
  starts.assign(static_cast<std::size_t>(longest) + 2, 0);
  for (Index i = 0; i < count; ++i) ++starts[static_cast<std::size_t>(longest - length(item(i))) + 1];
  for (std::size_t l = 1; l < starts.size(); ++l) starts[l] += starts[l - 1];
  for (Index i = 0; i < count; ++i) {
    const Index next = item(i);
    to[starts[static_cast<std::size_t>(longest - length(next))]++] = next;
  }
}

/// The rows of each window of `window` rows, sorted by length, longest first; rows of the same length keep their order.
/// Empty when a window is a single row. Parallel and linear.
Array<Index> sorted_rows(const Array<Offset>& offsets, Index rows, Index window);

/// The same after all rows of more than `hub_length` entries, which come first, sorted among themselves.
Array<Index> sorted_rows_after_hubs(const Array<Offset>& offsets, Index rows, Index window, Offset hub_length);

}  // namespace weft
