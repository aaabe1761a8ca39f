// Facts about the pattern of a matrix on a device: lengths of rows, touched blocks, entries per column. All counts are
// integers, so that the order of the additions does not matter.
#include <algorithm>

#include "core/gpu_runtime.hpp"
#include "facts/device_facts.hpp"
#include "facts/entry_tiles.cuh"
#include "facts/full_blocks.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::facts {
namespace {

constexpr int short_lengths = static_cast<int>(LengthTally::short_lengths);
constexpr unsigned max_tallying_blocks = 1024;  // each adds its whole histogram

/// counts[n] is the number of rows with n entries, counts[short_lengths] that of all longer ones.
__global__ void __launch_bounds__(block_threads) tally_rows(const Offset* offsets, Index rows, Index* counts) {
  WEFT_SHARED(Index, tally, short_lengths + 1);
  for (int i = static_cast<int>(threadIdx.x); i <= short_lengths; i += block_threads) tally[i] = 0;
  simt::sync_block();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * block_threads;
  for (std::int64_t row = simt::global_thread_id(); row < rows; row += step) {
    const Offset length = offsets[row + 1] - offsets[row];
    simt::atomic_add(tally[length < short_lengths ? static_cast<int>(length) : short_lengths], 1);
  }
  simt::sync_block();
  for (int i = static_cast<int>(threadIdx.x); i <= short_lengths; i += block_threads)
    if (const Index found = tally[i]; found > 0) simt::atomic_add(counts[i], found);
}

/// Lists the lengths of the rows that are not short, in any order.
__global__ void __launch_bounds__(block_threads)
    list_long_rows(const Offset* offsets, Index rows, Index* listed, Offset* lengths) {
  const std::int64_t row = simt::global_thread_id();
  if (row >= rows) return;
  const Offset length = offsets[row + 1] - offsets[row];
  if (length >= short_lengths) lengths[simt::atomic_add(*listed, 1)] = length;
}

/// Whether this entry is the first, in the order of rows and columns, of its block x block block.
__device__ bool opens_block(const DevicePattern& pattern, int block, Index row, Offset entry) {
  const Offset* offsets = pattern.offsets64;
  const Index* columns = pattern.columns;
  const Index left = columns[entry] / block * block;
  if (entry > offsets[row] && columns[entry - 1] >= left) return false;
  for (Index above = row / block * block; above < row; ++above) {
    const Offset end = offsets[above + 1];
    const Offset place = lower_bound(columns, offsets[above], end, left);
    if (place < end && columns[place] < left + block) return false;
  }
  return true;
}

__global__ void __launch_bounds__(block_threads)
    count_opened_blocks(DevicePattern pattern, int block, Offset limit, Offset* opened) {
  // A matrix without such blocks opens so many that most tiles need not be looked at.
  if (first_of_block(threadIdx.x == 0 ? simt::atomic_add(*opened, 0) : 0) > limit) return;
  int found = 0;
  for_entries_of_tile(pattern,
                      [&](Index row, Offset entry) { found += opens_block(pattern, block, row, entry) ? 1 : 0; });
  found = simt::block_reduce_sum(found);
  if (threadIdx.x == 0 && found > 0) simt::atomic_add(*opened, static_cast<Offset>(found));
}

/// What some block rows show: their entries, and the blocks that these touch.
struct BlockSample {
  Offset entries = 0, blocks = 0;
  Index broken = 0;  ///< some block is not full
};
constexpr Index sampled_block_rows = 2048;
constexpr Offset max_sampled_entries = 4096;  // of a block row
constexpr double far_too_empty = 0.75;        // of blocks that are sampled; those wanted are fuller

/// A warp per block row, of every `step`-th.
__global__ void __launch_bounds__(block_threads)
    sample_blocks(DevicePattern pattern, int block, Index step, Index sampled, BlockSample* sample) {
  const Offset number = simt::global_thread_id() / 32;
  Offset entries = 0, blocks = 0;
  if (number < sampled) {
    const auto first = static_cast<Index>(number * step * block);
    const bool too_long = pattern.offsets64[first + block] - pattern.offsets64[first] > max_sampled_entries;
    for (Index row = first; row < first + block && !too_long; ++row)
      for (Offset entry = pattern.offsets64[row] + simt::lane_id(); entry < pattern.offsets64[row + 1]; entry += 32) {
        ++entries;
        blocks += opens_block(pattern, block, row, entry) ? 1 : 0;
      }
  }
  entries = simt::block_reduce_sum(entries);
  blocks = simt::block_reduce_sum(blocks);
  if (threadIdx.x != 0) return;
  simt::atomic_add(sample->entries, entries);
  simt::atomic_add(sample->blocks, blocks);
}

/// A warp per block row: whether its blocks are all full.
__global__ void __launch_bounds__(block_threads)
    look_for_broken_blocks(DevicePattern pattern, int block, Index block_rows, BlockSample* sample) {
  const Offset block_row = simt::global_thread_id() / 32;
  if (block_row >= block_rows) return;
  const bool full =
      blocks_are_full(pattern.offsets64 + block_row * block, pattern.columns, block, [](Offset, Index) {});
  if (!full) sample->broken = 1;
}

__global__ void __launch_bounds__(block_threads) clear(Index count, Index* numbers) {
  const std::int64_t i = simt::global_thread_id();
  if (i < count) numbers[i] = 0;
}

__global__ void __launch_bounds__(block_threads) count_columns(const Index* columns, Offset entries, Index* counts) {
  const std::int64_t entry = simt::global_thread_id();
  if (entry < entries) simt::atomic_add(counts[columns[entry]], 1);
}

}  // namespace

