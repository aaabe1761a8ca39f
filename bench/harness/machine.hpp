#pragma once
#include <weft/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::bench {

/// What a number must be read together with: where it was measured and by which build.
struct Machine {
  std::string version;     ///< Weft's
  std::string commit;      ///< of the source it was built from, "-dirty" behind it when that was changed; or "unknown"
  std::string compiler;    ///< "GNU 12.2.0"
  std::string build_type;  ///< "Release"
  std::string cpu;
  int cores = 0;
  std::int64_t memory_bytes = 0;
  int threads = 0;
  std::string isa;
  std::vector<DeviceInfo> gpus;
  std::string driver;      ///< of the GPU; empty when there is none
  std::string why_no_gpu;  ///< empty when there is a GPU
};

Machine this_machine();

}  // namespace weft::bench
