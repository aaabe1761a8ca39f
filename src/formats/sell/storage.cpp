// The set-up of sell as a GPU has it, on the CPU.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "formats/padding_limit.hpp"
#include "formats/sell/sell.hpp"

namespace weft::sell {
namespace {

constexpr Index rows_per_range = 4096;  // of a parallel loop

/// Widths and bases of all slices; they are not yet laid out.
template <Value V>
void measure_slices(const Csr<V>& matrix, Storage<V>& storage) {
  const Shape& shape = storage.shape;
  const Index c = shape.slice_rows;
  parallel_for(static_cast<std::int64_t>(storage.slices.size()), rows_per_range / c, [&](std::int64_t s) {
    const auto first = static_cast<Index>(s * c);
    const Index count = std::min(c, storage.rows - first);
    Index longest = 0, low = std::numeric_limits<Index>::max(), high = -1;
    for (Index i = 0; i < count; ++i) {
      const Index row = storage.order.empty() ? first + i : storage.order[first + i];
      const Offset begin = matrix.offsets[row], end = matrix.offsets[row + 1];
      longest = std::max(longest, static_cast<Index>(end - begin));
      if (begin == end) continue;
      low = std::min(low, matrix.columns[begin]);
      high = std::max(high, matrix.columns[end - 1]);
    }
    Slice& slice = storage.slices[s];
    slice.width = static_cast<Index>(round_up(longest, shape.threads));
    slice.base = longest == 0 ? 0 : high - low <= largest_short_column ? low : -1;
  });
}

/// Gives every slice its place. Returns the entries and the units of columns that all take.
template <Value V>
std::pair<Offset, Offset> lay_out(Storage<V>& storage) {
  const Index c = storage.shape.slice_rows;
  Census census;
  for (const Slice& slice : storage.slices) {
    census.widest = std::max(census.widest, slice.width);
    census.short_slices += slice.base >= 0;
    census.entries += round_up(Offset(slice.width) * c, slice_alignment);
  }
  storage.short_slices = census.short_slices;
  storage.equally_wide = worth_widening(storage.shape, census, static_cast<Index>(storage.slices.size()));
  Offset entry = 0, column = 0;
  for (Slice& slice : storage.slices) {
    if (storage.equally_wide) slice.width = census.widest;
    slice.entry = entry;
    slice.column = column;
    const Offset size = round_up(Offset(slice.width) * c, slice_alignment);
    entry += size;
    column += slice.base >= 0 ? size : 2 * size;
  }
  return {entry, column};
}

/// Calls body(entry of csr, or -1 for padding, and its place) for the slots of one slice.
template <Value V, class F>
void for_each_place(const Storage<V>& storage, const Array<Offset>& offsets, Index s, F&& body) {
  const Index c = storage.shape.slice_rows;
  const Slice& slice = storage.slices[s];
  for (Index i = 0; i < c; ++i) {
    const Offset slot = Offset(s) * c + i;
    Offset begin = 0, end = 0;
    if (slot < storage.rows) {
      const Index row = storage.order.empty() ? static_cast<Index>(slot) : storage.order[slot];
      begin = offsets[row];
      end = offsets[row + 1];
    }
    for (Index k = 0; k < slice.width; ++k)
      body(k < end - begin ? begin + k : -1, place_in_slice(i, k, c, slice.width, storage.shape.group));
  }
}

template <Value V>
void fill(const Csr<V>& matrix, Storage<V>& storage) {
  const Index c = storage.shape.slice_rows;
  parallel_for(static_cast<std::int64_t>(storage.slices.size()), std::max(1, 256 / c), [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    V* const values = storage.values.data() + slice.entry;
    std::uint16_t* const narrow = storage.columns.data() + slice.column;
    Index* const wide = reinterpret_cast<Index*>(narrow);  // slices begin at multiples of 16 bytes
    const auto set = [&](Offset place, Index column, V value) {
      values[place] = value;
      if (slice.base >= 0)
        narrow[place] = column < 0 ? padding_column<std::uint16_t> : static_cast<std::uint16_t>(column - slice.base);
      else
        wide[place] = column;
    };
    const Offset used = Offset(slice.width) * c;
    for (Offset gap = used; gap < round_up(used, slice_alignment); ++gap) set(gap, padding_column<Index>, V(0));
    for_each_place(storage, matrix.offsets, static_cast<Index>(s), [&](Offset from, Offset place) {
      if (from < 0)
        set(place, padding_column<Index>, V(0));
      else
        set(place, matrix.columns[from], matrix.values[from]);
    });
  });
}

}  // namespace

template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options) {
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.order = sorted_rows(matrix.offsets, matrix.rows, shape.window);
  const Offset slices = (Offset(matrix.rows) + shape.slice_rows - 1) / shape.slice_rows;
  storage.slices = Array<Slice>(static_cast<std::size_t>(slices));
  measure_slices(matrix, storage);
  const auto [entries, units] = lay_out(storage);
  require_little_padding("sell", entries, matrix.nonzeros(), sizeof(V) + 2, options, "bce");
  storage.values = Array<V>(static_cast<std::size_t>(entries));
  storage.columns = Array<std::uint16_t>(static_cast<std::size_t>(units));
  fill(matrix, storage);
  return storage;
}

#define WEFT_INSTANTIATE(V) template Storage<V> build_storage<V>(const Csr<V>&, const Shape&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::sell
