#pragma once
#include "formats/csr/csr.hpp"
#include "formats/csr/tuning.hpp"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

// The kernels of csr that give whole rows to threads: `csr_vector` gives a row to 1 (scalar), 2, 4, ... or 32
// neighbouring threads; `csr_stream` lets a block read the entries of its rows in one sweep and sum them from shared
// memory, so that all threads load whatever the length of a row.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

using ::weft::csr::View;
using ::weft::simt::block_threads;

template <class V, class O, int Lanes, int Room>
__global__ void __launch_bounds__(block_threads) csr_vector(View<V, O> matrix, Product<V> product) {
  const Index rows = matrix.rows;
  const O* __restrict__ offsets = matrix.offsets;
  const Index* __restrict__ columns = matrix.columns;
  const V* __restrict__ values = matrix.values;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t row = thread / Lanes;
  const auto lane = static_cast<unsigned>(threadIdx.x) % Lanes;
  V sums[Room] = {};
  if (row < rows) {
    const O end = offsets[row + 1];
    O k = offsets[row] + lane;
    if constexpr (Room == 1) {
      // Four entries a thread are on their way before the first is needed.
      V second = 0;
      for (; k + 3 * Lanes < end; k += 4 * Lanes) {
        const Index c0 = simt::load_streaming(columns + k), c1 = simt::load_streaming(columns + k + Lanes);
        const Index c2 = simt::load_streaming(columns + k + 2 * Lanes),
                    c3 = simt::load_streaming(columns + k + 3 * Lanes);
        const V v0 = simt::load_streaming(values + k), v1 = simt::load_streaming(values + k + Lanes);
        const V v2 = simt::load_streaming(values + k + 2 * Lanes), v3 = simt::load_streaming(values + k + 3 * Lanes);
        sums[0] += v0 * simt::load_readonly(product.x + c0);
        second += v1 * simt::load_readonly(product.x + c1);
        sums[0] += v2 * simt::load_readonly(product.x + c2);
        second += v3 * simt::load_readonly(product.x + c3);
      }
      sums[0] += second;
    }
    for (; k < end; k += Lanes) {
      const V value = simt::load_streaming(values + k);
      const V* x = product.x + simt::load_streaming(columns + k);
      WEFT_UNROLL
      for (int j = 0; j < Room; ++j)
        if (j < product.count)
          sums[j] += value * simt::load_readonly(x + static_cast<std::size_t>(j) * product.x_stride);
    }
  }
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j) {
    const V sum = simt::warp_reduce_sum<Lanes>(sums[j]);
    if (row < rows && lane == 0 && j < product.count) store_sum(product, static_cast<Index>(row), j, sum);
  }
}

constexpr int entries_per_thread = ::weft::csr::stream_entries_per_thread;
constexpr int tile_entries = block_threads * entries_per_thread;

/// A block owns block_threads rows, a thread one of them. Tile by tile the block reads the entries of all its rows side
/// by side, and each thread then adds up those of its own row, in order.
template <class V, class O>
__global__ void __launch_bounds__(block_threads) csr_stream(View<V, O> matrix, Product<V> product) {
  const Index rows = matrix.rows;
  const O* __restrict__ offsets = matrix.offsets;
  const Index* __restrict__ columns = matrix.columns;
  const V* __restrict__ values = matrix.values;
  WEFT_SHARED(V, products, tile_entries);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;
  const std::int64_t row = first + threadIdx.x;
  const std::int64_t last = first + block_threads < rows ? first + block_threads : rows;
  const auto begin = static_cast<Offset>(offsets[first]), end = static_cast<Offset>(offsets[last]);
  const Offset row_begin = row < rows ? static_cast<Offset>(offsets[row]) : end;
  const Offset row_end = row < rows ? static_cast<Offset>(offsets[row + 1]) : end;
  V sum = 0;
  for (Offset tile = begin; tile < end; tile += tile_entries) {
    Index column[entries_per_thread];
    V value[entries_per_thread];
    WEFT_UNROLL
    for (int u = 0; u < entries_per_thread; ++u) {
      const Offset k = tile + u * block_threads + threadIdx.x;
      column[u] = k < end ? simt::load_streaming(columns + k) : 0;
      value[u] = k < end ? simt::load_streaming(values + k) : V(0);
    }
    WEFT_UNROLL
    for (int u = 0; u < entries_per_thread; ++u)
      if (tile + u * block_threads + threadIdx.x < end)
        products[u * block_threads + threadIdx.x] = value[u] * simt::load_readonly(product.x + column[u]);
    simt::sync_block();
    const Offset from = (row_begin > tile ? row_begin : tile) - tile;
    const Offset to = (row_end < tile + tile_entries ? row_end : tile + tile_entries) - tile;
    for (Offset k = from; k < to; ++k) sum += products[static_cast<int>(k)];
    simt::sync_block();
  }
  if (row < rows) store_sum(product, static_cast<Index>(row), 0, sum);
}

/// `lanes` threads a row, up to max_vectors column-major vectors at once.
template <int Lanes, class V, class O>
void vector_multiply(const View<V, O>& matrix, const Product<V>& product, Stream stream) {
  const auto launch = [&](auto room) {
    simt::launch(WEFT_KERNEL(csr_vector<V, O, Lanes, decltype(room)::value>),
                 simt::blocks_for(matrix.rows, block_threads / Lanes), block_threads, 0, stream, matrix, product);
  };
  if (product.count == 1) return launch(std::integral_constant<int, 1>());
  if (product.count == 2) return launch(std::integral_constant<int, 2>());
  if (product.count <= 4) return launch(std::integral_constant<int, 4>());
  launch(std::integral_constant<int, 8>());
}
template <class V, class O>
void vector_multiply(int lanes, const View<V, O>& matrix, const Product<V>& product, Stream stream) {
  switch (lanes) {
    case 1:
      return vector_multiply<1>(matrix, product, stream);
    case 2:
      return vector_multiply<2>(matrix, product, stream);
    case 4:
      return vector_multiply<4>(matrix, product, stream);
    case 8:
      return vector_multiply<8>(matrix, product, stream);
    case 16:
      return vector_multiply<16>(matrix, product, stream);
    default:
      return vector_multiply<32>(matrix, product, stream);
  }
}

/// For one vector.
template <class V, class O>
void stream_multiply(const View<V, O>& matrix, const Product<V>& product, Stream stream) {
  simt::launch(WEFT_KERNEL(csr_stream<V, O>), simt::blocks_for(matrix.rows, block_threads), block_threads, 0, stream,
               matrix, product);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
