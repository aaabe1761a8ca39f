#pragma once
#include <string>
#include <vector>

// Runs every primitive of warp.cuh on the device and compares with what plain loops give. Each returns the names of the
// checks that failed: empty when the device, the compiler and the primitives agree.
namespace weft::on_emulator {
std::vector<std::string> simt_selftest();
}
namespace weft::on_cuda {
std::vector<std::string> simt_selftest();  ///< only in builds with CUDA; throws Error when the GPU fails
}
