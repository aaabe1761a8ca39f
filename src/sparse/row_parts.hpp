#pragma once
#include <weft/types.hpp>

#include <algorithm>
#include <atomic>
#include <limits>

#include "core/parallel.hpp"

namespace weft {

/// Work over the entries of a Csr is cut by entries, not by rows, so that one enormous row is shared by all threads.
constexpr Offset entry_grain = 1 << 16;

/// The row that holds an entry.
inline Index row_of(const Offset* offsets, Index rows, Offset entry) {
  return static_cast<Index>(std::upper_bound(offsets, offsets + rows, entry) - offsets) - 1;
}

/// Calls body(row, begin, end) for each piece of a row that lies in the entries begin..end; empty rows are passed over.
template <class F>
void for_row_parts(const Offset* offsets, Index rows, Offset begin, Offset end, F&& body) {
  if (begin >= end) return;
  Index row = row_of(offsets, rows, begin);
  while (begin < end) {
    const Offset stop = std::min(offsets[row + 1], end);
    if (begin < stop) body(row, begin, stop);
    begin = stop;
    ++row;
  }
}

/// for_row_parts over all entries, in parallel; the pieces do not depend on the number of threads.
template <class F>
void parallel_row_parts(const Offset* offsets, Index rows, F&& body) {
  parallel_ranges(offsets[rows], entry_grain,
                  [&](Offset begin, Offset end) { for_row_parts(offsets, rows, begin, end, body); });
}

/// Calls body(row, begin, end) for each whole row, empty ones too, that begins in the entry_grain entries after `from`.
template <class F>
void for_rows_beginning_in(const Offset* offsets, Index rows, Offset from, F&& body) {
  const Index first = static_cast<Index>(std::lower_bound(offsets, offsets + rows, from) - offsets);
  for (Index row = first; row < rows && offsets[row] - from < entry_grain; ++row)
    body(row, offsets[row], offsets[row + 1]);
}

/// The smallest of the positions reported by many threads: which fault a user is told of must not depend on timing.
class FirstPosition {
 public:
  static constexpr Offset none = std::numeric_limits<Offset>::max();

  void report(Offset position) {
    Offset known = first_.load(std::memory_order_relaxed);
    while (position < known && !first_.compare_exchange_weak(known, position, std::memory_order_relaxed)) {
    }
  }
  bool found() const { return get() != none; }
  Offset get() const { return first_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Offset> first_{none};
};

template <class T>
void parallel_copy(const T* from, Offset count, T* to) {
  parallel_ranges(count, entry_grain,
                  [&](Offset begin, Offset end) { std::copy(from + begin, from + end, to + begin); });
}

}  // namespace weft
