#pragma once
#include <weft/device.hpp>

namespace weft::sell {

/// The numbers sell is tuned with on a GPU.
struct Tuning {
  /// A row gets several threads while there are fewer threads than this ...
  int enough_threads = 1 << 18;
  double entries_per_thread = 16;  ///< ... and each has as many entries left

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

}  // namespace weft::sell
