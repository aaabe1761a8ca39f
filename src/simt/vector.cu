// Operations on the vectors of a device. All are bound by memory: a thread has several loads in flight.
#include <weft/buffer.hpp>

#include <algorithm>

#include "core/gpu_runtime.hpp"
#include "core/value_types.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/vector_kernels.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::vectors {
namespace {

using ::weft::simt::block_threads;
constexpr int elements_per_thread = 4;
constexpr std::int64_t tile = static_cast<std::int64_t>(block_threads) * elements_per_thread;

/// to_i = element(i). Element i may be computed from to_i, but from no other element of `to`.
template <class V, class Element>
__global__ void __launch_bounds__(block_threads) assign(std::int64_t count, Element element, V* to) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x;
  V values[elements_per_thread];
  WEFT_UNROLL
  for (int k = 0; k < elements_per_thread; ++k)
    if (const std::int64_t i = first + k * block_threads; i < count) values[k] = element(i);
  WEFT_UNROLL
  for (int k = 0; k < elements_per_thread; ++k)
    if (const std::int64_t i = first + k * block_threads; i < count) to[i] = values[k];
}

template <class V, class Element>
void launch_assign(Device device, std::int64_t count, Element element, V* to, Stream stream) {
  const gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(assign<V, Element>), simt::blocks_for(count, tile), block_threads, 0, stream, count, element,
               to);
}

template <class V>
struct Constant {
  V value;
  __device__ V operator()(std::int64_t) const { return value; }
};
template <class V>
struct Axpy {
  V alpha;
  const V* x;
  const V* y;
  __device__ V operator()(std::int64_t i) const { return alpha * x[i] + y[i]; }
};
template <class V>
struct Xpby {
  const V* x;
  V beta;
  const V* y;
  __device__ V operator()(std::int64_t i) const { return x[i] + beta * y[i]; }
};
template <class V>
struct Scaled {
  V alpha;
  const V* x;
  __device__ V operator()(std::int64_t i) const { return alpha * x[i]; }
};

/// parts[block] = the sum over the tiles block, block + gridDim.x, ...
template <class V>
__global__ void __launch_bounds__(block_threads)
    dot_parts(std::int64_t count, const V* __restrict__ x, const V* __restrict__ y, double* parts) {
  double sum = 0;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x; first < count;
       first += static_cast<std::int64_t>(gridDim.x) * tile) {
    WEFT_UNROLL
    for (int k = 0; k < elements_per_thread; ++k)
      if (const std::int64_t i = first + k * block_threads; i < count)
        sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  }
  sum = simt::block_reduce_sum(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

/// One block. A template, so that it may be defined in the object of each value type.
template <class V>
__global__ void __launch_bounds__(block_threads) add_parts(int count, const double* parts, double* result) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) sum += parts[i];
  sum = simt::block_reduce_sum(sum);
  if (threadIdx.x == 0) *result = sum;
}

}  // namespace

template <Value V>
void fill(Device device, std::int64_t count, V value, V* x, Stream stream) {
  launch_assign(device, count, Constant<V>{value}, x, stream);
}

template <Value V>
void axpy(Device device, std::int64_t count, V alpha, const V* x, V* y, Stream stream) {
  launch_assign(device, count, Axpy<V>{alpha, x, y}, y, stream);
}

template <Value V>
void xpby(Device device, std::int64_t count, const V* x, V beta, V* y, Stream stream) {
  launch_assign(device, count, Xpby<V>{x, beta, y}, y, stream);
}

template <Value V>
void scale(Device device, std::int64_t count, V alpha, V* x, Stream stream) {
  launch_assign(device, count, Scaled<V>{alpha, x}, x, stream);
}

template <Value V>
double dot(Device device, std::int64_t count, const V* x, const V* y, double* scratch, Stream stream) {
  // The number of parts, and with it the order of the additions, depends on the count only.
  const std::int64_t parts = std::min(max_dot_parts, (count + tile - 1) / tile);
  const gpu::CurrentDevice current(device);
  double* const result = scratch + max_dot_parts;
  simt::launch(WEFT_KERNEL(dot_parts<V>), simt::blocks_for(parts, 1), block_threads, 0, stream, count, x, y, scratch);
  simt::launch(WEFT_KERNEL(add_parts<V>), 1, block_threads, 0, stream, static_cast<int>(parts), scratch, result);
  double sum = 0;
  ::weft::detail::copy_to_host(device, &sum, result, sizeof sum, stream);
  return sum;
}

#define WEFT_INSTANTIATE(V)                                             \
  template void fill<V>(Device, std::int64_t, V, V*, Stream);           \
  template void axpy<V>(Device, std::int64_t, V, const V*, V*, Stream); \
  template void xpby<V>(Device, std::int64_t, const V*, V, V*, Stream); \
  template void scale<V>(Device, std::int64_t, V, V*, Stream);          \
  template double dot<V>(Device, std::int64_t, const V*, const V*, double*, Stream);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::vectors
