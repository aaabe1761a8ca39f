// Vectors in and out of the order of a reordered matrix, on a GPU. Both kernels write neighbours, since a write of one
// element costs as much memory traffic as one of a whole sector; what they read from all over, caches may hold. With
// row-major vectors neighbouring threads have neighbouring elements of a row.
#include "plan/reordered.hpp"

#include "core/value_types.hpp"
#include "formats/gpu_product.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::reordered {
namespace {

using ::weft::simt::block_threads;

/// Where the workspace has element i of vector j, in the layout of the product.
template <class Vectors>
__device__ __forceinline__ Offset place_of(Index i, int j, Index count, int vectors) {
  if constexpr (Vectors::reach == Reach::columns) return static_cast<Offset>(j) * count + i;
  return static_cast<Offset>(i) * vectors + j;
}

template <class V, class Vectors>
__global__ void __launch_bounds__(block_threads)
    gather_kernel(const Index* order, Index count, Product<V> product, V* to) {
  const XRows<V, Vectors> x(product);
  for_each_element<Vectors>(
      count, product.count, [&](Index i) { return simt::load_streaming(order + i); },
      [&](Index i, Index from, int j) { to[place_of<Vectors>(i, j, count, product.count)] = x.at(from, j); });
}

template <class V, class Vectors>
__global__ void __launch_bounds__(block_threads)
    spread_kernel(const Index* places, Index count, const V* sums, Product<V> product) {
  for_each_element<Vectors>(
      count, product.count, [&](Index i) { return simt::load_streaming(places + i); },
      [&](Index i, Index from, int j) {
        store_sum<Vectors>(product, i, j, simt::load_readonly(sums + place_of<Vectors>(from, j, count, product.count)));
      });
}

template <Value V>
void gather(const Index* order, Index count, const Product<V>& product, V* to, Stream stream) {
  with_layout_of(product, [&](auto vectors) {
    simt::launch(WEFT_KERNEL(gather_kernel<V, decltype(vectors)>), simt::blocks_for(count, block_threads),
                 block_threads, 0, stream, order, count, product, to);
  });
}

template <Value V>
void spread(const Index* places, Index count, const V* sums, const Product<V>& product, Stream stream) {
  with_layout_of(product, [&](auto vectors) {
    simt::launch(WEFT_KERNEL(spread_kernel<V, decltype(vectors)>), simt::blocks_for(count, block_threads),
                 block_threads, 0, stream, places, count, sums, product);
  });
}

}  // namespace

template <Value V>
::weft::VectorMoves<V> vector_moves() {
  return {&gather<V>, &spread<V>};
}

#define WEFT_INSTANTIATE(V) template ::weft::VectorMoves<V> vector_moves<V>();
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::reordered
