#pragma once
#include <weft/device.hpp>

#include <cstddef>
#include <vector>

namespace weft::bench {

/// What reading the same bytes again and again comes to: the ceiling of products whose matrix stays in a cache.
struct CacheBandwidth {
  std::size_t bytes = 0;  ///< read by all threads together, each its own part
  double bandwidth = 0;   ///< bytes per second
};

/// Measured with as many threads as products use, within some tenths of a second: of half of what the second-level
/// caches of these threads hold, and of four times as much as they hold, where the third level is large enough for
/// that. Ascending in bytes; empty for devices other than a CPU, where these caches are not known.
std::vector<CacheBandwidth> measure_cache_bandwidths(Device device);

}  // namespace weft::bench
