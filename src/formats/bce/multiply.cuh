#pragma once
#include "formats/bce/bce.hpp"
#include "formats/gpu_product.cuh"

// The kernels of bce. A thread block takes a sub-block, whatever the number of threads a row: thread i reads entry i of
// each step of rows * t entries, so all loads of values and columns are side by side. The t threads of a row are
// neighbours in a warp and add up their sums at the end.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

using ::weft::bce::View;
using ::weft::simt::block_threads;

constexpr int entries_at_once = 4;  // of a thread on their way before the first is needed

template <class V, int Room>
__device__ __forceinline__ void add_entry(V value, Index column, const Product<V>& product, V (&sums)[Room]) {
  const V* x = product.x + column;
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j)
    if (j < product.count) sums[j] += value * simt::load_readonly(x + static_cast<std::size_t>(j) * product.x_stride);
}

/// Adds entries `first`, first + stride, ... of a row, `steps` of them. Padded: some may be padding.
template <bool Padded, class V, int Room>
__device__ __forceinline__ void add_entries(const V* values, const Index* columns, int steps, int stride,
                                            const Product<V>& product, V (&sums)[Room]) {
  int at = 0;
  for (; steps >= entries_at_once; steps -= entries_at_once, at += entries_at_once * stride) {
    V value[entries_at_once];
    Index column[entries_at_once];
    WEFT_UNROLL
    for (int u = 0; u < entries_at_once; ++u) column[u] = simt::load_streaming(columns + at + u * stride);
    WEFT_UNROLL
    for (int u = 0; u < entries_at_once; ++u) value[u] = simt::load_streaming(values + at + u * stride);
    WEFT_UNROLL
    for (int u = 0; u < entries_at_once; ++u)
      if (!Padded || column[u] >= 0) add_entry(value[u], column[u], product, sums);
  }
  for (; steps > 0; --steps, at += stride) {
    const Index column = simt::load_streaming(columns + at);
    const V value = simt::load_streaming(values + at);
    if (!Padded || column >= 0) add_entry(value, column, product, sums);
  }
}

template <class V, int Room>
__global__ void __launch_bounds__(block_threads) bce_multiply(View<V> matrix, Product<V> product) {
  const Offset s = matrix.sub_blocks - 1 - static_cast<Offset>(blockIdx.x);  // the widest first, for they take longest
  const Offset first = matrix.block_rows[s];
  const int threads = matrix.threads[s];
  const int stride = static_cast<int>(matrix.block_rows[s + 1] - first) * threads;
  const int shift = simt::first_set(static_cast<std::uint32_t>(threads)) - 1;
  const int thread = static_cast<int>(threadIdx.x);
  const bool live = thread < stride;
  V sums[Room] = {};
  if (live) {
    const Offset begin = matrix.positions[s] + thread;
    const int steps = matrix.widths[s] >> shift, full_steps = matrix.full_widths[s] >> shift;
    const V* values = matrix.values + begin;
    const Index* columns = matrix.columns + begin;
    add_entries<false>(values, columns, full_steps, stride, product, sums);
    const int done = full_steps * stride;
    add_entries<true>(values + done, columns + done, steps - full_steps, stride, product, sums);
  }
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    WEFT_UNROLL
    for (int j = 0; j < Room; ++j) sums[j] += simt::shuffle_xor(simt::full_mask, sums[j], distance);
  }
  if (!live || (thread & (threads - 1)) != 0) return;
  const Index number = matrix.row_numbers[first + (thread >> shift)];
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j) {
    if (j >= product.count) continue;
    if (number >= 0)
      store_sum(product, number, j, sums[j]);
    else
      matrix.partials[j * matrix.pieces + ~number] = sums[j];
  }
}

/// A warp adds up the pieces of a row.
template <class V>
__global__ void __launch_bounds__(block_threads) bce_add_pieces(View<V> matrix, Product<V> product) {
  simt::wait_for_earlier_kernels();
  const Offset i = simt::global_thread_id() / 32;
  if (i >= matrix.long_rows) return;  // for the whole warp
  const Offset begin = matrix.piece_starts[i], end = matrix.piece_starts[i + 1];
  for (int j = 0; j < product.count; ++j) {
    V sum = 0;
    for (Offset q = begin + simt::lane_id(); q < end; q += 32) sum += matrix.partials[j * matrix.pieces + q];
    sum = simt::warp_reduce_sum(sum);
    if (simt::lane_id() == 0) store_sum(product, matrix.long_row_numbers[i], j, sum);
  }
}

template <class V>
void multiply(const View<V>& matrix, const Product<V>& product, Stream stream) {
  with_room_for(product.count, [&](auto room) {
    simt::launch(WEFT_KERNEL(bce_multiply<V, decltype(room)::value>), simt::blocks_for(matrix.sub_blocks, 1),
                 block_threads, 0, stream, matrix, product);
  });
  if (matrix.long_rows > 0)
    simt::launch_early(WEFT_KERNEL(bce_add_pieces<V>), simt::blocks_for(matrix.long_rows, block_threads / 32),
                       block_threads, 0, stream, matrix, product);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
