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

/// The same for kernels that many other things are compiled for, too: body gets 0 for blocks of more than 3, which then
/// are known at run time only.
template <class F>
inline void with_small_block_size(int block, F&& body) {
  if (block == 1)
    body(std::integral_constant<int, 1>());
  else if (block == 2)
    body(std::integral_constant<int, 2>());
  else if (block == 3)
    body(std::integral_constant<int, 3>());
  else
    body(std::integral_constant<int, 0>());
}

}  // namespace weft
