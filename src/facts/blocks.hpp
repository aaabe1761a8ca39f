#pragma once
#include <type_traits>

#include "sparse/source_state.hpp"

namespace weft {

/// The largest b that a matrix of b x b blocks can have: kernels are compiled for every size up to it.
inline constexpr int max_block = 6;

/// A matrix is taken to have b x b blocks when its entries fill at least this share of the blocks they touch.
constexpr double block_fill_wanted = 0.9;

/// The room in touched blocks that entries may leave empty.
inline double tolerated_waste(Offset nonzeros) { return static_cast<double>(nonzeros) * (1 / block_fill_wanted - 1); }

/// The share of the room in touched blocks that entries fill, or 0 when they leave more empty than is tolerated.
inline double block_fill_of(Offset nonzeros, Offset waste) {
  if (static_cast<double>(waste) > tolerated_waste(nonzeros)) return 0;
  return static_cast<double>(nonzeros) / static_cast<double>(nonzeros + waste);
}

/// The largest b in 2..max_block that divides rows and columns and for which `fill_of(std::integral_constant<int,
/// b>())` is enough; {1, 1} when there is none.
template <int b = max_block, class FillOf>
BlockFacts largest_blocks(Index rows, Index cols, FillOf&& fill_of) {
  if constexpr (b == 1) {
    return {};
  } else {
    if (rows % b == 0 && cols % b == 0) {
      const double fill = fill_of(std::integral_constant<int, b>());
      if (fill >= block_fill_wanted) return {b, fill};
    }
    return largest_blocks<b - 1>(rows, cols, fill_of);
  }
}

/// The block size of a matrix on the host, see Structure::block_size. `sampled`: a size is counted only where a sample
/// of the block rows is half full, which saves most of the time for a matrix without blocks.
BlockFacts find_blocks(Index rows, Index cols, const Offset* offsets, const Index* columns, bool sampled = false);

}  // namespace weft
