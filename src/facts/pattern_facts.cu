// Facts about the pattern of a matrix on a device: lengths of rows, touched blocks, entries per column. All counts are
// integers, so that the order of the additions does not matter.
#include <algorithm>

#include "core/gpu_runtime.hpp"
#include "facts/device_facts.hpp"
#include "facts/entry_tiles.cuh"

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
