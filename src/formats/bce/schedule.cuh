#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "formats/bce/set_up.cuh"

// In which order the sub-blocks are multiplied.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

/// All that a thread block has to know of its sub-block.
struct SubBlock {
  Offset first = 0;  ///< where its row numbers begin
  Offset position = 0;
  Index rows = 0;
  Index width = 0;
  Index threads = 1;
};

static __global__ void __launch_bounds__(block_threads)
    bce_first_numbers(Offset sub_blocks, const Offset* block_rows, const Index* row_numbers, Index* to) {
  const Offset s = simt::global_thread_id();
  if (s < sub_blocks) to[s] = row_numbers[block_rows[s]];
}

/// Sub-blocks whose rows several threads share come first, the widest ahead, for they take longest. The others follow
/// as their rows do in the matrix, whatever block they are of: what runs at the same time then wants the same part of
/// x.
template <class V>
DeviceBuffer<SubBlock> make_schedule(const DeviceStorage<V>& storage, Device device) {
  const Layout& layout = storage.layout;
  const auto count = static_cast<std::size_t>(layout.sub_blocks());
  DeviceBuffer<Index> first_numbers(device, count);
  simt::launch(WEFT_KERNEL(bce_first_numbers), simt::blocks_for(layout.sub_blocks(), block_threads), block_threads, 0,
               {}, layout.sub_blocks(), storage.block_rows.data(), storage.row_numbers.data(), first_numbers.data());
  const Array<Index> numbers = first_numbers.download(), widths = storage.widths.download();
  const Array<Offset> positions = storage.positions.download();

  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t(0));
  const auto place = [&](std::size_t s) {
    const bool shared = layout.threads[s] > 1;
    return std::pair(shared ? 0 : 1, shared ? -static_cast<Offset>(widths[s]) : static_cast<Offset>(numbers[s]));
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  Array<SubBlock> schedule(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t s = order[i];
    schedule[i] = {.first = layout.block_rows[s],
                   .position = positions[s],
                   .rows = static_cast<Index>(layout.block_rows[s + 1] - layout.block_rows[s]),
                   .width = widths[s],
                   .threads = layout.threads[s]};
  }
  return DeviceBuffer<SubBlock>(device, schedule);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
