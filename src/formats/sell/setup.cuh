#pragma once
#include "formats/csr_on_device.cuh"
#include "formats/padding_limit.hpp"
#include "formats/sell/sell.hpp"
#include "formats/sort_windows.cuh"

// The set-up of sell on a GPU. It delivers the same arrays as build_storage on the CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::sell {

using ::weft::sell::Census;
using ::weft::sell::Shape;
using ::weft::sell::Slice;

/// Widths, bases and sizes of all slices, and what they add up to.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    sell_measure_slices(Source<V> source, const Index* order, Shape shape, Index slices, Slice* to, Offset* entries,
                        Offset* units, Census* census) {
  const Offset s = simt::global_thread_id();
  Index longest = 0, low = 0, high = -1;
  const bool live = s < slices;
  if (live) {
    const Offset first = s * shape.slice_rows;
    const Index count =
        source.rows - first < shape.slice_rows ? static_cast<Index>(source.rows - first) : shape.slice_rows;
    for (Index i = 0; i < count; ++i) {
      const Index row = order ? order[first + i] : static_cast<Index>(first) + i;
      const Offset begin = source.offsets[row], end = source.offsets[row + 1];
      if (begin == end) continue;
      const Index left = source.columns[begin], right = source.columns[end - 1];
      low = longest == 0 || left < low ? left : low;
      high = right > high ? right : high;
      longest = end - begin > longest ? static_cast<Index>(end - begin) : longest;
    }
  }
  Slice slice;
  slice.width = static_cast<Index>(::weft::sell::round_up(longest, shape.threads));
  slice.base = longest == 0 ? 0 : high - low <= largest_short_column ? low : -1;
  const Offset size =
      ::weft::sell::round_up(static_cast<Offset>(slice.width) * shape.slice_rows, ::weft::sell::slice_alignment);
  if (live) {
    to[s] = slice;
    entries[s] = size;
    units[s] = slice.base >= 0 ? size : 2 * size;
  }
  const Index widest = simt::block_reduce(slice.width, simt::Max{});
  const Index short_slices = simt::block_reduce_sum(live && slice.base >= 0 ? 1 : 0);
  const Offset all = simt::block_reduce_sum(live ? size : Offset(0));
  if (threadIdx.x == 0) {
    simt::atomic_max(census->widest, widest);
    simt::atomic_add(census->short_slices, short_slices);
    simt::atomic_add(census->entries, all);
  }
}

/// Gives every slice its place: that of the running sums, or, when `width` is given, all the same size.
static __global__ void __launch_bounds__(simt::block_threads)
    sell_lay_out(Slice* slices, Index count, const Offset* entries, const Offset* units, Index width,
                 Index slice_rows) {
  const Offset s = simt::global_thread_id();
  if (s >= count) return;
  Slice& slice = slices[s];
  if (width > 0) {
    slice.width = width;
    slice.entry = s * width * slice_rows;
    slice.column = slice.base >= 0 ? slice.entry : 2 * slice.entry;
  } else {
    slice.entry = entries[s];
    slice.column = units[s];
  }
}

constexpr int fill_lanes = 4;  // threads that copy a row: they find 4 neighbours in csr and in a group
constexpr int fill_steps = 4;  // entries that a thread loads before it stores the first

/// Copies the entries to their places, and padding after each row. Without columns, only values are written.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    sell_fill(Source<V> source, const Index* order, Shape shape, const Slice* slices, Index slice_count,
              std::uint16_t* columns, V* values) {
  const Offset thread = simt::global_thread_id();
  const Offset slot = thread / fill_lanes;
  const Offset s = slot / shape.slice_rows;
  if (s >= slice_count) return;
  const auto row_in_slice = static_cast<Index>(slot - s * shape.slice_rows);
  const Slice slice = slices[s];
  Offset begin = 0, end = 0;
  if (slot < source.rows) {
    const Index row = order ? order[slot] : static_cast<Index>(slot);
    begin = source.offsets[row];
    end = source.offsets[row + 1];
  }
  V* const to = values + slice.entry;
  std::uint16_t* const narrow = columns ? columns + slice.column : nullptr;
  const auto set = [&](Offset place, Index column, V value) {
    to[place] = value;
    if (!columns) return;
    if (slice.base >= 0)
      narrow[place] = column < 0 ? padding_column<std::uint16_t> : static_cast<std::uint16_t>(column - slice.base);
    else
      reinterpret_cast<Index*>(narrow)[place] = column;
  };
  const auto length = static_cast<Index>(end - begin);
  for (auto first = static_cast<Index>(thread % fill_lanes); first < slice.width; first += fill_steps * fill_lanes) {
    Index column[fill_steps];
    V value[fill_steps];
    WEFT_UNROLL
    for (int step = 0; step < fill_steps; ++step) {
      const Index k = first + step * fill_lanes;
      column[step] = k < length ? columns ? simt::load_readonly(source.columns + begin + k) : 0 : padding_column<Index>;
      value[step] = k < length ? simt::load_readonly(source.values + begin + k) : V(0);
    }
    WEFT_UNROLL
    for (int step = 0; step < fill_steps; ++step) {
      const Index k = first + step * fill_lanes;
      if (k < length || (columns && k < slice.width))
        set(place_in_slice(row_in_slice, k, shape.slice_rows, slice.width, shape.group), column[step], value[step]);
    }
  }
  // What rounds the slice up to where the next may begin.
  const Offset used = static_cast<Offset>(slice.width) * shape.slice_rows;
  if (columns && row_in_slice == 0 && thread % fill_lanes == 0)
    for (Offset gap = used; gap < ::weft::sell::round_up(used, ::weft::sell::slice_alignment); ++gap)
      set(gap, padding_column<Index>, V(0));
}

