#pragma once
#include "facts/blocks.hpp"
#include "facts/entry_tiles.cuh"
#include "formats/column_groups.hpp"
#include "formats/ehyb/setup.cuh"
#include "simt/scan.cuh"

// The kernels of the set-up. For setup.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::ehyb {

/// How many node rows each part has: a thread block per part looks at all of them.
__global__ void __launch_bounds__(1024) ehyb_count_rows(Index nodes, const Index* part_of, Index* counts) {
  const auto self = static_cast<Index>(blockIdx.x);
  Index count = 0;
  for (Index i = static_cast<Index>(threadIdx.x); i < nodes; i += static_cast<Index>(blockDim.x))
    count += simt::load_readonly(part_of + i) == self ? 1 : 0;
  count = simt::block_reduce_sum(count);
  if (threadIdx.x == 0) counts[self] = count;
}

/// The node rows of each part, ascending, and the place of each in its part.
__global__ void __launch_bounds__(1024)
    ehyb_list_rows(Index nodes, const Index* part_of, const Index* row_begin, Index* rows, Index* own_place) {
  constexpr Index together = 4;
  const auto self = static_cast<Index>(blockIdx.x);
  const Index begin = row_begin[self];
  Index before = 0;
  for (Index first = 0; first < nodes; first += together * static_cast<Index>(blockDim.x)) {
    const Index node = first + together * static_cast<Index>(threadIdx.x);
    bool mine[together];
    Index count = 0;
    WEFT_UNROLL
    for (Index i = 0; i < together; ++i) {
      mine[i] = node < nodes - i && simt::load_readonly(part_of + node + i) == self;
      count += mine[i] ? 1 : 0;
    }
    Index total = 0;
    Index place = before + simt::block_exclusive_sum(count, total);
    WEFT_UNROLL
    for (Index i = 0; i < together; ++i) {
      if (!mine[i]) continue;
      rows[begin + place] = node + i;
      if (own_place) own_place[node + i] = place;
      ++place;
    }
    before += total;
  }
}

/// Guests of a part are found by a hash table in shared memory of up to so many places, three quarters of them used.
constexpr Index max_places = 1 << 14;

/// The columns that entries of a part want and that are not its own, ascending, from guests[part * max] on; their
/// number in counts[part], or more than `max` if there are more.
__global__ void __launch_bounds__(1024)
    ehyb_find_guests(PatternView pattern, CachesView caches, Index places, Index max, Index* guests, Index* counts) {
  WEFT_DYNAMIC_SHARED(Index, table, places);
  WEFT_SHARED(Index, found, 1);
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  const auto self = static_cast<Index>(blockIdx.x);
  const Part part = caches.parts[self];
  for (Index i = thread; i < places; i += threads) table[i] = -1;
  if (thread == 0) found[0] = 0;
  simt::sync_block();
  const auto add = [&](Index column) {
    auto place = static_cast<Index>(static_cast<std::uint32_t>(column) * 2654435769u >> 7) & (places - 1);
    for (Index tries = 0; tries < places; ++tries) {
      const Index there = simt::atomic_cas(table[place], -1, column);
      if (there == -1) simt::atomic_add(found[0], 1);
      if (there == -1 || there == column) return;
      place = (place + 1) & (places - 1);
    }
    simt::atomic_add(found[0], 1);  // full
  };
  // A table that is nearly full is given up: looking for a place would take long.
  const auto too_many = [&] {
    Index so_far = 0;
    if (simt::lane_id() == 0) so_far = simt::atomic_add(found[0], 0);
    return simt::shuffle(simt::full_mask, so_far, 0) > max;
  };
  constexpr Offset between_checks = 8 * 32;
  bool given_up = false;
  for (Index i = simt::warp_id(); i < part.rows && !given_up; i += threads / 32) {
    const Index node = caches.rows[part.row + i];
    const Offset begin = pattern.offsets[node], end = pattern.offsets[node + 1];
    for (Offset first = begin; first < end; first += 32) {
      if ((first - begin) % between_checks == 0 && too_many()) {
        given_up = true;
        break;
      }
      const Offset e = first + simt::lane_id();
      const Index column = e < end ? pattern.columns[e] : -1;
      if (column >= 0 && (!caches.own_place || caches.part_of[column] != self)) add(column);
    }
  }
  simt::sync_block();
  const Index count = found[0];
  if (thread == 0) counts[self] = count;
  if (count > max) return;

  // What is in the table moves to its front: never behind where it was read.
  Index before = 0;
  for (Index first = 0; first < places; first += threads) {
    const Index key = first + thread < places ? static_cast<Index>(table[first + thread]) : -1;
    Index total = 0;
    const Index rank = simt::block_exclusive_sum(key >= 0 ? Index(1) : Index(0), total);
    if (key >= 0) table[before + rank] = key;
    before += total;
    simt::sync_block();
  }
  // Bitonic sort.
  Index padded = 1;
  while (padded < count) padded *= 2;
  for (Index i = count + thread; i < padded; i += threads) table[i] = 0x7fffffff;
  simt::sync_block();
  for (Index size = 2; size <= padded; size *= 2)
    for (Index distance = size / 2; distance > 0; distance /= 2) {
      for (Index i = thread; i < padded; i += threads) {
        const Index other = i ^ distance;
        if (other <= i) continue;
        const Index a = table[i], b = table[other];
        if ((a > b) == ((i & size) == 0)) {
          table[i] = b;
          table[other] = a;
        }
      }
      simt::sync_block();
    }
  for (Index i = thread; i < count; i += threads) guests[static_cast<Offset>(self) * max + i] = table[i];
}

