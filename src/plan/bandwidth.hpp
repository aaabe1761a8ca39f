#pragma once
#include <weft/array.hpp>
#include <weft/buffer.hpp>
#include <weft/device.hpp>

#include <cstdint>

namespace weft {

/// Bytes a second that this device's memory delivers to a plain parallel read of arrays far larger than its caches: the
/// ceiling products are compared with. Takes up to a few seconds. The emulator has none: 0.
double measure_bandwidth(Device device);

/// Empties the caches of a device of what a product left there, by reading something else: twice the size of the last
/// cache (the CPU's at most 512 MB), from two buffers in turn. Reading, since lines that were written would still be on
/// their way to memory while the next product runs.
class CacheSweep {
 public:
  explicit CacheSweep(Device device);
  void queue();  ///< on the default stream of a GPU; at once on a CPU

 private:
  Device device_;
  std::size_t words_ = 0;  // of 8 bytes, in each buffer
  bool second_ = false;
  Array<std::uint64_t> host_;
  DeviceBuffer<std::uint64_t> on_device_;
  std::uint64_t checksum_ = 0;
};

namespace on_cuda {
double measure_read_bandwidth(Device device);
/// Queues a read of `bytes` bytes, a multiple of 16.
void read_through(Device device, const void* from, std::size_t bytes);
}  // namespace on_cuda

}  // namespace weft
