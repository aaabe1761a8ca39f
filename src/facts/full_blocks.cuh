#pragma once
#include "simt/simt.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::facts {

/// Whether the block x block blocks of a block row are all full, by a warp: what this lane has seen of it. Calls
/// body(number in the row, block column) for the full ones that it saw. `offsets` are those of the block row's rows.
template <class Body>
__device__ bool blocks_are_full(const Offset* offsets, const Index* columns, int block, Body&& body) {
  const Offset first = offsets[0], length = offsets[1] - first;
  bool full = length % block == 0;
  for (int r = 1; r <= block; ++r) full &= offsets[r] == first + r * length;
  for (Offset k = simt::lane_id(); full && k < length; k += 32) {
    const auto in_block = static_cast<Index>(k % block);
    const Index column = columns[first + k];
    full = column % block == in_block && column == columns[first + k - in_block] + in_block;
    for (int r = 1; r < block; ++r) full &= columns[first + r * length + k] == column;
    if (full && in_block == 0) body(k / block, column / block);
  }
  return full;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::facts
