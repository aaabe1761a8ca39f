#pragma once
#include <weft/device.hpp>

#include "core/value_types.hpp"

namespace weft::bro_coo {

/// The numbers bro-coo is tuned with on a GPU.
struct Tuning {
  /// A lane follows 32 entries, whose deltas of one bit fill a symbol. Where that makes fewer threads than this ...
  Offset enough_threads = 1 << 17;
  int min_steps = 8;  ///< ... it follows fewer, down to so many

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

/// Blocks of a multiprocessor that one vector's kernel must leave room for.
inline constexpr PerWidth<int> resident_blocks{.f32 = 5, .f64 = 4};

}  // namespace weft::bro_coo
