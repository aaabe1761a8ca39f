#pragma once
#include <weft/buffer.hpp>
#include <weft/types.hpp>

#include <string>

#include "simt/on_device.hpp"
#include "sparse/device_array.hpp"

// What MatrixSource does on a device, see source.cu.
namespace weft {
struct DevicePattern {
  Device device;
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;
  const Offset* offsets64 = nullptr;  // one of the two
  const std::uint32_t* offsets32 = nullptr;
  const Index* columns = nullptr;
};
}  // namespace weft

WEFT_DECLARE_ON_DEVICES(source,
                        DeviceBuffer<Offset> widen(Device device, const std::uint32_t* offsets, std::size_t count);
                        DeviceBuffer<std::uint32_t> narrow(Device device, const Offset* offsets, std::size_t count);
                        /* Empty when the pattern is canonical, else what is wrong. */
                        std::string check(const DevicePattern& pattern);)
