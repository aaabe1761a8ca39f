#pragma once
#include <weft/buffer.hpp>

#include <cstddef>
#include <utility>

#include "core/gpu_runtime.hpp"

namespace weft {

/// Memory of the host that the device reads and writes in place. The emulator's memory is such anyhow.
class MappedMemory {
 public:
  MappedMemory() = default;
  MappedMemory(Device device, std::size_t bytes)
      : device_(device),
        memory_(device.kind() == Device::Kind::gpu ? gpu::allocate_mapped(device.index(), bytes)
                                                   : detail::device_allocate(device, bytes, 1)) {}
  MappedMemory(MappedMemory&& other) noexcept { *this = std::move(other); }
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~MappedMemory() {
    if (memory_ == nullptr) return;
    if (device_.kind() == Device::Kind::gpu)
      gpu::release_mapped(memory_);
    else
      detail::device_free(device_, memory_);
  }
  std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  Device device_;
  void* memory_ = nullptr;
};

}  // namespace weft
