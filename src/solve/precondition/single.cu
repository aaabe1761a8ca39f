// Vectors of f64 and of f32, for matrices that are stored in f32.
#include "solve/precondition/single.hpp"

#include "core/gpu_runtime.hpp"
#include "simt/simt.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::precondition {
namespace {

using simt::block_threads;

__global__ void __launch_bounds__(block_threads) round_elements(std::int64_t count, const double* from, float* to) {
  const std::int64_t i = simt::global_thread_id();
  if (i < count) to[i] = static_cast<float>(from[i]);
}

__global__ void __launch_bounds__(block_threads)
    add_elements(std::int64_t count, double alpha, const float* x, double beta, double* y) {
  const std::int64_t i = simt::global_thread_id();
  if (i >= count) return;
  const double scaled = alpha * static_cast<double>(x[i]);
  y[i] = beta == 0 ? scaled : scaled + beta * y[i];
}

}  // namespace

void round_to_single(Device device, std::int64_t count, const double* from, float* to, Stream stream) {
  const gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(round_elements), simt::blocks_for(count, block_threads), block_threads, 0, stream, count,
               from, to);
}

void add_single(Device device, std::int64_t count, double alpha, const float* x, double beta, double* y,
                Stream stream) {
  const gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(add_elements), simt::blocks_for(count, block_threads), block_threads, 0, stream, count,
               alpha, x, beta, y);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::precondition
