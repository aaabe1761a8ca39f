#pragma once
#include "formats/csr/csr.hpp"
#include "formats/gpu_product.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::csr {

using ::weft::csr::Carver;
using ::weft::csr::View;

/// What warps know of rows that others finish. Those of one row are neighbours.
template <class V>
struct Carries {
  Index* rows = nullptr;  // -1: none
  V* values = nullptr;    // vector j of carry c at [j * count + c]
  Offset count = 0;
  unsigned* done = nullptr;  // blocks that have left theirs; null: a kernel of its own adds them
};

/// y_j += alpha * (the carries of a row), for every row that has its first carry among the 32 from `begin` on: a warp.
/// The order of the additions depends on `carries.rows` only.
template <class Vectors, class V>
__device__ void add_carries_from(Offset begin, int j, const Carries<V>& carries, const Product<V>& product) {
  const int lane = simt::lane_id();
  const auto row_of = [&](Offset c) { return c < carries.count ? simt::load_fresh(carries.rows + c) : -1; };
  const Index row = row_of(begin + lane);
  Index row_before = simt::shuffle_up(simt::full_mask, row, 1), row_after = simt::shuffle_down(simt::full_mask, row, 1);
  if (lane == 0) row_before = begin == 0 ? -1 : row_of(begin - 1);
  if (lane == 31) row_after = row_of(begin + 32);
  // A run that an earlier warp has begun is that warp's to finish.
  const unsigned heads = simt::ballot(simt::full_mask, row != row_before);
  const bool own = row >= 0 && (heads & (simt::full_mask >> (31 - lane))) != 0;
  const bool goes_on = simt::shuffle(simt::full_mask, static_cast<int>(own && row == row_after), 31) != 0;
  const Index last_row = simt::shuffle(simt::full_mask, row, 31);

  const V* values = carries.values + j * carries.count;
  V sum = simt::warp_segmented_sum(row >= 0 ? simt::load_fresh(values + begin + lane) : V(0), heads);
  if (goes_on) {
    V rest = 0;
    bool more = true;
    for (Offset at = begin + 32; more; at += 128) {
      WEFT_UNROLL
      for (int u = 0; u < 4; ++u) {
        const Offset c = at + u * 32 + lane;
        const bool same = row_of(c) == last_row;
        if (same) rest += simt::load_fresh(values + c);
        more = more && simt::all(simt::full_mask, same);
      }
    }
    rest = simt::warp_reduce_sum(rest);
    if (lane == 31) sum += rest;
  }
  if (own && (lane == 31 || row != row_after)) {
    V* const y = y_at<Vectors>(product, row, j);
    *y = simt::load_fresh(y) + product.alpha * sum;
  }
}

/// Neighbouring warps have the vectors of the same carries.
template <class V, class Vectors>
__global__ void __launch_bounds__(::weft::simt::block_threads) csr_add_carries(Carries<V> carries, Product<V> product) {
  simt::wait_for_earlier_kernels();
  const Offset warp = simt::global_thread_id() / 32, group = product.count == 1 ? warp : warp / product.count;
  const int j = static_cast<int>(warp - group * product.count);
  if (group * 32 < carries.count) add_carries_from<Vectors>(group * 32, j, carries, product);  // for the whole warp
}

/// The same for one vector, without a kernel of its own: called by all threads of all blocks when they are
/// done. The block that comes last adds the carries of all; which one that is does not matter to the sums.
template <class V>
__device__ void add_carries_last(const Carries<V>& carries, const Product<V>& product) {
  WEFT_SHARED(int, is_last, 1);
  __threadfence();
  simt::sync_block();
  if (threadIdx.x == 0) is_last[0] = simt::atomic_add(*carries.done, 1u) == gridDim.x - 1;
  simt::sync_block();
  if (!is_last[0]) return;
  __threadfence();
  for (Offset begin = simt::warp_id() * 32; begin < carries.count; begin += blockDim.x)
    add_carries_from<ColumnMajor>(begin, 0, carries, product);
  if (threadIdx.x == 0) *carries.done = 0;  // for the next product
}

template <class V>
void add_carries(const Carries<V>& carries, const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  const Offset warps = (carries.count + 31) / 32 * product.count;
  with_layout_of(product, [&](auto vectors) {
    simt::launch_early(WEFT_KERNEL(csr_add_carries<V, decltype(vectors)>), simt::blocks_for(warps * 32, threads),
                       threads, 0, stream, carries, product);
  });
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
