#pragma once
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"
#include "sparse/source_kernels.hpp"

// Passes over the entries of a matrix with their rows. Work is cut by entries, not by rows, so that one enormous row is
// shared by many blocks.
namespace weft::WEFT_SIMT_NAMESPACE::facts {

using ::weft::simt::block_threads;

constexpr Offset entries_per_tile = static_cast<Offset>(block_threads) * 8;

/// Blocks of block_threads threads, each of which calls for_entries_of_tile.
inline unsigned tiles_of(const DevicePattern& pattern) { return simt::blocks_for(pattern.entries, entries_per_tile); }

/// The row among first..last that holds an entry: the last one that begins at or before it.
__device__ inline Index row_of(const Offset* offsets, Index first, Index last, Offset entry) {
  while (first < last) {
    const Index middle = last - (last - first) / 2;
    if (offsets[middle] <= entry)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

/// The position of the first of the ascending columns begin..end that is at least `column`; `end` if there is none.
__device__ inline Offset lower_bound(const Index* columns, Offset begin, Offset end, Index column) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (columns[middle] < column)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Gives all threads of the block what its first thread has. Contains barriers: all threads must call.
template <class T>
__device__ T first_of_block(T value) {
  WEFT_SHARED(T, first, 1);
  if (threadIdx.x == 0) first[0] = value;
  simt::sync_block();
  const T result = first[0];
  simt::sync_block();  // the next call may overwrite what others still read
  return result;
}

/// Calls body(row, entry) for each entry of the block's tile, in its threads. Contains a barrier: all threads must
/// call.
template <class Body>
__device__ void for_entries_of_tile(const DevicePattern& pattern, Body&& body) {
  WEFT_SHARED(Index, ends, 2);
  const Offset begin = static_cast<Offset>(blockIdx.x) * entries_per_tile;
  const Offset end = begin + entries_per_tile < pattern.entries ? begin + entries_per_tile : pattern.entries;
  if (threadIdx.x < 2)
    ends[threadIdx.x] = row_of(pattern.offsets64, 0, pattern.rows - 1, threadIdx.x == 0 ? begin : end - 1);
  simt::sync_block();
  const Index first = ends[0], last = ends[1];
  for (Offset entry = begin + threadIdx.x; entry < end; entry += block_threads)
    body(row_of(pattern.offsets64, first, last, entry), entry);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::facts
