#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include <span>

#include "order/pattern.hpp"

namespace weft::ordering {

/// An undirected graph with weights, as partitioners see a matrix. No node is its own neighbour, each neighbour stands
/// once in a node's list, and an edge stands in both its nodes' lists with the same weight. Copies share the arrays.
struct NodeGraph {
  Index nodes = 0;
  Array<Offset> offsets = Array<Offset>(1, 0);  ///< nodes + 1
  Array<Index> neighbours;
  Array<Index> edge_weights;  ///< like neighbours; empty: 1 each
  Array<Index> node_weights;  ///< empty: 1 each

  Offset edges() const { return offsets[static_cast<std::size_t>(nodes)]; }  ///< each counted twice
  Index node_weight(Index node) const { return node_weights.empty() ? 1 : node_weights[node]; }

  /// Calls body(neighbour, weight) for each neighbour of a node.
  template <class F>
  void each_neighbour(Index node, F&& body) const {
    const Offset end = offsets[node + 1];
    if (edge_weights.empty())
      for (Offset edge = offsets[node]; edge < end; ++edge) body(neighbours[edge], Index(1));
    else
      for (Offset edge = offsets[node]; edge < end; ++edge) body(neighbours[edge], edge_weights[edge]);
  }
};

/// The graph of A + A^T for a square A, its rows taken `block` at a time as one node (the last one may have fewer). An
/// edge weighs as many entries as there are between its two nodes, or half as many if A's pattern is symmetric. Built
/// in parallel where that pays; the same for any number of threads.
NodeGraph node_graph(const Pattern& pattern, int block);

/// The graph of some nodes only, which get the numbers 0, 1, ... in the order given, and of the edges among them.
/// `number` has an element for each node of `graph`, all -1, and is left so.
NodeGraph subgraph(const NodeGraph& graph, std::span<const Index> nodes, Array<Index>& number);

}  // namespace weft::ordering
