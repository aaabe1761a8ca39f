#pragma once
#include <weft/device.hpp>

namespace weft {

/// Bytes a second that this device's memory delivers to a plain parallel read of arrays far larger than its caches: the
/// ceiling products are compared with. Takes up to a few seconds. The emulator has none: 0.
double measure_bandwidth(Device device);

namespace on_cuda {
double measure_read_bandwidth(Device device);
}

}  // namespace weft
