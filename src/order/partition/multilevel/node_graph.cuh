#pragma once
#include "facts/entry_tiles.cuh"
#include "order/partition/multilevel/contract.cuh"
#include "order/partition/multilevel/device.hpp"

// From the pattern of a matrix to the graph of its nodes. For gpu.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using ::weft::ordering::multilevel::NodesOnDevice;

/// Calls body(node, entries) for each node in whose columns the rows of `node` have entries, ascending: a thread.
template <class F>
__device__ void each_block(const NodesOnDevice& matrix, Offset node, F&& body) {
  const Offset first = node * matrix.block;
  const Offset last = first + matrix.block < matrix.rows ? first + matrix.block : matrix.rows;
  Index next = 0;  // the smallest column not yet seen
  for (;;) {
    Index column = 0x7fffffff;
    for (Offset row = first; row < last; ++row) {
      const Offset end = matrix.offsets[row + 1];
      const Offset place = facts::lower_bound(matrix.columns, matrix.offsets[row], end, next);
      if (place < end && matrix.columns[place] < column) column = matrix.columns[place];
    }
    if (column == 0x7fffffff) return;
    const Index other = column / matrix.block;
    const Offset right = (static_cast<Offset>(other) + 1) * matrix.block;
    const Index limit = right < 0x7fffffff ? static_cast<Index>(right) : 0x7fffffff;
    Offset entries = 0;
    for (Offset row = first; row < last; ++row) {
      const Offset begin = matrix.offsets[row], end = matrix.offsets[row + 1];
      entries += facts::lower_bound(matrix.columns, begin, end, limit) -
                 facts::lower_bound(matrix.columns, begin, end, other * matrix.block);
    }
    body(other, static_cast<Index>(entries < 0x7fffffff ? entries : 0x7fffffff));
    if (limit == 0x7fffffff) return;
    next = limit;
  }
}

/// Counts the neighbours of each node or, where `columns` is given, writes them and the entries of each.
__global__ void __launch_bounds__(block_threads)
    find_node_entries(NodesOnDevice matrix, Offset nodes, Offset* offsets, Index* columns, Index* entries) {
  const Offset node = simt::global_thread_id();
  if (node >= nodes) return;
  Offset to = columns ? offsets[node] : 0;
  each_block(matrix, node, [&](Index other, Index count) {
    if (other == node) return;
    if (columns) {
      columns[to] = other;
      entries[to] = count;
    }
    ++to;
  });
  if (!columns) offsets[node] = to;
}

/// Whether some weight differs from the first.
__global__ void __launch_bounds__(block_threads) compare_weights(Offset edges, const Index* weights, Index* differ) {
  const Offset edge = simt::global_thread_id();
  if (edge < edges && weights[edge] != weights[0]) *differ = 1;
}

/// How many edges end at each node, added to `degrees`.
__global__ void __launch_bounds__(block_threads) count_ends(GraphView graph, Offset* degrees) {
  const Offset node = simt::global_thread_id() / lanes_per_node;
  if (node >= graph.nodes) return;
  each_edge(graph, static_cast<Index>(node), LaneTeam().rank(), LaneTeam::size, [&](Index neighbour, Index) {
    simt::atomic_add(degrees[neighbour], Offset(1));
    simt::atomic_add(degrees[node], Offset(1));
  });
}

/// Writes each edge to the lists of both its ends; `next` are where those go on.
__global__ void __launch_bounds__(block_threads)
    list_both_ways(GraphView graph, Offset* next, Index* neighbours, Index* weights) {
  const Offset node = simt::global_thread_id() / lanes_per_node;
  if (node >= graph.nodes) return;
  each_edge(graph, static_cast<Index>(node), LaneTeam().rank(), LaneTeam::size, [&](Index neighbour, Index weight) {
    const Offset there = simt::atomic_add(next[neighbour], Offset(1)), here = simt::atomic_add(next[node], Offset(1));
    neighbours[there] = static_cast<Index>(node);
    neighbours[here] = neighbour;
    weights[there] = weights[here] = weight;
  });
}

/// 1 and the edges of each node, loops aside; `all` is their sum.
__global__ void __launch_bounds__(block_threads) weigh_by_entries(GraphView graph, Index* weights, Offset* all) {
  const Offset node = simt::global_thread_id();
  Index weight = 0;
  if (node < graph.nodes) {
    weight = 1;
    // Neighbours are ascending in the pattern of a matrix and elsewhere there are no loops, but a search would pay only
    // for long rows.
    each_edge(graph, static_cast<Index>(node), 0, 1, [&](Index, Index) { ++weight; });
    weights[node] = weight;
  }
  const Offset sum = simt::block_reduce_sum(static_cast<Offset>(weight));
  if (threadIdx.x == 0) simt::atomic_add(*all, sum);
}

__global__ void __launch_bounds__(block_threads) count_to(Offset count, Index* numbers) {
  const Offset i = simt::global_thread_id();
  if (i < count) numbers[i] = static_cast<Index>(i);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
