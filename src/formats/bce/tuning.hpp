#pragma once
#include <weft/device.hpp>

namespace weft::bce {

/// The numbers bce is tuned with on a GPU.
struct Tuning {
  int longest_row = 2048;  ///< longer rows are cut ...
  int piece = 1024;        ///< ... into pieces of so many entries
  /// A row gets so many threads that none has more than its share of the matrix; a share is at least and at most
  int min_entries_per_thread = 4, max_entries_per_thread = 512;

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

}  // namespace weft::bce
