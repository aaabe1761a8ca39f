#pragma once
#include <cstdint>

#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/segments.cuh"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// The share of a warp, see merge.cuh, in chunks of Items entries a lane. The warp marks in shared memory which entries
/// are the last of their rows and sums the entries between such marks in registers. It uses next to no shared memory,
/// on purpose: the first-level cache gets what is left of it, and where columns are scattered that cache is all that
/// relieves the path to x (bench/NOTES.md).
template <class V, class O, int Items>
__global__ void __launch_bounds__(::weft::simt::block_threads, 4)
    csr_merge_warp(View<V, O> matrix, int steps, Offset shares, const Index* __restrict__ share_rows,
                   Carries<V> carries, Product<V> product) {
  constexpr int chunk = 32 * Items;
  constexpr int warps = ::weft::simt::block_threads / 32;
  WEFT_SHARED(std::uint32_t, ends_of_block, (warps * Items));
  const int lane = simt::lane_id();
  const auto shared_ends = ends_of_block + simt::warp_id() * Items;
  const Offset share = simt::global_thread_id() / 32;
  if (share >= shares) return;  // for the whole warp

  const Offset path = matrix.rows + matrix.entries;
  const Offset step = share * steps;
  const Index first = share_rows[share], last = share_rows[share + 1];
  const Offset begin = step - first, end = (step + steps < path ? step + steps : path) - last;

  // Each lane also looks at the end of one of the next 32 rows.
  const auto end_of = [&](Index row, int ahead) {
    return ahead < last - row ? matrix.offsets[row + ahead + 1] : static_cast<O>(matrix.entries + 1);
  };
  Index column[Items];
  V value[Items];
  Index row = first;  // the next to end
  load_striped(matrix, begin, end, column, value);
  O row_end = end_of(row, lane);
  V carry = 0;
  for (Offset at = begin;; at += chunk) {
    const int length = end - at < chunk ? static_cast<int>(end - at) : chunk;
    V sums[Items];
    WEFT_UNROLL
    for (int u = 0; u < Items; ++u)
      sums[u] = u * 32 + lane < length ? value[u] * simt::load_readonly(product.x + column[u]) : V(0);
    load_striped(matrix, at + chunk, end, column, value);  // on its way while these are summed

    // Where a row ends in the chunk: behind its entry local_end - 1; past `length` if it does not. A row without an
    // entry here ends where the one before it does.
    const auto localize = [&](O end_of_row) {
      const Offset local = static_cast<Offset>(end_of_row) - at;
      return local <= length ? static_cast<int>(local) : chunk + 1;
    };
    const int first_ends = localize(row_end);
    if (lane < Items) shared_ends[lane] = 0;
    simt::sync_warp();
    int rows_here = 0;
    for (int local_end = first_ends, end_before = 0;;) {
      int from = simt::shuffle_up(simt::full_mask, local_end, 1);
      if (lane == 0) from = end_before;
      const bool here = local_end <= length;
      if (here && local_end > from) simt::atomic_or(shared_ends[(local_end - 1) / 32], 1u << (local_end - 1) % 32);
      const int count = simt::popcount(static_cast<std::uint32_t>(simt::ballot(simt::full_mask, here)));
      rows_here += count;
      if (count < 32) break;
      end_before = simt::shuffle(simt::full_mask, local_end, 31);
      local_end = localize(end_of(row, rows_here + lane));
    }
    row_end = end_of(row, rows_here + lane);
    simt::sync_warp();
    unsigned ends[Items];
    WEFT_UNROLL
    for (int u = 0; u < Items; ++u) ends[u] = shared_ends[u];
    sum_segments(sums, ends, carry);

    // Lane i stores the sum of row + i, so that y is written side by side.
    for (int done = 0, local_end = first_ends, end_before = 0; done < rows_here;) {
      int from = simt::shuffle_up(simt::full_mask, local_end, 1);
      if (lane == 0) from = end_before;
      const bool here = local_end <= length;
      const int k = here && local_end > from ? local_end - 1 : -1;
      V sum = 0;
      WEFT_UNROLL
      for (int u = 0; u < Items; ++u) {
        const V candidate = simt::shuffle(simt::full_mask, sums[u], k & 31);
        if (k >> 5 == u) sum = candidate;
      }
      if (here) store_sum(product, row + done + lane, 0, sum);
      done += 32;
      if (done >= rows_here) break;
      end_before = simt::shuffle(simt::full_mask, local_end, 31);
      local_end = localize(end_of(row, done + lane));
    }
    row += rows_here;
    if (at + length >= end) break;
    simt::sync_warp();  // all lanes have read the marks
  }
  if (lane == 0) {
    const bool open = row < matrix.rows && static_cast<Offset>(matrix.offsets[row]) < end && begin < end;
    carries.values[share] = carry;
    carries.rows[share] = open ? row : -1;
  }
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
