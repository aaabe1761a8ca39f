#pragma once
#include <cuda_runtime.h>

namespace weft::gpu {

/// Throws unless `status` is success: Error(out_of_memory), Error(no_device) when this build has no code for the GPU,
/// or Error(internal). The sentence starts with `what` and `name`. Part of a build with CUDA only.
void require(cudaError_t status, const char* what, const char* name = "");

}  // namespace weft::gpu
