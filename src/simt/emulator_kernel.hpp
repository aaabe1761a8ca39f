#pragma once
#include <cstddef>
#include <cstdint>
#include <source_location>

/// What emulated kernels call: the thin layer between the CUDA names of emulator.hpp and the engine.
namespace weft::simt::emulator {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/// Where the running thread is, by CUDA's names. Set by the engine whenever a thread goes on; kernels only read them.
inline constinit thread_local Dim3 threadIdx{0, 0, 0};
inline constinit thread_local Dim3 blockIdx{0, 0, 0};
inline constinit thread_local Dim3 blockDim{};
inline constinit thread_local Dim3 gridDim{};

/// A kernel with everything it needs to run. `call(bound)` runs one thread of it.
struct Launch {
  const char* name;
  Dim3 grid;
  Dim3 block;
  std::size_t shared_bytes;
  void (*call)(const void* bound);
  const void* bound;
};

/// Runs all blocks; throws Error(internal, "kernel NAME: ...") on the first fault.
void run(const Launch& launch);

enum class WarpOperation : std::uint8_t {
  sync,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any
};

/// Waits for the lanes of `mask`, exchanges values and gives this lane its result.
std::uint64_t warp_operation(WarpOperation operation, std::uint32_t mask, std::uint64_t value = 0,
                             unsigned source_lane = 0);
void block_barrier(std::source_location site);

/// The lane that a shuffle reads from; the own lane where CUDA says the value stays. Faults on a width that is not a
/// power of two up to 32.
unsigned shuffle_source(WarpOperation operation, int argument, int width);

/// Faults unless the address is a multiple of `bytes`, as vector accesses need.
void require_alignment(const void* address, std::size_t bytes);

}  // namespace weft::simt::emulator
