#pragma once
#include "formats/column_groups.cuh"
#include "formats/sell/sell.hpp"
#include "formats/sell/tuning.hpp"

// The kernels of sell: a thread, or t of them, follows a row.
namespace weft::WEFT_SIMT_NAMESPACE::sell {

using simt::block_threads;
using ::weft::sell::Slice;
using WarpRows = std::integral_constant<Index, ::weft::sell::gpu_slice_rows>;

template <class V>
struct View {
  Index rows = 0;
  Index slice_rows = 0;
  Index width = 0;                // of all slices, when they are equally wide; else 0
  const Slice* slices = nullptr;  // when they are not
  const Index* bases = nullptr;   // of equally wide slices of 16-bit columns; else null
  const Index* order = nullptr;   // null: rows are not sorted
  const std::uint16_t* columns = nullptr;
  const V* values = nullptr;
};

template <class Room, class V>
__device__ __forceinline__ void store_slot(const View<V>& view, const Product<V>& product, Index slot,
                                           const V (&sums)[Room::vectors]) {
  const Index row = view.order ? view.order[slot] : slot;
  store_sums<Room>(product, row, sums);
}

/// Slices of a warp, equally wide: nothing has to be looked up before the matrix can be loaded.
template <class V, class Column, int Batch, class Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    sell_equal(View<V> view, Product<V> product) {
  const Offset slot = simt::global_thread_id();
  const Offset slice = slot / WarpRows::value;
  if (slice * WarpRows::value >= view.rows) return;
  const Offset begin = slice * view.width * WarpRows::value;
  XRows<V, Room> x(product);
  if constexpr (sizeof(Column) == 2) x = x.from(simt::load_readonly(view.bases + slice));
  V sums[Room::vectors] = {};
  sum_grouped_row<Batch>(view.values + begin, reinterpret_cast<const Column*>(view.columns) + begin,
                         static_cast<Index>(slot % WarpRows::value), WarpRows(), view.width, x, sums);
  if (slot < view.rows) store_slot<Room>(view, product, static_cast<Index>(slot), sums);
}

template <int Batch, class V, class Rows, class Room>
__device__ __forceinline__ void sum_slot(const View<V>& view, const XRows<V, Room>& x, Offset slot, Rows rows,
                                         V (&sums)[Room::vectors]) {
  const Offset number = slot / rows;
  const auto row = static_cast<Index>(slot - number * rows);
  const Slice slice = view.slices[number];
  const V* const values = view.values + slice.entry;
  const std::uint16_t* const columns = view.columns + slice.column;
  if (slice.base >= 0)
    sum_grouped_row<Batch>(values, columns, row, rows, slice.width, x.from(slice.base), sums);
  else
    sum_grouped_row<Batch>(values, reinterpret_cast<const Index*>(columns), row, rows, slice.width, x, sums);
}

/// Slices of any width and any number of rows.
template <class V, class Rows, int Batch, class Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    sell_slices(View<V> view, Rows rows, Product<V> product) {
  const Offset slot = simt::global_thread_id();
  if (slot >= view.rows) return;
  V sums[Room::vectors] = {};
  sum_slot<Batch>(view, XRows<V, Room>(product), slot, rows, sums);
  store_slot<Room>(view, product, static_cast<Index>(slot), sums);
}

/// The same with Threads threads per row, which add up what they have by shuffles (the paper's kernel has barriers in
/// branches that not all threads take).
template <class V, int Threads, class Room>
__global__ void __launch_bounds__(block_threads) sell_striped(View<V> view, Product<V> product) {
  const Offset thread = simt::global_thread_id();
  const Offset slot = thread / Threads;
  V sums[Room::vectors] = {};
  if (slot < view.rows) {
    const Offset number = slot / view.slice_rows;
    const Slice slice = view.slices[number];
    const Offset first = (slot - number * view.slice_rows) * Threads + thread % Threads;
    const Offset stride = static_cast<Offset>(view.slice_rows) * Threads;
    const V* const values = view.values + slice.entry + first;
    const std::uint16_t* const columns = view.columns + slice.column;
    const XRows<V, Room> x(product);
    if (slice.base >= 0)
      sum_striped(values, columns + first, stride, slice.width / Threads, x.from(slice.base), sums);
    else
      sum_striped(values, reinterpret_cast<const Index*>(columns) + first, stride, slice.width / Threads, x, sums);
  }
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j)
    if (j < product.count) sums[j] = simt::warp_reduce_sum<Threads>(sums[j]);
  if (slot < view.rows && thread % Threads == 0) store_slot<Room>(view, product, static_cast<Index>(slot), sums);
}

