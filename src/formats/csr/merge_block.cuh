#pragma once
#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// The share of a block, see merge.cuh, of Items steps a thread. The block puts the products of its entries into shared
/// memory and gives every row as many lanes as keep all busy; a row much longer than the others gets a warp. With
/// AddCarries the last block adds the carries, see carries.cuh.
template <class V, class O, int Items, bool AddCarries>
__global__ void __launch_bounds__(::weft::simt::block_threads, simt::resident_blocks(8, ::weft::simt::block_threads))
    csr_merge_block(View<V, O> matrix, const Index* __restrict__ share_rows, Carries<V> carries, Product<V> product) {
  constexpr int threads = ::weft::simt::block_threads, steps = threads * Items;
  constexpr int most_a_lane = 32;
  WEFT_SHARED(V, products, steps);
  WEFT_SHARED(int, long_rows, steps / most_a_lane + 1);
  WEFT_SHARED(int, long_row_count, 1);
  const int thread = static_cast<int>(threadIdx.x);
  const Offset path = matrix.rows + matrix.entries;
  const Offset step = static_cast<Offset>(blockIdx.x) * steps;
  const Index first = share_rows[blockIdx.x], last = share_rows[blockIdx.x + 1];
  const Offset begin = step - first;
  const int row_count = last - first;
  const int entries = static_cast<int>((step + steps < path ? step + steps : path) - last - begin);

  const Index* __restrict__ columns = matrix.columns + begin;
  const V* __restrict__ values = matrix.values + begin;
  Index column[Items];
  V value[Items];
  WEFT_UNROLL
  for (int u = 0; u < Items; ++u) {
    const int k = u * threads + thread;
    column[u] = k < entries ? simt::load_streaming(columns + k) : 0;
    value[u] = k < entries ? simt::load_streaming(values + k) : V(0);
  }

  // Rows are counted from `first` on. The last one, row_count, goes on in the next share and may have no entry here.
  const auto begin_of = [&](int row) {
    const Offset local = static_cast<Offset>(matrix.offsets[first + row]) - begin;
    return local < 0 ? 0 : local < entries ? static_cast<int>(local) : entries;
  };
  const auto end_of = [&](int row) { return row < row_count ? begin_of(row + 1) : entries; };
  int lanes = 32, log_lanes = 5;
  for (; lanes > 1 && lanes * (row_count + 1) > threads; lanes /= 2) --log_lanes;
  int row = thread >> log_lanes;
  int from = 0, to = 0;
  if (row <= row_count) {
    from = begin_of(row);
    to = end_of(row);
  }
  if (thread == 0) long_row_count[0] = 0;
  WEFT_UNROLL
  for (int u = 0; u < Items; ++u) {
    const int k = u * threads + thread;
    if (k < entries) products[k] = value[u] * simt::load_readonly(product.x + column[u]);
  }
  simt::sync_block();

  const auto finish = [&](int finished, V sum, int length) {
    if (finished < row_count) return store_sum(product, first + finished, 0, sum);
    carries.values[blockIdx.x] = sum;
    carries.rows[blockIdx.x] = length > 0 ? last : -1;
  };
  const auto defer = [&](int deferred) { long_rows[simt::atomic_add(long_row_count[0], 1)] = deferred; };
  if (lanes == 1) {
    while (row <= row_count) {
      if (to - from > most_a_lane) {
        defer(row);
      } else {
        V sum = 0;
        for (int k = from; k < to; ++k) sum += products[k];
        finish(row, sum, to - from);
      }
      row += threads;
      if (row > row_count) break;
      from = begin_of(row);
      to = end_of(row);
    }
  } else {
    const int lane = thread & (lanes - 1);
    const bool is_long = to - from > most_a_lane * lanes;
    V sum = 0;
    if (!is_long)
      for (int k = from + lane; k < to; k += lanes) sum += products[k];
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      sum += simt::shuffle_xor(simt::full_mask, sum, distance);
    if (lane == 0 && row <= row_count) {
      if (is_long)
        defer(row);
      else
        finish(row, sum, to - from);
    }
  }
  simt::sync_block();
  const int longs = long_row_count[0];
  for (int i = simt::warp_id(); i < longs; i += threads / 32) {
    const int long_row = long_rows[i];
    const int long_from = begin_of(long_row), long_to = end_of(long_row);
    V sum = 0;
    for (int k = long_from + simt::lane_id(); k < long_to; k += 32) sum += products[k];
    sum = simt::warp_reduce_sum(sum);
    if (simt::lane_id() == 0) finish(long_row, sum, long_to - long_from);
  }
  if constexpr (AddCarries) add_carries_last(carries, product);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
