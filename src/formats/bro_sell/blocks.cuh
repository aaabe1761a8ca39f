#pragma once
#include "formats/csr_on_device.cuh"
#include "simt/scan.cuh"
#include "simt/tuning.hpp"

// The blocks of a matrix, found on a GPU.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

/// As ::weft::bro_sell::Pattern.
struct PatternView {
  int block = 1;
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
};

/// Goes through the blocks of a block row: a cursor in each of its rows.
template <class V, class F>
__device__ __forceinline__ void for_each_block(const Source<V>& source, Offset block_row, int block, F&& body) {
  constexpr int most = 6;
  Offset next[most], end[most];
  WEFT_UNROLL
  for (int r = 0; r < most; ++r) {
    next[r] = r < block ? source.offsets[block_row * block + r] : 0;
    end[r] = r < block ? source.offsets[block_row * block + r + 1] : 0;
  }
  for (;;) {
    bool any = false;
    Index first = 0;
    WEFT_UNROLL
    for (int r = 0; r < most; ++r) {
      if (next[r] >= end[r]) continue;
      const Index column = source.columns[next[r]];
      first = !any || column < first ? column : first;
      any = true;
    }
    if (!any) return;
    const Index block_column = first / block;
    const Offset behind = (static_cast<Offset>(block_column) + 1) * block;
    WEFT_UNROLL
    for (int r = 0; r < most; ++r)
      while (next[r] < end[r] && source.columns[next[r]] < behind) ++next[r];
    body(block_column);
  }
}

/// Counts the blocks of each block row or, where `columns` is given, writes them.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    bro_sell_find_blocks(Source<V> source, int block, Index block_rows, Offset* offsets, Index* columns) {
  const Offset row = simt::global_thread_id();
  if (row >= block_rows) return;
  if (columns) {
    Offset to = offsets[row];
    for_each_block(source, row, block, [&](Index column) { columns[to++] = column; });
  } else {
    Offset count = 0;
    for_each_block(source, row, block, [&](Index) { ++count; });
    offsets[row] = count;
  }
}

/// Keeps the pattern's arrays, or stands for those of the matrix itself when blocks are single entries.
template <class V>
class PatternOnDevice {
 public:
  PatternOnDevice(Device device, const Source<V>& source, int block)
      : view_{block, source.rows / block, source.offsets, source.columns} {
    if (block == 1) return;
    constexpr int threads = ::weft::simt::block_threads;
    const unsigned blocks = simt::blocks_for(view_.rows, threads);
    offsets_ = DeviceBuffer<Offset>(device, static_cast<std::size_t>(view_.rows) + 1);
    simt::launch(WEFT_KERNEL(bro_sell_find_blocks<V>), blocks, threads, 0, {}, source, block, view_.rows,
                 offsets_.data(), static_cast<Index*>(nullptr));
    simt::exclusive_scan(device, offsets_.data(), view_.rows);
    Offset count = 0;
    ::weft::detail::copy_to_host(device, &count, offsets_.data() + view_.rows, sizeof count, {});
    columns_ = DeviceBuffer<Index>(device, static_cast<std::size_t>(count));
    simt::launch(WEFT_KERNEL(bro_sell_find_blocks<V>), blocks, threads, 0, {}, source, block, view_.rows,
                 offsets_.data(), columns_.data());
    view_.offsets = offsets_.data();
    view_.columns = columns_.data();
  }

  const PatternView& view() const { return view_; }
  /// The offsets on the host; those of a matrix without blocks are there already.
  Array<Offset> download_offsets(const Array<Offset>& matrix_offsets) const {
    return view_.block == 1 ? matrix_offsets : offsets_.download();
  }

 private:
  PatternView view_;
  DeviceBuffer<Offset> offsets_;
  DeviceBuffer<Index> columns_;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
