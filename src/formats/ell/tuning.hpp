#pragma once
#include <weft/device.hpp>

namespace weft::ell {

/// The numbers ell is tuned with on a GPU.
struct Tuning {
  /// A row gets several threads while there are fewer threads than this ...
  int enough_threads = 1 << 18;
  double entries_per_thread = 4;  ///< ... and each has as many entries left

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

inline constexpr int entries_at_once = 4;  // loads of a thread in flight before the first is needed

}  // namespace weft::ell
