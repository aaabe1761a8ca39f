#pragma once
#include <weft/device.hpp>

#include "core/value_types.hpp"

namespace weft::sell {

/// Whether long rows of equally wide slices get fewer threads at once, as those of other slices do (column_groups.hpp).
inline constexpr PerWidth<bool> spread_long_equal_rows{.f32 = false, .f64 = true};

/// The numbers sell is tuned with on a GPU.
struct Tuning {
  /// A row gets several threads while there are fewer threads than this ...
  int enough_threads = 1 << 18;
  double entries_per_thread = 16;  ///< ... and each has as many entries left

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

}  // namespace weft::sell
