#pragma once
#include <weft/types.hpp>

namespace weft {

struct Blocks {
  int size = 1;
  double fill = 1;
};

/// The largest b that a matrix of b x b blocks can have: kernels are compiled for every size up to it.
inline constexpr int max_block = 6;

/// A matrix is taken to have b x b blocks when its entries fill at least this share of the blocks they touch.
constexpr double block_fill_wanted = 0.9;

/// The largest b in 2..max_block that divides rows and columns and whose b x b blocks are filled so; {1, 1} when there is none.
Blocks find_blocks(Index rows, Index cols, const Offset* offsets, const Index* columns);

}  // namespace weft
