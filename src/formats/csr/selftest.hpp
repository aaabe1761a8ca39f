#pragma once
#include <string>
#include <vector>

// Launches those kernels of csr alone that do not multiply, and compares with plain loops. Each returns the names of
// the checks that failed.
namespace weft::on_emulator {
std::vector<std::string> csr_selftest();
}
namespace weft::on_cuda {
std::vector<std::string> csr_selftest();  ///< only in builds with CUDA; throws Error when the GPU fails
}
