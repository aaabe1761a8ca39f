#pragma once
#include "formats/bce/layout.hpp"
#include "formats/gpu_product.cuh"
#include "simt/scan.cuh"

// Rows and pieces grouped by block: a stable counting sort by the digits of the block's number, 256 of them at a time.
// It takes one pass unless there are more blocks than that.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

using ::weft::bce::Layout;
using ::weft::bce::Piece;

/// Where the entries of a row or piece are, in csr.
struct RowEntries {
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Piece* pieces = nullptr;

  __device__ Piece of(Index number) const {
    if (number >= 0) return {offsets[number], offsets[number + 1]};
    return pieces[~number];
  }
};

/// One pass of the sort over `count` numbers. A warp has tile_numbers of them; starts[digit * tiles + tile] counts
/// those of a tile with this digit and, summed up, is where the first of them goes.
struct GroupPass {
  RowEntries entries;
  Offset longest_row = 0;  // longer ones are rows that were cut
  const Offset* widths = nullptr;
  Index blocks = 0;
  const Index* from = nullptr;  // null: all rows and then all pieces
  Index* to = nullptr;
  Offset count = 0;
  Offset* starts = nullptr;
  Offset tiles = 0;
  int shift = 0;

  __device__ Index number(Offset i) const {
    if (from) return from[i];
    return i < entries.rows ? static_cast<Index>(i) : ~static_cast<Index>(i - entries.rows);
  }
  __device__ Index key(Index number) const {
    const Piece range = entries.of(number);
    const Offset length = range.end - range.begin;
    return length > longest_row ? blocks + 1 : ::weft::bce::key_of(length, widths, blocks);
  }
};

constexpr int digits = 256;
constexpr int tile_numbers = 1024;
constexpr int group_warps = simt::block_threads / 32;

/// Scatter false: counts the digits of each tile. True: moves the numbers to their places.
template <bool Scatter>
__global__ void __launch_bounds__(simt::block_threads) bce_group(GroupPass pass, int radix) {
  WEFT_SHARED(Offset, counters, group_warps * digits);
  const Offset tile = static_cast<Offset>(blockIdx.x) * group_warps + simt::warp_id();
  if (tile >= pass.tiles) return;  // for the whole warp
  const int own = simt::warp_id() * digits, lane = simt::lane_id();
  for (int digit = lane; digit < radix; digit += 32)
    counters[own + digit] = Scatter ? pass.starts[digit * pass.tiles + tile] : 0;
  simt::sync_warp();

  const Offset begin = tile * tile_numbers;
  const Offset end = begin + tile_numbers < pass.count ? begin + tile_numbers : pass.count;
  for (Offset at = begin; at < end; at += 32) {
    const bool live = at + lane < end;
    const Index number = live ? pass.number(at + lane) : 0;
    const int digit = live ? (pass.key(number) >> pass.shift) & (digits - 1) : -1;
    const auto same = static_cast<std::uint32_t>(simt::match_any(simt::full_mask, digit));
    const int before = simt::popcount(same & ((std::uint32_t(1) << lane) - 1));
    Offset place = 0;
    if (live) place = counters[own + digit];
    simt::sync_warp();
    if (live && before == 0) counters[own + digit] = place + simt::popcount(same);
    simt::sync_warp();
    if (Scatter && live) pass.to[place + before] = number;
  }
  if constexpr (!Scatter)
    for (int digit = lane; digit < radix; digit += 32) pass.starts[digit * pass.tiles + tile] = counters[own + digit];
}

/// The row numbers of Storage.
inline DeviceBuffer<Index> group_rows(const Layout& layout, const RowEntries& entries, Offset longest_row,
                                      Device device) {
  const Offset count = layout.numbers(entries.rows);
  DeviceBuffer<Index> numbers(device, static_cast<std::size_t>(count));
  if (count == 0) return numbers;
  const DeviceBuffer<Offset> widths(device, layout.partition.widths);
  GroupPass pass{.entries = entries,
                 .longest_row = longest_row,
                 .widths = widths.data(),
                 .blocks = static_cast<Index>(layout.partition.widths.size()),
                 .count = count,
                 .tiles = (count + tile_numbers - 1) / tile_numbers};
  const int radix = layout.keys() < digits ? layout.keys() : digits;
  DeviceBuffer<Offset> starts(device, static_cast<std::size_t>(radix * pass.tiles) + 1);
  pass.starts = starts.data();
  DeviceBuffer<Index> before;
  constexpr int threads = simt::block_threads;
  const unsigned blocks = simt::blocks_for(pass.tiles, group_warps);
  for (; pass.shift == 0 || (layout.keys() - 1) >> pass.shift > 0; pass.shift += 8) {
    if (pass.shift > 0) {
      std::swap(before, numbers);
      if (numbers.size() == 0) numbers = DeviceBuffer<Index>(device, static_cast<std::size_t>(count));
      pass.from = before.data();
    }
    pass.to = numbers.data();
    simt::launch(WEFT_KERNEL(bce_group<false>), blocks, threads, 0, {}, pass, radix);
    simt::exclusive_scan(device, pass.starts, radix * pass.tiles);
    simt::launch(WEFT_KERNEL(bce_group<true>), blocks, threads, 0, {}, pass, radix);
  }
  synchronize(device);  // before the starts go
  return numbers;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