template <class V>
void multiply_striped(int threads_per_row, const View<V>& view, const Product<V>& product, Stream stream) {
  const unsigned blocks = simt::blocks_for(static_cast<Offset>(view.rows) * threads_per_row, block_threads);
  const auto launch = [&](auto threads) {
    with_room_for(product, [&](auto room) {
      simt::launch(WEFT_KERNEL(sell_striped<V, decltype(threads)::value, decltype(room)>), blocks, block_threads, 0,
                   stream, view, product);
    });
  };
  switch (threads_per_row) {
    case 2:
      return launch(std::integral_constant<int, 2>());
    case 4:
      return launch(std::integral_constant<int, 4>());
    case 8:
      return launch(std::integral_constant<int, 8>());
    case 16:
      return launch(std::integral_constant<int, 16>());
    default:
      return launch(std::integral_constant<int, 32>());
  }
}

template <int Number>
using Constant = std::integral_constant<int, Number>;

template <class V, class Column, class Room>
void multiply_equal(const View<V>& view, const Product<V>& product, Stream stream, unsigned blocks) {
  const auto launch = [&](auto batch, auto min_blocks) {
    simt::launch(WEFT_KERNEL(sell_equal<V, Column, decltype(batch)::value, Room, decltype(min_blocks)::value>), blocks,
                 block_threads, 0, stream, view, product);
  };
  if constexpr (Room::vectors > 1)
    launch(Constant<4>(), Constant<1>());
  else if (::weft::sell::spread_long_equal_rows.of<V>() && view.width > long_rows_from)
    launch(Constant<8>(), Constant<blocks_for_long_rows>());
  else
    launch(Constant<8>(), Constant<blocks_for_short_rows.of<V>()>());
}

template <class V, class Rows, class Room>
void multiply_slices(const View<V>& view, Rows rows, bool long_rows, const Product<V>& product, Stream stream,
                     unsigned blocks) {
  const auto launch = [&](auto batch, auto min_blocks) {
    simt::launch(WEFT_KERNEL(sell_slices<V, Rows, decltype(batch)::value, Room, decltype(min_blocks)::value>), blocks,
                 block_threads, 0, stream, view, rows, product);
  };
  if constexpr (Room::vectors > 1)
    launch(Constant<4>(), Constant<1>());
  else if (long_rows)
    launch(Constant<8>(), Constant<blocks_for_long_rows>());
  else
    launch(Constant<4>(), Constant<blocks_for_short_rows.of<V>()>());
}

template <class V>
void multiply(const View<V>& view, int threads_per_row, bool long_rows, const Product<V>& product, Stream stream) {
  if (threads_per_row > 1) return multiply_striped(threads_per_row, view, product, stream);
  const unsigned blocks = simt::blocks_for(view.rows, block_threads);
  with_room_for(product, [&](auto room) {
    using Room = decltype(room);
    if (view.width > 0 && view.bases)
      multiply_equal<V, std::uint16_t, Room>(view, product, stream, blocks);
    else if (view.width > 0)
      multiply_equal<V, Index, Room>(view, product, stream, blocks);
    else if (view.slice_rows == WarpRows::value)
      multiply_slices<V, WarpRows, Room>(view, {}, long_rows, product, stream, blocks);
    else
      multiply_slices<V, Index, Room>(view, view.slice_rows, long_rows, product, stream, blocks);
  });
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::sell
