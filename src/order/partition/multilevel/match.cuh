#pragma once
#include "order/partition/multilevel/graph.cuh"

// Which nodes are joined. For gpu.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using ::weft::ordering::multilevel::Wish;

__device__ __forceinline__ Wish best_of(const Wish& a, const Wish& b) { return b.beats(a) ? b : a; }

/// The best of the wishes of the lanes that share a node.
__device__ __forceinline__ Wish best_of_lanes(Wish wish) {
  const LaneTeam team;
  WEFT_UNROLL
  for (int distance = lanes_per_node / 2; distance > 0; distance /= 2)
    wish = best_of(wish, {team.exchange(wish.node, distance), team.exchange(wish.weight, distance),
                          team.exchange(wish.tie, distance)});
  return wish;
}

/// The best of the wishes of a thread block. Contains barriers.
__device__ inline Wish best_of_block(Wish wish) {
  WEFT_SHARED(Index, nodes, 32);
  WEFT_SHARED(Index, weights, 32);
  WEFT_SHARED(std::uint32_t, ties, 32);
  WEFT_UNROLL
  for (int distance = 16; distance > 0; distance /= 2)
    wish = best_of(wish, {simt::shuffle_xor(simt::full_mask, wish.node, distance),
                          simt::shuffle_xor(simt::full_mask, wish.weight, distance),
                          simt::shuffle_xor(simt::full_mask, wish.tie, distance)});
  if (simt::lane_id() == 0) {
    nodes[simt::warp_id()] = wish.node;
    weights[simt::warp_id()] = wish.weight;
    ties[simt::warp_id()] = wish.tie;
  }
  simt::sync_block();
  for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp) {
    const Index node = nodes[warp], weight = weights[warp];
    const std::uint32_t tie = ties[warp];
    wish = best_of(wish, {node, weight, tie});
  }
  simt::sync_block();
  return wish;
}

/// Which wishes count: of neighbours that are free and not too heavy or, looking for hosts, of all.
struct Suitors {
  const Index* mate = nullptr;
  Offset max_weight = 0;
  int round = 0;
  bool hosts = false;

  __device__ bool looks(Index node) const { return mate[node] == nobody; }
  __device__ void take(const GraphView& graph, Index node, Index neighbour, Index weight, Wish& best) const {
    if (weight < best.weight) return;
    if (hosts) {
      best = best_of(best, {neighbour, weight, 0});
    } else if (mate[neighbour] == nobody &&
               static_cast<Offset>(graph.weight(node)) + graph.weight(neighbour) <= max_weight) {
      best = best_of(best, Wish::of(node, neighbour, weight, round));
    }
  }
};

__global__ void __launch_bounds__(block_threads) choose_mates(GraphView graph, Suitors suitors, Index* choice) {
  const Offset at = simt::global_thread_id() / lanes_per_node;
  const auto node = static_cast<Index>(at);
  const bool looks = at < graph.nodes && suitors.looks(node) && graph.end(node) - graph.begin(node) <= max_lane_edges;
  Wish best;
  if (looks)
    each_edge(graph, node, LaneTeam().rank(), LaneTeam::size,
              [&](Index neighbour, Index weight) { suitors.take(graph, node, neighbour, weight, best); });
  best = best_of_lanes(best);
  if (at < graph.nodes && LaneTeam().rank() == 0) choice[node] = looks ? best.node : nobody;
}

/// The same for nodes of many edges, a thread block each.
__global__ void __launch_bounds__(block_threads)
    choose_mates_of_hubs(GraphView graph, const Index* hubs, Suitors suitors, Index* choice) {
  const Index node = hubs[blockIdx.x];
  if (!suitors.looks(node)) return;
  Wish best;
  each_edge(graph, node, static_cast<int>(threadIdx.x), block_threads,
            [&](Index neighbour, Index weight) { suitors.take(graph, node, neighbour, weight, best); });
  best = best_of_block(best);
  if (threadIdx.x == 0) choice[node] = best.node;
}

__global__ void __launch_bounds__(block_threads) join_mates(Index nodes, const Index* choice, Index* mate) {
  const Offset node = simt::global_thread_id();
  if (node >= nodes) return;
  const Index other = choice[node];
  if (other != nobody && choice[other] == node) mate[node] = other;
}

__global__ void __launch_bounds__(block_threads) list_hubs(GraphView graph, Index* hubs, Index* count) {
  const Offset node = simt::global_thread_id();
  if (node < graph.nodes && graph.end(node) - graph.begin(node) > max_lane_edges)
    hubs[simt::atomic_add(*count, 1)] = static_cast<Index>(node);
}

/// number[node] = 1 for the first node of each pair and for those that stay alone.
__global__ void __launch_bounds__(block_threads) mark_first(Index nodes, const Index* mate, Index* number) {
  const Offset node = simt::global_thread_id();
  if (node < nodes) number[node] = mate[node] == nobody || mate[node] > node ? 1 : 0;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