/// What each part caches: its own nodes, then guests.
__global__ void ehyb_gather_cached(CachesView caches, const Index* guests, Index max, Index* cached) {
  const Part part = caches.parts[blockIdx.x];
  const Index own = caches.own_place ? part.rows : 0;
  for (Index i = static_cast<Index>(threadIdx.x); i < part.cached; i += static_cast<Index>(blockDim.x))
    cached[part.cache + i] =
        i < own ? caches.rows[part.row + i] : guests[static_cast<Offset>(blockIdx.x) * max + (i - own)];
}

/// Entries of each slice: its first row is its longest.
__global__ void ehyb_measure(PatternView pattern, const Part* parts, const Index* order, Offset* entries) {
  const Part part = parts[blockIdx.x];
  for (Index s = static_cast<Index>(threadIdx.x); s < part.slices; s += static_cast<Index>(blockDim.x)) {
    const Index node = order[part.row + s * slice_rows];
    entries[part.slice + s] = (pattern.offsets[node + 1] - pattern.offsets[node]) * slice_rows;
  }
}

__global__ void ehyb_place_slices(Index slice_count, const Offset* entries, Slice* slices) {
  const Offset s = simt::global_thread_id();
  if (s >= slice_count) return;
  Slice slice;
  slice.entry = entries[s];
  slice.width = static_cast<Index>((entries[s + 1] - entries[s]) / slice_rows);
  slices[s] = slice;
}

/// Whether all rows of a node have all their entries in the block column.
__device__ inline bool is_full(const PatternView& matrix, int block, Index node, Index column) {
  if (block == 1) return true;
  const Offset left = static_cast<Offset>(column) * block, last = left + block - 1;
  for (int r = 0; r < block; ++r) {
    const Offset row = static_cast<Offset>(node) * block + r, end = matrix.offsets[row + 1];
    const Offset at = facts::lower_bound(matrix.columns, matrix.offsets[row], end, static_cast<Index>(left));
    if (end - at < block || matrix.columns[at + block - 1] != last) return false;
  }
  return true;
}

/// Rows with more blocks than this are looked at by all lanes of a warp together.
constexpr Offset max_lane_blocks = 1024;

