#include <algorithm>
#include <bit>
#include <cstdio>

#include "simt/emulator_engine.hpp"

// The words of the emulator's reports.
namespace weft::simt::emulator {
namespace {

const char* name_of(WarpOperation operation) {
  switch (operation) {
    case WarpOperation::sync:
      return "sync_warp";
    case WarpOperation::shuffle:
      return "shuffle";
    case WarpOperation::shuffle_up:
      return "shuffle_up";
    case WarpOperation::shuffle_down:
      return "shuffle_down";
    case WarpOperation::shuffle_xor:
      return "shuffle_xor";
    case WarpOperation::ballot:
      return "ballot";
    case WarpOperation::any:
      return "any";
    case WarpOperation::all:
      return "all";
    case WarpOperation::match_any:
      return "match_any";
  }
  return "a warp operation";
}

std::string hexadecimal(std::uint32_t bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", bits);
  return text;
}

std::string coordinates(Dim3 index, Dim3 size) {
  if (size.y == 1 && size.z == 1) return std::to_string(index.x);
  return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " + std::to_string(index.z) + ")";
}

}  // namespace

std::string Engine::place_of(unsigned thread) const {
  const Dim3 block = launch_->block;
  const Dim3 index{thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)};
  return "block " + coordinates(blockIdx, launch_->grid) + " thread " + coordinates(index, block);
}

std::string Engine::describe_stall() const {
  std::string text = "block " + coordinates(blockIdx, launch_->grid) + ": ";
  text += barrier_count_ > 0 ? "divergent barrier: not all threads of the block arrive at the same one"
                             : "deadlock: a warp operation waits for lanes that do not arrive";
  // The first warps tell the story; a thousand lanes would bury it.
  constexpr unsigned told = 4;
  for (unsigned w = 0; w < std::min<std::size_t>(warps_.size(), told); ++w) text += "; " + describe_warp(w);
  if (warps_.size() > told) text += "; and " + std::to_string(warps_.size() - told) + " more warps";
  return text;
}

std::string Engine::describe_warp(unsigned warp_number) const {
  std::string text = "warp " + std::to_string(warp_number) + ": ";
  const unsigned lanes = static_cast<unsigned>(std::popcount(warps_[warp_number].existing));
  for (unsigned begin = 0; begin < lanes;) {
    const std::string state = describe_lane(warp_number, begin);
    unsigned end = begin + 1;
    while (end < lanes && describe_lane(warp_number, end) == state) ++end;
    if (begin > 0) text += ", ";
    text += end - begin == 1 ? "lane " + std::to_string(begin)
                             : "lanes " + std::to_string(begin) + "-" + std::to_string(end - 1);
    text += " " + state;
    begin = end;
  }
  return text;
}

std::string Engine::describe_lane(unsigned warp_number, unsigned lane) const {
  const Warp& warp = warps_[warp_number];
  const Lane& state = lanes_[warp_number * lanes_per_warp + lane];
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (warp.exited & bit) return "exited";
  if (warp.at_barrier & bit) {
    std::string file = state.site.file_name();
    file.erase(0, file.find_last_of('/') + 1);
    return "at sync_block (" + file + ":" + std::to_string(state.site.line()) + ")";
  }
  if (warp.at_operation & bit)
    return "at " + std::string(name_of(state.operation)) + " with mask " + hexadecimal(state.mask);
  return "ready";
}

}  // namespace weft::simt::emulator
