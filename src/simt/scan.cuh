#pragma once
#include <weft/buffer.hpp>

#include "core/gpu_runtime.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

// Running sums over an array of any length, for setting up formats.
namespace weft::WEFT_SIMT_NAMESPACE::simt {

/// The sum of the values of all threads of the block before this one; `total` receives that of all. Blocks are of whole
/// warps. Contains barriers: all threads must call.
template <class T>
__device__ T block_exclusive_sum(T value, T& total) {
  WEFT_SHARED(T, warp_sums, 32);
  const int lane = lane_id();
  T sum = value;
  WEFT_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const T before = shuffle_up(full_mask, sum, static_cast<unsigned>(step));
    if (lane >= step) sum += before;
  }
  if (lane == 31) warp_sums[warp_id()] = sum;
  sync_block();
  T before_warp = 0;
  total = 0;
  const int warps = static_cast<int>(blockDim.x / 32);
  for (int warp = 0; warp < warps; ++warp) {
    if (warp == warp_id()) before_warp = total;
    total += warp_sums[warp];
  }
  sync_block();  // the next call may overwrite what others still read
  return before_warp + sum - value;
}

namespace detail {

constexpr int scan_items = 8;  // a thread
constexpr std::int64_t scan_tile = static_cast<std::int64_t>(::weft::simt::block_threads) * scan_items;

template <class T>
__global__ void scan_totals(const T* values, std::int64_t count, T* totals) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * scan_tile + threadIdx.x * scan_items;
  T sum = 0;
  for (int i = 0; i < scan_items; ++i)
    if (i < count - first) sum += values[first + i];
  const T total = block_reduce_sum(sum);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

/// Replaces the values of each tile by their running sums, beginning with `starts` of the tile; the element behind the
/// last receives the sum of all.
template <class T>
__global__ void scan_tiles(T* values, std::int64_t count, const T* starts) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * scan_tile + threadIdx.x * scan_items;
  T items[scan_items] = {};
  T sum = 0;
  for (int i = 0; i < scan_items; ++i) {
    if (i < count - first) items[i] = values[first + i];
    sum += items[i];
  }
  T total = 0;
  T running = block_exclusive_sum(sum, total) + (starts ? starts[blockIdx.x] : T(0));
  for (int i = 0; i < scan_items; ++i) {
    if (i <= count - first) values[first + i] = running;
    running += items[i];
  }
}

}  // namespace detail

/// How many elements exclusive_scan needs as workspace.
inline std::int64_t scan_workspace(std::int64_t count) {
  std::int64_t all = 0;
  for (std::int64_t tiles = count / detail::scan_tile + 1; tiles > 1; tiles = tiles / detail::scan_tile + 1)
    all += tiles + 1;
  return all;
}

/// Replaces values[0..count) by their running sums, exclusive, and values[count] by the total. The device is the
/// current one.
template <class T>
void exclusive_scan(T* values, std::int64_t count, T* workspace, Stream stream = {}) {
  using namespace detail;
  // One element more is written than is read, so the tiles cover count + 1.
  const std::int64_t tiles = count / scan_tile + 1;
  constexpr int threads = ::weft::simt::block_threads;
  const unsigned blocks = ::weft::WEFT_SIMT_NAMESPACE::simt::blocks_for(tiles, 1);
  if (tiles == 1) {
    launch(WEFT_KERNEL(scan_tiles<T>), blocks, threads, 0, stream, values, count, static_cast<const T*>(nullptr));
    return;
  }
  launch(WEFT_KERNEL(scan_totals<T>), blocks, threads, 0, stream, static_cast<const T*>(values), count, workspace);
  exclusive_scan(workspace, tiles, workspace + tiles + 1, stream);
  launch(WEFT_KERNEL(scan_tiles<T>), blocks, threads, 0, stream, values, count, static_cast<const T*>(workspace));
}

/// The same with a workspace of its own: waits. Not for `apply`.
template <class T>
void exclusive_scan(Device device, T* values, std::int64_t count, Stream stream = {}) {
  DeviceBuffer<T> workspace(device, static_cast<std::size_t>(scan_workspace(count)));
  exclusive_scan(values, count, workspace.data(), stream);
  synchronize(device, stream);  // before the workspace goes
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::simt
