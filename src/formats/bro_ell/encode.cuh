#pragma once
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/csr_on_device.cuh"
#include "simt/scan.cuh"

// The encoder of bro-ell on a GPU. It delivers the same arrays as encode on the CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::bro_ell {

using ::weft::bro_ell::rows_in_slice;
using ::weft::bro_ell::Shape;
using ::weft::bro_ell::Slice;

/// Sums over all slices.
struct Census {
  Offset columns = 0;
  Offset kept = 0;  // the matrix's own entries
  Index longest = 0;
};

__device__ __forceinline__ Index kept_of_row(const Offset* offsets, Offset row, Index max_columns) {
  const Offset length = offsets[row + 1] - offsets[row];
  return length < max_columns ? static_cast<Index>(length) : max_columns;
}

/// A block per slice: how many entries its longest row has, and so how many values and widths it needs.
static __global__ void __launch_bounds__(simt::block_threads)
    bro_ell_count_columns(const Offset* offsets, Index rows, Shape shape, Slice* slices, Offset* values, Offset* widths,
                          Census* census) {
  const auto s = static_cast<Index>(blockIdx.x);
  const Offset first = static_cast<Offset>(s) * shape.slice_rows;
  Index longest = 0;
  Offset kept = 0;
  for (auto r = static_cast<Index>(threadIdx.x); r < shape.slice_rows && r < rows - first;
       r += static_cast<Index>(blockDim.x)) {
    const Index length = kept_of_row(offsets, first + r, shape.max_columns);
    longest = simt::Max{}(longest, length);
    kept += length;
  }
  longest = simt::block_reduce(longest, simt::Max{});
  kept = simt::block_reduce_sum(kept);
  if (threadIdx.x != 0) return;
  slices[s] = {.columns = longest};
  values[s] = static_cast<Offset>(longest) * rows_in_slice(rows, shape.slice_rows, s);
  widths[s] = ::weft::bro_ell::round_up(longest, ::weft::bro_ell::widths_together);
  simt::atomic_add(census->columns, static_cast<Offset>(longest));
  simt::atomic_add(census->kept, kept);
  simt::atomic_max(census->longest, longest);
}

constexpr Index columns_together = 32;

/// A block per slice: the widths of its columns, and with them the symbols of its rows.
static __global__ void __launch_bounds__(simt::block_threads)
    bro_ell_measure(const Offset* offsets, const Index* csr_columns, Index rows, Shape shape, Slice* slices,
                    const Offset* values, const Offset* widths, std::uint8_t* bit_alloc, Offset* words) {
  WEFT_SHARED(std::uint32_t, deltas, columns_together);  // of each column, all or-ed together
  const auto s = static_cast<Index>(blockIdx.x);
  const auto thread = static_cast<Index>(threadIdx.x);
  const Offset first = static_cast<Offset>(s) * shape.slice_rows;
  Slice slice = slices[s];
  slice.value = values[s];
  slice.width = widths[s];
  Offset bits = 0;
  for (Index begin = 0; begin < slice.columns; begin += columns_together) {
    const Index count = slice.columns - begin < columns_together ? slice.columns - begin : columns_together;
    if (thread < columns_together) deltas[thread] = 0;
    simt::sync_block();
    // The threads of a warp look at different columns, so that they do not wait for one another.
    const Index start = thread % count;
    for (Index r = thread; r < shape.slice_rows && r < rows - first; r += static_cast<Index>(blockDim.x)) {
      const Index* const row = csr_columns + offsets[first + r];
      const Index length = kept_of_row(offsets, first + r, slice.columns);
      for (Index i = 0; i < count; ++i) {
        const Index c = start + i < count ? start + i : start + i - count;
        const Index k = begin + c;
        if (k < length) simt::atomic_or(deltas[c], static_cast<std::uint32_t>(row[k] - (k > 0 ? row[k - 1] : -1)));
      }
    }
    simt::sync_block();
    if (thread < columns_together) {
      const std::uint32_t all = deltas[thread];
      int width = 32 - simt::leading_zeros(all);
      if (thread < count && width < shape.min_bits) width = shape.min_bits;
      const Offset left = ::weft::bro_ell::round_up(slice.columns, ::weft::bro_ell::widths_together) - begin;
      if (thread < left) bit_alloc[slice.width + begin + thread] = static_cast<std::uint8_t>(width);
      bits += simt::warp_reduce_sum(width);
    }
  }
  if (thread != 0) return;
  slice.symbols = static_cast<Index>(symbols_for(bits, shape.symbol_bits));
  slices[s] = slice;
  words[s] = static_cast<Offset>(slice.symbols) * rows_in_slice(rows, shape.slice_rows, s) * (shape.symbol_bits / 32);
}

/// Every thread writes the stream of one row. Neighbours write neighbours.
template <class Symbol>
__global__ void __launch_bounds__(simt::block_threads)
    bro_ell_pack(const Offset* offsets, const Index* csr_columns, Index rows, Shape shape, Slice* slices,
                 Index slice_count, const Offset* words, const std::uint8_t* bit_alloc, std::uint32_t* to) {
  const Offset slot = simt::global_thread_id();
  const Offset number = slot / shape.slice_rows;
  if (number >= slice_count) return;
  const auto s = static_cast<Index>(number);
  const auto r = static_cast<Index>(slot - number * shape.slice_rows);
  const Slice& slice = slices[s];
  if (r == 0) slices[s].word = words[s];  // nobody reads that here
  const Index n = rows_in_slice(rows, shape.slice_rows, s);
  if (r >= n) return;
  const Offset begin = slot < rows ? offsets[slot] : 0;
  const Index length = slot < rows ? kept_of_row(offsets, slot, slice.columns) : 0;
  BitWriter<Symbol> writer(reinterpret_cast<Symbol*>(to + words[s]) + r, n, static_cast<int>(8 * sizeof(Symbol)));
  ::weft::bro_ell::pack_row(csr_columns + begin, length, bit_alloc + slice.width, slice.columns, writer);
}

