#pragma once
#include "core/gpu_runtime.hpp"
#include "formats/operator.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

// What the kernels of all formats do with the vectors of a product.
namespace weft::WEFT_SIMT_NAMESPACE {

/// y = alpha sum + beta y for one element, not reading y when beta is 0.
template <class V>
__device__ void store_sum(const Product<V>& product, Index row, int vector, V sum) {
  V* y = product.y + static_cast<std::size_t>(vector) * product.y_stride + static_cast<std::size_t>(row);
  *y = product.beta == V(0) ? product.alpha * sum : product.alpha * sum + product.beta * *y;
}

template <class V>
__global__ void scale_kernel(Index rows, Product<V> product) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int j = 0; j < product.count; ++j) {
    V* y = product.y + static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row);
    *y = product.beta == V(0) ? V(0) : product.beta * *y;
  }
}

/// y = beta y.
template <class V>
void scale(Index rows, const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(scale_kernel<V>), simt::blocks_for(rows, threads), threads, 0, stream, rows, product);
}

/// Calls body(std::integral_constant<int, Room>) with the smallest Room of 1, 2, 4, 8 that holds `count` vectors:
/// kernels are compiled for these numbers of sums in registers.
template <class F>
void with_room_for(int count, F&& body) {
  if (count == 1) return body(std::integral_constant<int, 1>());
  if (count == 2) return body(std::integral_constant<int, 2>());
  if (count <= 4) return body(std::integral_constant<int, 4>());
  body(std::integral_constant<int, 8>());
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
