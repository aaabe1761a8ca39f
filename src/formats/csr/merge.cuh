#pragma once
#include <cstdint>

#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/segments.cuh"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

// csr:merge. The ends of the rows and the entries, merged, make a path of rows + entries steps (Merrill and Garland): a
// row ends after its last entry. Every warp takes the same number of steps, whatever the rows look like.
//   1. csr_merge_search finds the row in which each warp's share begins. The matrix alone decides that: a plan does it
//      once.
//   2. csr_merge multiplies. A warp goes through its share in chunks. It marks in shared memory which entries are the
//      last of their rows and sums the entries between such marks. A row that goes on in the next share leaves a carry.
//   3. add_carries adds the carries, in the order of the shares.
// Next to no shared memory is used, on purpose: the first-level cache, which gets what is left of it, is all that
// relieves the path to x where columns are scattered (bench/NOTES.md).
namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// A lane takes `items` entries of a chunk; a share has `chunks` chunks' worth of steps.
template <class V>
struct MergeShape {
  static constexpr int items = ::weft::simt::csr_merge_items;
  static constexpr int chunk = 32 * items;
  static constexpr int steps = chunk * ::weft::simt::csr_merge_chunks;
};

/// share_rows[s]: how many rows end within the first s shares.
template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_merge_search(Index rows, Offset entries, const O* __restrict__ offsets, int steps, Offset shares,
                     Index* __restrict__ share_rows) {
  const Offset share = simt::global_thread_id();
  if (share > shares) return;
  const Offset path = rows + entries;
  const Offset step = share * steps < path ? share * steps : path;
  Index low = 0, high = rows;
  while (low < high) {
    const Index middle = low + (high - low + 1) / 2;
    if (middle + static_cast<Offset>(offsets[middle]) <= step)
      low = middle;
    else
      high = middle - 1;
  }
  share_rows[share] = low;
}

template <class V, class O>
__global__ void __launch_bounds__(::weft::simt::block_threads, 4)
    csr_merge(View<V, O> matrix, Offset shares, const Index* __restrict__ share_rows, Carries<V> carries,
              Product<V> product) {
  constexpr int items = MergeShape<V>::items, chunk = MergeShape<V>::chunk, steps = MergeShape<V>::steps;
  constexpr int warps = ::weft::simt::block_threads / 32;
  WEFT_SHARED(std::uint32_t, ends_of_block, warps* items);
  const int lane = simt::lane_id();
  const auto shared_ends = ends_of_block + simt::warp_id() * items;
  const Offset share = simt::global_thread_id() / 32;
  if (share >= shares) return;  // for the whole warp

  const Offset path = matrix.rows + matrix.entries;
  const Offset step = share * steps;
  const Index first = share_rows[share], last = share_rows[share + 1];
  const Offset begin = step - first, end = (step + steps < path ? step + steps : path) - last;

  // Each lane also looks at the end of one of the next 32 rows.
  const auto end_of = [&](Index row) {
    return row < last ? matrix.offsets[row + 1] : static_cast<O>(matrix.entries + 1);
  };
  Index column[items];
  V value[items];
  Index row = first;  // the next to end
  load_striped(matrix, begin, end, column, value);
  O row_end = end_of(row + lane);
  V carry = 0;
  for (Offset at = begin;; at += chunk) {
    const int length = end - at < chunk ? static_cast<int>(end - at) : chunk;
    V sums[items];
    WEFT_UNROLL
    for (int u = 0; u < items; ++u)
      sums[u] = u * 32 + lane < length ? value[u] * simt::load_readonly(product.x + column[u]) : V(0);
    load_striped(matrix, at + chunk, end, column, value);  // on its way while these are summed

    // Where a row ends in the chunk: behind its entry local_end - 1; past `length` if it does not. A row without an
    // entry here ends where the one before it does.
    const auto localize = [&](O end_of_row) {
      const Offset local = static_cast<Offset>(end_of_row) - at;
      return local <= length ? static_cast<int>(local) : chunk + 1;
    };
    const int first_ends = localize(row_end);
    if (lane < items) shared_ends[lane] = 0;
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
      local_end = localize(end_of(row + rows_here + lane));
    }
    row_end = end_of(row + rows_here + lane);
    simt::sync_warp();
    unsigned ends[items];
    WEFT_UNROLL
    for (int u = 0; u < items; ++u) ends[u] = shared_ends[u];
    sum_segments(sums, ends, carry);

    // Lane i stores the sum of row + i, so that y is written side by side.
    for (int done = 0, local_end = first_ends, end_before = 0; done < rows_here;) {
      int from = simt::shuffle_up(simt::full_mask, local_end, 1);
      if (lane == 0) from = end_before;
      const bool here = local_end <= length;
      const int k = here && local_end > from ? local_end - 1 : -1;
      V sum = 0;
      WEFT_UNROLL
      for (int u = 0; u < items; ++u) {
        const V candidate = simt::shuffle(simt::full_mask, sums[u], k & 31);
        if (k >> 5 == u) sum = candidate;
      }
      if (here) store_sum(product, row + done + lane, 0, sum);
      done += 32;
      if (done >= rows_here) break;
      end_before = simt::shuffle(simt::full_mask, local_end, 31);
      local_end = localize(end_of(row + done + lane));
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

/// The shares of a matrix and where their carries go, in a piece of the GPU's memory that the caller has.
template <class V>
struct MergeSpace {
  Offset shares = 0;
  Index* share_rows = nullptr;
  Carries<V> carries;

  MergeSpace() = default;
  template <class O>
  MergeSpace(const View<V, O>& matrix, Carver& space) {
    shares = (matrix.rows + matrix.entries + MergeShape<V>::steps - 1) / MergeShape<V>::steps;
    share_rows = space.take<Index>(shares + 1);
    carries = {space.take<Index>(shares), space.take<V>(shares), shares};
  }
};

template <class V, class O>
void merge_search(const View<V, O>& matrix, const MergeSpace<V>& space, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(csr_merge_search<O>), simt::blocks_for(space.shares + 1, threads), threads, 0, stream,
               matrix.rows, matrix.entries, matrix.offsets, MergeShape<V>::steps, space.shares, space.share_rows);
}

/// For one vector. merge_search must have come before, once.
template <class V, class O>
void merge_multiply(const View<V, O>& matrix, const MergeSpace<V>& space, const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(csr_merge<V, O>), simt::blocks_for(space.shares, threads / 32), threads, 0, stream, matrix,
               space.shares, static_cast<const Index*>(space.share_rows), space.carries, product);
  if (space.shares > 1) add_carries(space.carries, product, stream);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
