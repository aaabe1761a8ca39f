#pragma once
#include <cstddef>

namespace weft::simt {

/// What went between the host and all devices, and what is allocated there, since the process began. Tests use it to
/// see that a matrix is not moved needlessly.
struct MemoryUse {
  std::size_t uploaded = 0;    ///< bytes
  std::size_t downloaded = 0;  ///< bytes
  std::size_t allocated = 0;   ///< bytes now
  std::size_t peak = 0;        ///< bytes at most since the last reset_peak
};

MemoryUse memory_use();
void reset_peak();  ///< the peak becomes what is allocated now

}  // namespace weft::simt
