#pragma once
#include <weft/buffer.hpp>

#include "formats/sell/sell.hpp"
#include "simt/scan.cuh"
#include "simt/tuning.hpp"

// Rows sorted by length inside windows, for formats made of slices.
namespace weft::WEFT_SIMT_NAMESPACE {

/// Sorts the rows of a window by length, longest first, keeping the order of equals: a block a window, one pass a bit
/// of the lengths, from the lowest. `from` and `to` change places after each pass; the result ends up in `order`.
/// Windows are `window` rows each or, where `begins` is given, begin there, with the rows that `listed` has at these
/// places.
template <class O>
__global__ void __launch_bounds__(1024) sort_windows(const O* offsets, Index rows, Index window, const Index* begins,
                                                     const Index* listed, Index* order, Index* scratch) {
  const Offset begin = begins ? begins[blockIdx.x] : static_cast<Offset>(blockIdx.x) * window;
  const Index count = begins                  ? begins[blockIdx.x + 1] - begins[blockIdx.x]
                      : rows - begin < window ? static_cast<Index>(rows - begin)
                                              : window;
  const auto row_at = [&](Index i) { return begins ? listed[begin + i] : static_cast<Index>(begin) + i; };
  const auto threads = static_cast<Index>(blockDim.x);
  const auto thread = static_cast<Index>(threadIdx.x);
  const auto length = [&](Index row) { return static_cast<Index>(offsets[row + 1] - offsets[row]); };

  Index longest = 0;
  for (Index i = thread; i < count; i += threads) longest = simt::Max{}(longest, length(row_at(i)));
  longest = simt::block_reduce(longest, simt::Max{});
  const int bits = 32 - simt::leading_zeros(static_cast<std::uint32_t>(longest));
  Index* from = (bits % 2 == 0 ? order : scratch) + begin;
  Index* to = (bits % 2 == 0 ? scratch : order) + begin;
  for (Index i = thread; i < count; i += threads) from[i] = row_at(i);
  simt::sync_block();
  for (int bit = 0; bit < bits; ++bit) {
    Index ones = 0;
    for (Index i = thread; i < count; i += threads) ones += length(from[i]) >> bit & 1;
    ones = simt::block_reduce_sum(ones);
    Index ones_before = 0;
    for (Index first = 0; first < count; first += threads) {
      const bool live = thread < count - first;
      const Index row = live ? from[first + thread] : 0;
      const Index one = live ? length(row) >> bit & 1 : 0;
      Index total = 0;
      const Index rank = simt::block_exclusive_sum(one, total);
      if (live) to[one ? ones_before + rank : ones + (first - ones_before) + (thread - rank)] = row;
      ones_before += total;
    }
    simt::sync_block();
    Index* const swapped = from;
    from = to;
    to = swapped;
  }
}

/// Windows so large that a block would take too long to sort one are sorted on the CPU.
constexpr Index largest_window_on_gpu = 32768;

/// What sell::sorted_rows delivers, on the GPU: empty when windows hold one row. `offsets` are the same on the device
/// and on the host.
inline DeviceBuffer<Index> sorted_rows_on_device(Device device, const Offset* offsets,
                                                 const Array<Offset>& host_offsets, Index rows, Index window) {
  if (window <= 1 || rows == 0) return {};
  if (window > largest_window_on_gpu)
    return DeviceBuffer<Index>(device, ::weft::sell::sorted_rows(host_offsets, rows, window));
  DeviceBuffer<Index> order(device, static_cast<std::size_t>(rows)), scratch(device, static_cast<std::size_t>(rows));
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(sort_windows<Offset>), simt::blocks_for(rows, window), threads, 0, {}, offsets, rows, window,
               static_cast<const Index*>(nullptr), static_cast<const Index*>(nullptr), order.data(), scratch.data());
  synchronize(device);  // before scratch goes
  return order;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
