#pragma once
#include "order/partition/multilevel/graph.cuh"

// From pairs of nodes to the next coarser graph. For gpu.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using ::weft::ordering::multilevel::scramble;

/// The coarse node of each node, and the first node of each coarse one.
__global__ void __launch_bounds__(block_threads)
    number_pairs(Index nodes, const Index* mate, const Index* number, Index* coarse_of, Index* first) {
  const Offset node = simt::global_thread_id();
  if (node >= nodes) return;
  const Index other = mate[node];
  const bool second = other != nobody && other < node;
  coarse_of[node] = number[second ? other : node];
  if (!second) first[number[node]] = static_cast<Index>(node);
}

/// Coarse nodes with at most so many edges, counted before they are merged, are merged by a warp in shared memory.
constexpr Index max_warp_edges = 128;
constexpr Index warp_places = 256;
constexpr int warps_per_block = block_threads / 32;

struct Pairs {
  GraphView fine;
  Index nodes = 0;  ///< of the coarse graph
  const Index* first = nullptr;
  const Index* mate = nullptr;
  const Index* coarse_of = nullptr;
};

/// What is found out about the pairs besides.
struct PairCounts {
  Index large = 0;          ///< nodes that a warp cannot merge
  Offset large_places = 0;  ///< of their tables
};

__device__ inline Offset places_for(Offset edges) {
  Offset places = 2 * warp_places;
  while (places < 2 * edges) places *= 2;
  return places;
}

/// The edges, weight and count of each pair; lists the large ones and where their tables begin.
__global__ void __launch_bounds__(block_threads) measure_pairs(Pairs pairs, Offset* room, Index* weights, Index* counts,
                                                               Index* large, Offset* table_begin, PairCounts* found) {
  constexpr Offset max = 0x7fffffff;
  const Offset node = simt::global_thread_id();
  if (node >= pairs.nodes) return;
  const Index a = pairs.first[node], b = pairs.mate[a];
  Offset edges = pairs.fine.end(a) - pairs.fine.begin(a);
  Load load = pairs.fine.load(a);
  if (b != nobody) {
    edges += pairs.fine.end(b) - pairs.fine.begin(b);
    load = load + pairs.fine.load(b);
  }
  room[node] = edges;
  weights[node] = static_cast<Index>(load.weight < max ? load.weight : max);
  counts[node] = static_cast<Index>(load.count);
  if (edges <= max_warp_edges) return;
  const Index place = simt::atomic_add(found->large, 1);
  large[place] = static_cast<Index>(node);
  table_begin[place] = simt::atomic_add(found->large_places, places_for(edges));
}

/// Adds an edge to a table of coarse neighbours.
template <class Keys, class Weights>
__device__ __forceinline__ void add_edge(Keys&& keys, Weights&& weights, Offset places, Index to, Index weight) {
  Offset place = scramble(static_cast<std::uint32_t>(to)) & (places - 1);
  for (;;) {
    const Index there = simt::atomic_cas(keys[place], nobody, to);
    if (there == nobody || there == to) break;
    place = (place + 1) & (places - 1);
  }
  simt::atomic_add(weights[place], weight);
}

/// Sums that ran over are as large as can be.
__device__ __forceinline__ Index clamped(Index sum) { return sum < 0 ? 0x7fffffff : sum; }

/// The edges of each coarse node, merged, from room[node] on; their number in `found`.
__global__ void __launch_bounds__(block_threads)
    merge_edges(Pairs pairs, const Offset* room, Index* neighbours, Index* edge_weights, Offset* found) {
  WEFT_SHARED(Index, keys, warps_per_block * warp_places);
  WEFT_SHARED(Index, sums, warps_per_block * warp_places);
  const Offset node = static_cast<Offset>(blockIdx.x) * warps_per_block + simt::warp_id();
  if (node >= pairs.nodes || room[node + 1] - room[node] > max_warp_edges) return;  // the whole warp
  const int base = simt::warp_id() * static_cast<int>(warp_places), lane = simt::lane_id();
  for (int i = lane; i < warp_places; i += 32) {
    keys[base + i] = nobody;
    sums[base + i] = 0;
  }
  simt::sync_warp();
  const auto self = static_cast<Index>(node);
  const auto take = [&](Index member) {
    each_edge(pairs.fine, member, lane, 32, [&](Index neighbour, Index weight) {
      const Index to = pairs.coarse_of[neighbour];
      if (to == self) return;
      int place = static_cast<int>(scramble(static_cast<std::uint32_t>(to)) & (warp_places - 1));
      for (;;) {
        const Index there = simt::atomic_cas(keys[base + place], nobody, to);
        if (there == nobody || there == to) break;
        place = (place + 1) & (warp_places - 1);
      }
      simt::atomic_add(sums[base + place], weight);
    });
  };
  const Index a = pairs.first[node], b = pairs.mate[a];
  take(a);
  if (b != nobody) take(b);
  simt::sync_warp();
  Offset to = room[node];
  for (int i = lane; i < warp_places; i += 32) {
    const Index key = keys[base + i], sum = sums[base + i];
    const unsigned used = simt::ballot(simt::full_mask, key != nobody);
    const int before = simt::popcount(used & ((1u << lane) - 1));
    if (key != nobody) {
      neighbours[to + before] = key;
      edge_weights[to + before] = clamped(sum);
    }
    to += simt::popcount(used);
  }
  if (lane == 0) found[node] = to - room[node];
}

/// The same for large nodes, a thread block each, with tables in the device's memory: cleared, keys before sums.
__global__ void __launch_bounds__(block_threads)
    merge_edges_of_large(Pairs pairs, const Offset* room, const Index* large, const Offset* table_begin, Index* keys,
                         Index* sums, Index* neighbours, Index* edge_weights, Offset* found) {
  const Index self = large[blockIdx.x];
  const Offset edges = room[self + 1] - room[self], places = places_for(edges);
  Index* const own_keys = keys + table_begin[blockIdx.x];
  Index* const own_sums = sums + table_begin[blockIdx.x];
  const auto take = [&](Index member) {
    each_edge(pairs.fine, member, static_cast<int>(threadIdx.x), block_threads, [&](Index neighbour, Index weight) {
      const Index to = pairs.coarse_of[neighbour];
      if (to != self) add_edge(own_keys, own_sums, places, to, weight);
    });
  };
  const Index a = pairs.first[self], b = pairs.mate[a];
  take(a);
  if (b != nobody) take(b);
  simt::sync_block();
  Offset to = room[self];
  for (Offset first = 0; first < places; first += block_threads) {
    const Index key = own_keys[first + threadIdx.x];
    Index total = 0;
    const Index before = simt::block_exclusive_sum(key != nobody ? Index(1) : Index(0), total);
    if (key != nobody) {
      neighbours[to + before] = key;
      edge_weights[to + before] = clamped(own_sums[first + threadIdx.x]);
    }
    to += total;
  }
  if (threadIdx.x == 0) found[self] = to - room[self];
}

/// Edges from where there was room for all to where only those that are there have room.
__global__ void __launch_bounds__(block_threads)
    close_gaps(Index nodes, const Offset* room, const Offset* offsets, const Index* from_neighbours,
               const Index* from_weights, Index* neighbours, Index* weights) {
  const Offset node = simt::global_thread_id() / lanes_per_node;
  if (node >= nodes) return;
  const Offset to = offsets[node], count = offsets[node + 1] - to, from = room[node];
  for (Offset i = LaneTeam().rank(); i < count; i += LaneTeam::size) {
    neighbours[to + i] = from_neighbours[from + i];
    weights[to + i] = from_weights[from + i];
  }
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
