#pragma once
#include <weft/error.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace weft::simt {

constexpr std::size_t most_static_shared_bytes = 48 * 1024;
constexpr std::size_t most_shared_bytes = 227 * 1024;
constexpr std::int64_t most_blocks = std::numeric_limits<std::int32_t>::max();

/// Throws Error(internal) for a launch that no GPU would take. `Dimensions` is CUDA's dim3 or the emulator's.
template <class Dimensions>
void check_launch_limits(const char* kernel, const Dimensions& grid, const Dimensions& block,
                         std::size_t shared_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::internal, std::string("kernel ") + kernel + ": " + why);
  };
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads < 1 || block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024)
    refuse("a block of " + std::to_string(block.x) + " x " + std::to_string(block.y) + " x " + std::to_string(block.z) +
           " threads is not within 1024 x 1024 x 64, or not 1 to 1024 in all");
  if (grid.x > most_blocks || grid.y > 65535 || grid.z > 65535)
    refuse("a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " + std::to_string(grid.z) +
           " blocks is too large");
  if (shared_bytes > most_shared_bytes)
    refuse(std::to_string(shared_bytes) + " bytes of shared memory are more than the 227 KiB of a GPU");
}

/// The number of blocks that cover `items` with `per_block` each; throws Error(unsupported) past a grid's limit.
inline unsigned blocks_for(std::int64_t items, std::int64_t per_block) {
  const std::int64_t blocks = items <= 0 ? 0 : (items - 1) / per_block + 1;
  if (blocks > most_blocks)
    throw Error(ErrorCode::unsupported, std::to_string(blocks) + " blocks are more than a grid can have");
  return static_cast<unsigned>(blocks);
}

}  // namespace weft::simt