LengthTally tally_lengths(const DevicePattern& pattern) {
  const gpu::CurrentDevice current(pattern.device);
  const unsigned row_blocks = simt::blocks_for(pattern.rows, block_threads);
  const std::vector<Index> zeros(short_lengths + 1);
  DeviceBuffer<Index> counts(pattern.device, zeros);
  simt::launch(WEFT_KERNEL(tally_rows), std::min(row_blocks, max_tallying_blocks), block_threads, 0, {},
               pattern.offsets64, pattern.rows, counts.data());
  const Array<Index> found = counts.download();
  LengthTally tally;
  std::copy_n(found.data(), short_lengths, tally.rows_of_length.begin());

  const Index long_rows = found[short_lengths];
  if (long_rows == 0) return tally;
  DeviceBuffer<Index> listed(pattern.device, std::span(zeros).first(1));
  DeviceBuffer<Offset> lengths(pattern.device, static_cast<std::size_t>(long_rows));
  simt::launch(WEFT_KERNEL(list_long_rows), row_blocks, block_threads, 0, {}, pattern.offsets64, pattern.rows,
               listed.data(), lengths.data());
  for (const Offset length : lengths.download()) ++tally.rows_of_long_length[length];
  return tally;
}

Offset count_blocks(const DevicePattern& pattern, int block, Offset limit) {
  const gpu::CurrentDevice current(pattern.device);
  // Most matrices have no such blocks, or nothing but full ones: both are soon seen.
  const Index block_rows = pattern.rows / block;
  const Index step = std::max(1, block_rows / sampled_block_rows), sampled = (block_rows + step - 1) / step;
  const BlockSample start;
  DeviceBuffer<BlockSample> found(pattern.device, std::span<const BlockSample>(&start, 1));
  simt::launch(WEFT_KERNEL(sample_blocks), simt::blocks_for(Offset(sampled) * 32, block_threads), block_threads, 0, {},
               pattern, block, step, sampled, found.data());
  const BlockSample sample = found.download()[0];
  const double room = static_cast<double>(block * block) * static_cast<double>(sample.blocks);
  if (static_cast<double>(sample.entries) < far_too_empty * room) return limit + 1;
  if (sample.entries == sample.blocks * block * block) {
    simt::launch(WEFT_KERNEL(look_for_broken_blocks), simt::blocks_for(Offset(block_rows) * 32, block_threads),
                 block_threads, 0, {}, pattern, block, block_rows, found.data());
    if (found.download()[0].broken == 0) return pattern.entries / (block * block);
  }
  const Offset none = 0;
  DeviceBuffer<Offset> opened(pattern.device, std::span(&none, 1));
  simt::launch(WEFT_KERNEL(count_opened_blocks), tiles_of(pattern), block_threads, 0, {}, pattern, block, limit,
               opened.data());
  return opened.download()[0];
}

Array<Index> column_use(const DevicePattern& pattern) {
  const gpu::CurrentDevice current(pattern.device);
  DeviceBuffer<Index> counts(pattern.device, static_cast<std::size_t>(pattern.cols));
  simt::launch(WEFT_KERNEL(clear), simt::blocks_for(pattern.cols, block_threads), block_threads, 0, {}, pattern.cols,
               counts.data());
  simt::launch(WEFT_KERNEL(count_columns), simt::blocks_for(pattern.entries, block_threads), block_threads, 0, {},
               pattern.columns, pattern.entries, counts.data());
  return counts.download();
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::facts
