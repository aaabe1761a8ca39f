// Offsets of a matrix on a GPU in another width, and whether its arrays are canonical.
#include "core/gpu_runtime.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"
#include "sparse/source_kernels.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::source {
namespace {

using ::weft::simt::block_threads;

template <class To, class From>
__global__ void __launch_bounds__(block_threads) convert_offsets(const From* from, std::int64_t count, To* to) {
  const std::int64_t i = simt::global_thread_id();
  if (i < count) to[i] = static_cast<To>(from[i]);
}

template <class To, class From>
DeviceBuffer<To> convert(Device device, const From* from, std::size_t count) {
  const gpu::CurrentDevice current(device);
  DeviceBuffer<To> to(device, count);
  const auto size = static_cast<std::int64_t>(count);
  simt::launch(WEFT_KERNEL(convert_offsets<To, From>), simt::blocks_for(size, block_threads), block_threads, 0, {},
               from, size, to.data());
  synchronize(device);
  return to;
}

/// How often each rule is broken. A row boundary may be a descent; no other entry may.
struct Findings {
  unsigned long long bad_offsets = 0;
  unsigned long long columns_out_of_range = 0;
  unsigned long long descents = 0;
  unsigned long long descents_between_rows = 0;
};

template <class O>
__global__ void __launch_bounds__(block_threads)
    check_offsets(const O* offsets, Index rows, Offset entries, Findings* findings) {
  const std::int64_t row = simt::global_thread_id();
  if (row > rows) return;
  const auto here = static_cast<Offset>(offsets[row]);
  const bool wrong = here < 0 || here > entries || (row == 0 && here != 0) || (row == rows && here != entries) ||
                     (row < rows && static_cast<Offset>(offsets[row + 1]) < here);
  if (wrong) simt::atomic_add(findings->bad_offsets, 1ULL);
}

__device__ bool descends(const Index* columns, Offset entry) { return columns[entry - 1] >= columns[entry]; }

template <class O>
__global__ void __launch_bounds__(block_threads)
    check_row_starts(const O* offsets, Index rows, const Index* columns, Findings* findings) {
  const std::int64_t row = simt::global_thread_id();
  bool found = false;
  if (row < rows) {
    const auto begin = static_cast<Offset>(offsets[row]);
    found = begin > 0 && begin < static_cast<Offset>(offsets[row + 1]) && descends(columns, begin);
  }
  const int count = simt::block_reduce_sum(found ? 1 : 0);
  if (threadIdx.x == 0 && count > 0)
    simt::atomic_add(findings->descents_between_rows, static_cast<unsigned long long>(count));
}

template <class Unused>
__global__ void __launch_bounds__(block_threads)
    check_columns(const Index* columns, Offset entries, Index cols, Findings* findings) {
  const std::int64_t entry = simt::global_thread_id();
  bool outside = false, descent = false;
  if (entry < entries) {
    outside = columns[entry] < 0 || columns[entry] >= cols;
    descent = entry > 0 && descends(columns, entry);
  }
  const int all_outside = simt::block_reduce_sum(outside ? 1 : 0);
  const int all_descents = simt::block_reduce_sum(descent ? 1 : 0);
  if (threadIdx.x != 0) return;
  if (all_outside > 0) simt::atomic_add(findings->columns_out_of_range, static_cast<unsigned long long>(all_outside));
  if (all_descents > 0) simt::atomic_add(findings->descents, static_cast<unsigned long long>(all_descents));
}

template <class O>
std::string check_with(const DevicePattern& pattern, const O* offsets) {
  const gpu::CurrentDevice current(pattern.device);
  Findings found;
  DeviceBuffer<Findings> findings(pattern.device, std::span<const Findings>(&found, 1));
  simt::launch(WEFT_KERNEL(check_offsets<O>), simt::blocks_for(static_cast<Offset>(pattern.rows) + 1, block_threads),
               block_threads, 0, {}, offsets, pattern.rows, pattern.entries, findings.data());
  found = findings.download()[0];
  if (found.bad_offsets > 0)
    return std::to_string(found.bad_offsets) + " row offsets fall, or do not run from 0 to the number of values";
  simt::launch(WEFT_KERNEL(check_columns<Index>), simt::blocks_for(pattern.entries, block_threads), block_threads, 0,
               {}, pattern.columns, pattern.entries, pattern.cols, findings.data());
  simt::launch(WEFT_KERNEL(check_row_starts<O>), simt::blocks_for(pattern.rows, block_threads), block_threads, 0, {},
               offsets, pattern.rows, pattern.columns, findings.data());
  found = findings.download()[0];
  if (found.columns_out_of_range > 0)
    return std::to_string(found.columns_out_of_range) + " columns are not in 0.." + std::to_string(pattern.cols - 1);
  if (found.descents > found.descents_between_rows)
    return std::to_string(found.descents - found.descents_between_rows) +
           " columns do not ascend inside their row; sort the rows and sum duplicates first";
  return {};
}

}  // namespace

DeviceBuffer<Offset> widen(Device device, const std::uint32_t* offsets, std::size_t count) {
  return convert<Offset>(device, offsets, count);
}

DeviceBuffer<std::uint32_t> narrow(Device device, const Offset* offsets, std::size_t count) {
  return convert<std::uint32_t>(device, offsets, count);
}

std::string check(const DevicePattern& pattern) {
  return pattern.offsets32 ? check_with(pattern, pattern.offsets32) : check_with(pattern, pattern.offsets64);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::source