/// Every thread writes the values of one row, and 0 after them.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    bro_ell_place_values(Source<V> source, Index slice_rows, const Slice* slices, Index slice_count, V* to) {
  const Offset slot = simt::global_thread_id();
  const Offset number = slot / slice_rows;
  if (number >= slice_count) return;
  const auto r = static_cast<Index>(slot - number * slice_rows);
  const Index n = rows_in_slice(source.rows, slice_rows, static_cast<Index>(number));
  if (r >= n) return;
  const Slice slice = slices[number];
  const Offset begin = slot < source.rows ? source.offsets[slot] : 0;
  const Index length = slot < source.rows ? kept_of_row(source.offsets, slot, slice.columns) : 0;
  V* place = to + slice.value + r;
  for (Index k = 0; k < slice.columns; ++k, place += n) *place = k < length ? source.values[begin + k] : V(0);
}

/// The arrays of bro_ell::Storage on a GPU.
template <class V>
struct DeviceStorage {
  Shape shape;
  Index rows = 0;
  Index slice_count = 0;
  Census census;
  DeviceBuffer<Slice> slices;
  DeviceBuffer<std::uint8_t> bit_alloc;
  DeviceBuffer<std::uint32_t> words;
  DeviceBuffer<V> values;
};

template <class V>
void place_values(const Source<V>& source, DeviceStorage<V>& storage) {
  const Offset slots = static_cast<Offset>(storage.slice_count) * storage.shape.slice_rows;
  simt::launch(WEFT_KERNEL(bro_ell_place_values<V>), simt::blocks_for(slots, simt::block_threads), simt::block_threads,
               0, {}, source, storage.shape.slice_rows, std::as_const(storage.slices).data(), storage.slice_count,
               storage.values.data());
}

/// Replaces the sizes of all slices by where they begin. Returns their sum.
inline Offset scan_sizes(Device device, DeviceBuffer<Offset>& sizes, Index slices) {
  simt::exclusive_scan(device, sizes.data(), slices);
  Offset total = 0;
  ::weft::detail::copy_to_host(device, &total, sizes.data() + slices, sizeof total, {});
  return total;
}

/// The same steps as on the CPU.
template <class V>
DeviceStorage<V> encode_on_device(const Source<V>& source, const Shape& shape, const BuildOptions& options) {
  constexpr int threads = simt::block_threads;
  const Device device = options.device;
  DeviceStorage<V> storage;
  storage.shape = shape;
  storage.rows = source.rows;
  storage.slice_count = ::weft::bro_ell::slice_count(source.rows, shape.slice_rows);
  const auto slices = static_cast<std::size_t>(storage.slice_count);
  const unsigned blocks = simt::blocks_for(storage.slice_count, 1);
  storage.slices = DeviceBuffer<Slice>(device, slices);
  DeviceBuffer<Offset> value(device, slices + 1), width(device, slices + 1), word(device, slices + 1);
  DeviceBuffer<Census> census(device, std::span<const Census>(&storage.census, 1));
  simt::launch(WEFT_KERNEL(bro_ell_count_columns), blocks, threads, 0, {}, source.offsets, source.rows, shape,
               storage.slices.data(), value.data(), width.data(), census.data());
  const Offset values = scan_sizes(device, value, storage.slice_count);
  const Offset widths = scan_sizes(device, width, storage.slice_count);
  storage.census = census.download()[0];
  ::weft::bro_ell::refuse_padding(shape, values, storage.census.kept, sizeof(V), options);

  storage.bit_alloc = DeviceBuffer<std::uint8_t>(device, static_cast<std::size_t>(widths));
  simt::launch(WEFT_KERNEL(bro_ell_measure), blocks, threads, 0, {}, source.offsets, source.columns, source.rows, shape,
               storage.slices.data(), std::as_const(value).data(), std::as_const(width).data(),
               storage.bit_alloc.data(), word.data());
  const Offset words = scan_sizes(device, word, storage.slice_count);

  storage.words = DeviceBuffer<std::uint32_t>(device, static_cast<std::size_t>(words));
  storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(values));
  const auto pack = [&](auto kernel) {
    simt::launch(kernel, simt::blocks_for(static_cast<Offset>(storage.slice_count) * shape.slice_rows, threads),
                 threads, 0, {}, source.offsets, source.columns, source.rows, shape, storage.slices.data(),
                 storage.slice_count, std::as_const(word).data(), std::as_const(storage.bit_alloc).data(),
                 storage.words.data());
  };
  if (shape.symbol_bits == 64)
    pack(WEFT_KERNEL(bro_ell_pack<std::uint64_t>));
  else
    pack(WEFT_KERNEL(bro_ell_pack<std::uint32_t>));
  place_values(source, storage);
  synchronize(device);  // what is read may be gone afterwards
  return storage;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_ell