/// The arrays of sell::Storage on a GPU.
template <class V>
struct DeviceStorage {
  Shape shape;
  Index rows = 0;
  Index slice_count = 0;
  Census census;
  bool equally_wide = false;
  DeviceBuffer<Index> order;  // empty when rows are not sorted
  DeviceBuffer<Slice> slices;
  DeviceBuffer<std::uint16_t> columns;
  DeviceBuffer<V> values;

  const Index* order_data() const { return order.size() == 0 ? nullptr : order.data(); }
};

template <class V>
void fill(Device device, const Source<V>& source, DeviceStorage<V>& storage, bool with_columns) {
  constexpr int threads = simt::block_threads;
  const Offset slots = static_cast<Offset>(storage.slice_count) * storage.shape.slice_rows;
  simt::launch(WEFT_KERNEL(sell_fill<V>), simt::blocks_for(slots * fill_lanes, threads), threads, 0, {}, source,
               storage.order_data(), storage.shape, std::as_const(storage.slices).data(), storage.slice_count,
               with_columns ? storage.columns.data() : nullptr, storage.values.data());
  synchronize(device);
}

/// 1. The order of the rows; 2. what each slice needs; 3. where it lies; 4. the entries.
template <Value V>
DeviceStorage<V> build_on_device(const MatrixSource<V>& matrix, const Shape& shape, const BuildOptions& options) {
  constexpr int threads = simt::block_threads;
  const Device device = options.device;
  const Source<V> source = csr_on_device(matrix, device);
  DeviceStorage<V> storage;
  storage.shape = shape;
  storage.rows = source.rows;
  storage.slice_count =
      static_cast<Index>((static_cast<Offset>(source.rows) + shape.slice_rows - 1) / shape.slice_rows);
  const auto slices = static_cast<std::size_t>(storage.slice_count);
  storage.order = sorted_rows_on_device(device, source.offsets, source.rows, shape.window);

  storage.slices = DeviceBuffer<Slice>(device, slices);
  DeviceBuffer<Offset> entries(device, slices + 1), units(device, slices + 1);
  DeviceBuffer<Census> census(device, std::span<const Census>(&storage.census, 1));
  const unsigned blocks = simt::blocks_for(storage.slice_count, threads);
  simt::launch(WEFT_KERNEL(sell_measure_slices<V>), blocks, threads, 0, {}, source, storage.order_data(), shape,
               storage.slice_count, storage.slices.data(), entries.data(), units.data(), census.data());
  storage.census = census.download()[0];

  storage.equally_wide = ::weft::sell::worth_widening(shape, storage.census, storage.slice_count);
  const Index width = storage.equally_wide ? storage.census.widest : 0;
  Offset stored = storage.census.entries, stored_units = 0;
  if (storage.equally_wide) {
    stored = static_cast<Offset>(storage.slice_count) * width * shape.slice_rows;
    stored_units = storage.census.short_slices > 0 ? stored : 2 * stored;
  } else {
    simt::exclusive_scan(device, entries.data(), storage.slice_count);
    simt::exclusive_scan(device, units.data(), storage.slice_count);
    ::weft::detail::copy_to_host(device, &stored_units, units.data() + storage.slice_count, sizeof stored_units, {});
  }
  require_little_padding("sell", stored, matrix.nonzeros(), sizeof(V) + 2, options, "bce");
  simt::launch(WEFT_KERNEL(sell_lay_out), blocks, threads, 0, {}, storage.slices.data(), storage.slice_count,
               std::as_const(entries).data(), std::as_const(units).data(), width, shape.slice_rows);
  storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(stored));
  storage.columns = DeviceBuffer<std::uint16_t>(device, static_cast<std::size_t>(stored_units));
  fill(device, source, storage, true);
  return storage;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::sell
