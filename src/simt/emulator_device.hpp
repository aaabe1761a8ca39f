#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

/// The emulator seen from host code: its memory and its settings. Safe to include beside the CUDA headers.
namespace weft::simt::emulator {

/// The order in which the threads of a block, and the blocks of a grid, get to run. A correct kernel gives the same
/// answer in each of them.
struct LaneOrder {
  enum class Kind { forward, reverse, random };
  Kind kind = Kind::forward;
  std::uint64_t seed = 1;  ///< random only: a seed gives a block the same order in every launch
};

/// Applies to launches that start afterwards, in the whole process.
void set_lane_order(LaneOrder order);
LaneOrder lane_order();

/// Sets a lane order and puts the old one back at the end of the scope.
class LaneOrderScope {
 public:
  explicit LaneOrderScope(LaneOrder order) : before_(lane_order()) { set_lane_order(order); }
  ~LaneOrderScope() { set_lane_order(before_); }
  LaneOrderScope(const LaneOrderScope&) = delete;
  LaneOrderScope& operator=(const LaneOrderScope&) = delete;

 private:
  LaneOrder before_;
};

/// Device memory: 16-byte aligned, filled with 0xFF (NaN, or -1) and ending, up to alignment, at an unmapped page, so
/// that a kernel that runs past the end is stopped. Zero bytes are fine. Throws Error(out_of_memory).
void* allocate(std::size_t bytes);

/// Takes what allocate gave, or nullptr. Bytes written around the buffer since the last launch, so by the host, are
/// reported to the logger.
void deallocate(void* memory) noexcept;

/// Which buffer an address belongs to or is near to, as a clause: "8 bytes past the end of a buffer of 64 bytes".
std::string describe_address(const void* address);

/// Empty, or a clause naming the first buffer around which something was written since the last call.
std::string find_overrun();

}  // namespace weft::simt::emulator
