#include <weft/error.hpp>

#include <algorithm>
#include <atomic>

#include "core/parallel.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/coo/row_walker.hpp"

namespace weft::bro_coo {
namespace {

using coo::RowWalker;

constexpr std::int64_t intervals_per_task = 16;

/// Calls body(lane, step, entry) for every place of an interval, lane after lane; `entry` counts from the interval's
/// begin, and there is one if it is less than count_in(interval).
template <class F>
void for_places(int steps, F&& body) {
  for (int lane = 0; lane < lanes; ++lane)
    for (int step = 0; step < steps; ++step) body(lane, step, lane * steps + step);
}

template <class Symbol>
void pack(const Shape& shape, const Array<Offset>& offsets, Index rows, Offset interval, int width, Symbol* to) {
  const Offset begin = shape.begin_of(interval), count = shape.count_in(interval);
  const int steps = shape.steps_of(interval);
  RowWalker walker(offsets.data(), rows, begin);
  Index before = walker.row_of(begin);
  for (int lane = 0; lane < lanes; ++lane) {
    BitWriter<Symbol> writer(to + lane, lanes, shape.symbol_bits);
    for (Offset k = static_cast<Offset>(lane) * steps; k < static_cast<Offset>(lane + 1) * steps; ++k) {
      const Index row = k < count ? walker.row_of(begin + k) : before;
      writer.put(static_cast<std::uint32_t>(row - before), width);
      before = row;
    }
    writer.finish();
  }
}

}  // namespace

Array<Offset> place_words(const Shape& shape, const Array<std::uint8_t>& widths) {
  const Offset intervals = shape.intervals();
  Array<Offset> words(static_cast<std::size_t>(intervals) + 1);
  parallel_for(intervals, 1 << 16,
               [&](std::int64_t i) { words[i] = lanes * shape.words_per_lane(shape.steps_of(i), widths[i]); });
  prefix_sum(words.data(), intervals);
  return words;
}

bool any_empty_row(const Array<Offset>& offsets) {
  std::atomic<bool> empty{false};
  parallel_ranges(static_cast<std::int64_t>(offsets.size()) - 1, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      if (offsets[row] == offsets[row + 1]) return empty.store(true, std::memory_order_relaxed);
  });
  return empty;
}

// 1. The rows and the width of each interval; 2. where its symbols are stored; 3. the symbols, columns and values.
template <Value V>
Storage<V> encode(const Csr<V>& matrix, const Shape& shape) {
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.cols = matrix.cols;
  const Offset intervals = shape.intervals();
  storage.bounds = Array<Index>(static_cast<std::size_t>(2 * intervals));
  storage.widths = Array<std::uint8_t>(static_cast<std::size_t>(intervals));
  parallel_for(intervals, intervals_per_task, [&](std::int64_t interval) {
    const Offset begin = shape.begin_of(interval), end = begin + shape.count_in(interval);
    RowWalker walker(matrix.offsets.data(), matrix.rows, begin);
    const Index first = walker.row_of(begin);
    Index before = first, largest = 0;
    for (Offset k = begin; k < end; ++k) {
      const Index row = walker.row_of(k);
      largest = std::max(largest, row - before);
      before = row;
    }
    storage.bounds[2 * interval] = first;
    storage.bounds[2 * interval + 1] = before;
    storage.widths[interval] = static_cast<std::uint8_t>(bits_for(static_cast<std::uint32_t>(largest)));
  });

  storage.words = place_words(shape, storage.widths);
  storage.symbols = Array<std::uint32_t>(static_cast<std::size_t>(storage.words.back()));
  storage.columns = Array<Index>(static_cast<std::size_t>(shape.places()));
  storage.values = Array<V>(static_cast<std::size_t>(shape.places()));
  parallel_for(intervals, intervals_per_task, [&](std::int64_t interval) {
    const int width = storage.widths[interval];
    std::uint32_t* const symbols = storage.symbols.data() + storage.words[interval];
    if (width > 0 && shape.symbol_bits == 64)
      pack(shape, matrix.offsets, matrix.rows, interval, width, reinterpret_cast<std::uint64_t*>(symbols));
    else if (width > 0)
      pack(shape, matrix.offsets, matrix.rows, interval, width, symbols);
    const Offset begin = shape.begin_of(interval), count = shape.count_in(interval);
    for_places(shape.steps_of(interval), [&](int lane, int step, Offset k) {
      const Offset place = begin + static_cast<Offset>(step) * lanes + lane;
      storage.columns[place] = k < count ? matrix.columns[begin + k] : 0;
      storage.values[place] = k < count ? matrix.values[begin + k] : V(0);
    });
  });
  storage.has_empty_rows = any_empty_row(matrix.offsets);
  return storage;
}

template <Value V>
void place_values(const Shape& shape, const V* csr_values, V* values) {
  parallel_for(shape.intervals(), intervals_per_task, [&](std::int64_t interval) {
    const Offset begin = shape.begin_of(interval), count = shape.count_in(interval);
    for_places(shape.steps_of(interval), [&](int lane, int step, Offset k) {
      if (k < count) values[begin + static_cast<Offset>(step) * lanes + lane] = csr_values[begin + k];
    });
  });
}

#define WEFT_INSTANTIATE(V)                                   \
  template Storage<V> encode<V>(const Csr<V>&, const Shape&); \
  template void place_values<V>(const Shape&, const V*, V*);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_coo
