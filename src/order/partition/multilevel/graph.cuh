#pragma once
#include <weft/buffer.hpp>

#include "order/partition/multilevel/rules.hpp"
#include "simt/arena.hpp"
#include "simt/scan.cuh"
#include "simt/warp.cuh"

// The partitioner's graphs on a GPU, and how threads share their nodes.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using simt::block_threads;
using ::weft::ordering::multilevel::Load;
using ::weft::ordering::multilevel::nobody;
using ::weft::simt::Arena;

/// As NodeGraph. A node may be its own neighbour, as in the pattern of a matrix; such edges do not count.
struct GraphView {
  Index nodes = 0;
  const Offset* offsets = nullptr;
  const Index* neighbours = nullptr;
  const Index* edge_weights = nullptr;  ///< null: 1 each
  const Index* weights = nullptr;       ///< null: 1 each
  const Index* counts = nullptr;        ///< null: 1 each

  __device__ Offset begin(Offset node) const { return simt::load_readonly(offsets + node); }
  __device__ Offset end(Offset node) const { return simt::load_readonly(offsets + node + 1); }
  __device__ Index neighbour(Offset edge) const { return simt::load_readonly(neighbours + edge); }
  __device__ Index edge_weight(Offset edge) const {
    return edge_weights ? simt::load_readonly(edge_weights + edge) : 1;
  }
  __device__ Index weight(Offset node) const { return weights ? simt::load_readonly(weights + node) : 1; }
  __device__ Load load(Offset node) const { return {weight(node), counts ? simt::load_readonly(counts + node) : 1}; }
};

/// So many lanes look at the edges of a node together.
constexpr int lanes_per_node = 8;
constexpr int nodes_per_block = block_threads / lanes_per_node;
/// Nodes with more edges are looked at by a thread block each.
constexpr Offset max_lane_edges = 512;

inline unsigned blocks_of_lanes(Offset nodes) { return simt::blocks_for(nodes, nodes_per_block); }
inline unsigned blocks_of_threads(Offset items) { return simt::blocks_for(items, block_threads); }

/// The lanes that share a node. All lanes of a warp call its functions.
struct LaneTeam {
  __device__ int rank() const { return simt::lane_id() % lanes_per_node; }
  static constexpr int size = lanes_per_node;

  template <class T, class Operation>
  __device__ T reduce(T value, Operation operation) const {
    return simt::warp_reduce<lanes_per_node>(value, operation);
  }
  template <class T>
  __device__ T exchange(T value, int distance) const {
    return simt::shuffle_xor(simt::full_mask, value, distance, lanes_per_node);
  }
};

/// Calls body(neighbour, weight) for the edges of a node that are this thread's, one in `size` from `rank` on.
template <class F>
__device__ __forceinline__ void each_edge(const GraphView& graph, Index node, int rank, int size, F&& body) {
  const Offset end = graph.end(node);
  for (Offset edge = graph.begin(node) + rank; edge < end; edge += size) {
    const Index neighbour = graph.neighbour(edge);
    if (neighbour != node) body(neighbour, graph.edge_weight(edge));
  }
}

template <class T>
__global__ void __launch_bounds__(block_threads) fill(Offset count, T value, T* to) {
  const Offset i = simt::global_thread_id();
  if (i < count) to[i] = value;
}

/// to[i] = from[index[i]].
template <class T>
__global__ void __launch_bounds__(block_threads) gather(Offset count, const Index* index, const T* from, T* to) {
  const Offset i = simt::global_thread_id();
  if (i < count) to[i] = from[index[i]];
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
