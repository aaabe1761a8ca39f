#pragma once
#include <weft/buffer.hpp>

#include "formats/sorted_rows.hpp"
#include "simt/scan.cuh"

// Rows sorted by length inside windows, for formats made of slices; sorted_rows.hpp does the same on the host.
namespace weft::WEFT_SIMT_NAMESPACE {

/// Sorts the rows of a window by length, longest first, keeping the order of equals: a block per window, one pass per
/// bit of the lengths, from the lowest. `from` and `to` change places after each pass; the result ends up in `order`.
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

/// A block would take too long to sort a larger window; the host does.
constexpr Index max_window_on_gpu = 32768;

/// What sorted_rows returns, on the device, as the row offsets are. The device is the current one.
inline DeviceBuffer<Index> sorted_rows_on_device(Device device, const Offset* offsets, Index rows, Index window) {
  if (window <= 1 || rows == 0) return {};
  if (window > max_window_on_gpu) {
    Array<Offset> on_host(static_cast<std::size_t>(rows) + 1);
    ::weft::detail::copy_to_host(device, on_host.data(), offsets, on_host.bytes(), {});
    return DeviceBuffer<Index>(device, sorted_rows(on_host, rows, window));
  }
  DeviceBuffer<Index> order(device, static_cast<std::size_t>(rows)), scratch(device, static_cast<std::size_t>(rows));
  simt::launch(WEFT_KERNEL(sort_windows<Offset>), simt::blocks_for(rows, window), simt::block_threads, 0, {}, offsets,
               rows, window, static_cast<const Index*>(nullptr), static_cast<const Index*>(nullptr), order.data(),
               scratch.data());
  synchronize(device);  // before scratch goes
  return order;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
