#pragma once
#include "formats/csr/csr.hpp"
#include "simt/simt.hpp"
#include "simt/warp.cuh"

// What csr_merge and csr_speculate share: entries lie across the lanes of a warp, entry u * 32 + lane of a piece in
// element u of a lane's array, so that neighbours are loaded together, and x is where their columns are neighbours.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// The columns and values from entry `begin` on; 0 from `end` on.
template <class V, class O, int Items>
__device__ __forceinline__ void load_striped(const ::weft::csr::View<V, O>& matrix, Offset begin, Offset end,
                                             Index (&column)[Items], V (&value)[Items]) {
  WEFT_UNROLL
  for (int u = 0; u < Items; ++u) {
    const Offset k = begin + u * 32 + simt::lane_id();
    column[u] = k < end ? simt::load_streaming(matrix.columns + k) : 0;
    value[u] = k < end ? simt::load_streaming(matrix.values + k) : V(0);
  }
}

/// Bit `lane` of ends[u] marks the last element of a segment. Every element becomes the sum of its segment up to
/// itself. `carry`, the same in all lanes, is what earlier elements have of the first segment, and becomes what is
/// known of the one that goes on.
template <class V, int Items>
__device__ __forceinline__ void sum_segments(V (&sums)[Items], const unsigned (&ends)[Items], V& carry) {
  const int lane = simt::lane_id();
  // The scans do not depend on each other, so that the shuffles of one fill the waiting times of the others.
  WEFT_UNROLL
  for (int u = 0; u < Items; ++u) sums[u] = simt::warp_segmented_sum(sums[u], ends[u] << 1);
  WEFT_UNROLL
  for (int u = 0; u < Items; ++u) {
    if ((ends[u] & ((1u << lane) - 1)) == 0) sums[u] += carry;
    carry = simt::shuffle(simt::full_mask, sums[u], 31);
    if (ends[u] >> 31 != 0) carry = 0;
  }
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
