// The blocks of a matrix, found on a GPU: read off where all are full, else by a thread per block row.
#include "facts/blocks.hpp"
#include "facts/full_blocks.cuh"
#include "formats/bro_sell/blocks.cuh"
#include "simt/scan.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {
namespace {

/// Goes through the blocks of a block row: a cursor in each of its rows.
template <class F>
__device__ __forceinline__ void for_each_block(const PatternView& matrix, Offset block_row, int block, F&& body) {
  Offset next[max_block], end[max_block];
  WEFT_UNROLL
  for (int r = 0; r < max_block; ++r) {
    next[r] = r < block ? matrix.offsets[block_row * block + r] : 0;
    end[r] = r < block ? matrix.offsets[block_row * block + r + 1] : 0;
  }
  for (;;) {
    bool any = false;
    Index first = 0;
    WEFT_UNROLL
    for (int r = 0; r < max_block; ++r) {
      if (next[r] >= end[r]) continue;
      const Index column = matrix.columns[next[r]];
      first = !any || column < first ? column : first;
      any = true;
    }
    if (!any) return;
    const Index block_column = first / block;
    const Offset right = (static_cast<Offset>(block_column) + 1) * block;
    WEFT_UNROLL
    for (int r = 0; r < max_block; ++r)
      while (next[r] < end[r] && matrix.columns[next[r]] < right) ++next[r];
    body(block_column);
  }
}

/// Counts the blocks of each block row or, where `columns` is given, writes them.
__global__ void __launch_bounds__(simt::block_threads)
    find_blocks(PatternView matrix, int block, Index block_rows, Offset* offsets, Index* columns) {
  const Offset row = simt::global_thread_id();
  if (row >= block_rows) return;
  if (columns) {
    Offset to = offsets[row];
    for_each_block(matrix, row, block, [&](Index column) { columns[to++] = column; });
  } else {
    Offset count = 0;
    for_each_block(matrix, row, block, [&](Index) { ++count; });
    offsets[row] = count;
  }
}

/// A warp per block row writes its blocks as if all were full; if one is not, `broken` becomes 1 and what is written
/// means nothing.
__global__ void __launch_bounds__(simt::block_threads)
    read_full_blocks(PatternView matrix, int block, Index block_rows, Offset* offsets, Index* columns, Index* broken) {
  const Offset row = simt::global_thread_id() / 32;
  if (row > block_rows) return;
  const Offset first = matrix.offsets[row * block];
  const Offset place = first / (block * block);
  if (simt::lane_id() == 0) offsets[row] = place;
  if (row == block_rows) return;
  const bool full = facts::blocks_are_full(matrix.offsets + row * block, matrix.columns, block,
                                           [&](Offset number, Index column) { columns[place + number] = column; });
  if (!full) *broken = 1;
}

}  // namespace

bool PatternOnDevice::read_full(Device device, const PatternView& matrix, Offset entries) {
  const int block = view_.block;
  if (entries % (block * block) != 0) return false;
  constexpr int threads = simt::block_threads;
  const Index whole = 0;
  DeviceBuffer<Index> broken(device, std::span<const Index>(&whole, 1));
  columns_ = DeviceBuffer<Index>(device, static_cast<std::size_t>(entries / (block * block)));
  simt::launch(WEFT_KERNEL(read_full_blocks), simt::blocks_for((Offset(view_.rows) + 1) * 32, threads), threads, 0, {},
               matrix, block, view_.rows, offsets_.data(), columns_.data(), broken.data());
  count_ = entries / (block * block);
  return broken.download()[0] == 0;
}

PatternOnDevice::PatternOnDevice(Device device, const PatternView& matrix, Offset entries, int block)
    : view_{block, matrix.rows / block, matrix.offsets, matrix.columns}, count_(entries) {
  if (block == 1) return;
  constexpr int threads = simt::block_threads;
  const unsigned blocks = simt::blocks_for(view_.rows, threads);
  offsets_ = DeviceBuffer<Offset>(device, static_cast<std::size_t>(view_.rows) + 1);
  view_.offsets = offsets_.data();
  if (read_full(device, matrix, entries)) {
    view_.columns = columns_.data();
    return;
  }
  simt::launch(WEFT_KERNEL(find_blocks), blocks, threads, 0, {}, matrix, block, view_.rows, offsets_.data(),
               static_cast<Index*>(nullptr));
  simt::exclusive_scan(device, offsets_.data(), view_.rows);
  ::weft::detail::copy_to_host(device, &count_, offsets_.data() + view_.rows, sizeof count_, {});
  columns_ = DeviceBuffer<Index>(device, static_cast<std::size_t>(count_));
  simt::launch(WEFT_KERNEL(find_blocks), blocks, threads, 0, {}, matrix, block, view_.rows, offsets_.data(),
               columns_.data());
  view_.columns = columns_.data();
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
