#pragma once
#include <type_traits>

#include "facts/blocks.hpp"

namespace weft {

/// Calls body(std::integral_constant<int, block>()) for a block size of 1 to max_block: kernels are compiled for each.
template <int Block = 1, class F>
inline void with_block_size(int block, F&& body) {
  if constexpr (Block == max_block) {
    body(std::integral_constant<int, Block>());
  } else {
    if (block == Block)
      body(std::integral_constant<int, Block>());
    else
      with_block_size<Block + 1>(block, body);
  }
}

}  // namespace weft