/// The columns of slices, a warp per slice. Guests are looked up in shared memory, if it has room for `max` of them,
/// and in the device's if `max` is 0. Blocks that are not full, and columns that are not cached, are of the extra part.
__global__ void __launch_bounds__(simt::block_threads)
    ehyb_fill_columns(PatternView matrix, PatternView pattern, CachesView caches, const Index* order,
                      const Slice* slices, Index max, std::uint16_t* all_columns) {
  WEFT_DYNAMIC_SHARED(Index, guests, max);
  const Part part = caches.parts[blockIdx.x];
  const auto self = static_cast<Index>(blockIdx.x);
  const int b = pattern.block;
  const Index own = caches.own_place ? part.rows : 0;
  const Index guest_count = part.cached - own;
  const Index* const all_guests = caches.cached + part.cache + own;
  for (Index i = static_cast<Index>(threadIdx.x); i < guest_count && max > 0; i += static_cast<Index>(blockDim.x))
    guests[i] = all_guests[i];
  simt::sync_block();
  const auto guest = [&](Index i) -> Index { return max > 0 ? static_cast<Index>(guests[i]) : all_guests[i]; };
  const auto find = [&](Index column) -> Index {
    if (own > 0 && caches.part_of[column] == self) return caches.own_place[column];
    Index low = 0, high = guest_count;
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (guest(middle) < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low < guest_count && guest(low) == column ? own + low : -1;
  };
  const int lane = simt::lane_id();
  const Index warps = static_cast<Index>(gridDim.y * blockDim.x / 32);
  for (Index s = static_cast<Index>(blockIdx.y * blockDim.x / 32) + simt::warp_id(); s < part.slices; s += warps) {
    const Slice slice = slices[part.slice + s];
    std::uint16_t* const columns = all_columns + slice.entry;
    Index k = 0;
    const bool live = s * slice_rows + lane < part.rows;
    const Index node = live ? order[part.row + s * slice_rows + lane] : 0;
    const Offset blocks_begin = live ? pattern.offsets[node] : 0, blocks_end = live ? pattern.offsets[node + 1] : 0;
    const bool alone = blocks_end - blocks_begin <= max_lane_blocks;
    if (alone && live) {
      Offset next[max_block], end[max_block];
      WEFT_UNROLL
      for (int r = 0; r < max_block; ++r) {
        next[r] = r < b ? matrix.offsets[static_cast<Offset>(node) * b + r] : 0;
        end[r] = r < b ? matrix.offsets[static_cast<Offset>(node) * b + r + 1] : 0;
      }
      for (Offset i = blocks_begin; i < blocks_end; ++i) {
        const Index column = pattern.columns[i];
        const Offset right = (static_cast<Offset>(column) + 1) * b;
        bool full = true;  // b entries of each row are left of the next block
        WEFT_UNROLL
        for (int r = 0; r < max_block; ++r)
          if (r < b) full = full && end[r] - next[r] >= b && matrix.columns[next[r] + b - 1] < right;
        const Index place = full ? find(column) : -1;
        WEFT_UNROLL
        for (int r = 0; r < max_block; ++r) {
          if (r >= b) continue;
          if (full)
            next[r] += b;
          else
            while (next[r] < end[r] && matrix.columns[next[r]] < right) ++next[r];
        }
        if (place < 0) continue;
        columns[place_in_slice(lane, k, slice_rows, slice.width, column_pack)] = static_cast<std::uint16_t>(place);
        ++k;
      }
    }
    for (unsigned left = simt::ballot(simt::full_mask, !alone); left != 0; left &= left - 1) {
      const int owner = simt::first_set(left) - 1;
      const Index its_node = simt::shuffle(simt::full_mask, node, owner);
      const Offset end = simt::shuffle(simt::full_mask, blocks_end, owner);
      Index filled = 0;
      for (Offset first = simt::shuffle(simt::full_mask, blocks_begin, owner); first < end; first += 32) {
        const Index column = first + lane < end ? pattern.columns[first + lane] : -1;
        const Index place = column >= 0 && is_full(matrix, b, its_node, column) ? find(column) : -1;
        const unsigned cached = simt::ballot(simt::full_mask, place >= 0);
        const Index before = filled + simt::popcount(cached & ((1u << lane) - 1));
        if (place >= 0)
          columns[place_in_slice(owner, before, slice_rows, slice.width, column_pack)] =
              static_cast<std::uint16_t>(place);
        filled += simt::popcount(cached);
      }
      if (lane == owner) k = filled;
    }
    for (; k < slice.width; ++k)
      columns[place_in_slice(lane, k, slice_rows, slice.width, column_pack)] = static_cast<std::uint16_t>(part.cached);
  }
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
