// Vectors in and out of the order of a reordered matrix, on a GPU. Both kernels write neighbours, since a write of one
// element costs as much memory traffic as one of a whole sector; what they read from all over, caches may hold.
#include "plan/reordered.hpp"

#include "core/value_types.hpp"
#include "formats/gpu_product.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::reordered {
namespace {

using ::weft::simt::block_threads;

template <class V>
__global__ void __launch_bounds__(block_threads)
    gather_kernel(const Index* order, Index count, Product<V> product, V* to) {
  const std::int64_t i = simt::global_thread_id();
  if (i >= count) return;
  const auto from = static_cast<std::size_t>(simt::load_streaming(order + i));
  for (int j = 0; j < product.count; ++j)
    to[static_cast<std::size_t>(j) * static_cast<std::size_t>(count) + static_cast<std::size_t>(i)] =
        simt::load_readonly(product.x + static_cast<std::size_t>(j) * product.x_stride + from);
}

template <class V>
__global__ void __launch_bounds__(block_threads)
    spread_kernel(const Index* places, Index count, const V* sums, Product<V> product) {
  const std::int64_t i = simt::global_thread_id();
  if (i >= count) return;
  const auto from = static_cast<std::size_t>(simt::load_streaming(places + i));
  for (int j = 0; j < product.count; ++j)
    store_sum(product, static_cast<Index>(i), j,
              simt::load_readonly(sums + static_cast<std::size_t>(j) * static_cast<std::size_t>(count) + from));
}

template <Value V>
void gather(const Index* order, Index count, const Product<V>& product, V* to, Stream stream) {
  simt::launch(WEFT_KERNEL(gather_kernel<V>), simt::blocks_for(count, block_threads), block_threads, 0, stream, order,
               count, product, to);
}

template <Value V>
void spread(const Index* places, Index count, const V* sums, const Product<V>& product, Stream stream) {
  simt::launch(WEFT_KERNEL(spread_kernel<V>), simt::blocks_for(count, block_threads), block_threads, 0, stream, places,
               count, sums, product);
}

}  // namespace

template <Value V>
::weft::VectorMoves<V> vector_moves() {
  return {&gather<V>, &spread<V>};
}

#define WEFT_INSTANTIATE(V) template ::weft::VectorMoves<V> vector_moves<V>();
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::reordered
