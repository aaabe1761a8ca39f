#pragma once

namespace weft {

/// What decides how fast products can be on a device, as measured there: seconds and bytes. See plan/device_table.hpp.
struct DeviceTable {
  double launch = 0;            ///< a kernel (on a CPU: a parallel loop) that does nothing, one after the other
  double memory_bandwidth = 0;  ///< of plain reads
  double cache_bandwidth = 0;   ///< of plain reads of what the last-level cache holds
  double cache_bytes = 0;       ///< of that cache
  double sector = 0;            ///< one of very many random reads of 32 bytes from that cache, by all threads together
  double hit = 0;               ///< the same from first-level caches
  double latency = 0;           ///< a read of that cache that waits for the one before
};

}  // namespace weft
