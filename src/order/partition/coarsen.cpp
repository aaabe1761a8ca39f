// Heavy-edge matching (Karypis and Kumar 1998): what is joined early stays together, so the heaviest edges are hidden
// from the cut, and clusters become compact.
#include <utility>

#include "order/partition/methods.hpp"

namespace weft::ordering {
namespace {

constexpr Index nobody = -1;
constexpr Index pulse_nodes = 1 << 16;

class Matching {
 public:
  Matching(const NodeGraph& graph, Offset most_weight)
      : graph_(graph), most_weight_(most_weight), mate_(static_cast<std::size_t>(graph.nodes), nobody) {}

  Array<Index> run(const Pulse& pulse) {
    Index alone = 0;
    for (Index node = 0; node < graph_.nodes; ++node) {
      if (node % pulse_nodes == 0) pulse(static_cast<double>(node) / graph_.nodes);
      if (mate_[node] != nobody) continue;
      const Index best = heaviest_free_neighbour(node);
      if (best == nobody)
        ++alone;
      else
        join(node, best);
    }
    // Many nodes around few (a star) find no partner among their neighbours.
    if (alone > graph_.nodes / 5) match_strangers();
    return mate_;
  }

 private:
  bool may_join(Index a, Index b) const {
    return Offset(graph_.node_weight(a)) + graph_.node_weight(b) <= most_weight_;
  }
  void join(Index a, Index b) {
    mate_[a] = b;
    mate_[b] = a;
  }
  Index heaviest_free_neighbour(Index node) const {
    Index best = nobody, heaviest = 0;
    graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
      if (weight > heaviest && mate_[neighbour] == nobody && may_join(node, neighbour)) {
        heaviest = weight;
        best = neighbour;
      }
    });
    return best;
  }

  /// Joins nodes with the same heaviest neighbour, and nodes with none at all.
  void match_strangers() {
    Array<Index> waiting(static_cast<std::size_t>(graph_.nodes), nobody);
    Index without_neighbours = nobody;
    for (Index node = 0; node < graph_.nodes; ++node) {
      if (mate_[node] != nobody) continue;
      Index host = nobody, heaviest = 0;
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        if (weight > heaviest) {
          heaviest = weight;
          host = neighbour;
        }
      });
      Index& other = host == nobody ? without_neighbours : waiting[host];
      if (other != nobody && may_join(node, other)) {
        join(node, other);
        other = nobody;
      } else {
        other = node;
      }
    }
  }

  const NodeGraph& graph_;
  Offset most_weight_;
  Array<Index> mate_;
};

Index clamped_sum(Index a, Index b) {
  return static_cast<Index>(std::min<Offset>(Offset(a) + b, std::numeric_limits<Index>::max()));
}

/// The graph of the pairs. Edges between the same two pairs become one.
NodeGraph contract(const NodeGraph& graph, const Array<Index>& mate, const Array<Index>& coarse_of, Index nodes) {
  NodeGraph coarse;
  coarse.nodes = nodes;
  coarse.offsets = Array<Offset>(static_cast<std::size_t>(nodes) + 1);
  coarse.node_weights = Array<Index>(static_cast<std::size_t>(nodes));
  // Room for as many edges as before: pages that nobody writes to take no memory.
  coarse.neighbours = Array<Index>(static_cast<std::size_t>(graph.edges()));
  coarse.edge_weights = Array<Index>(static_cast<std::size_t>(graph.edges()));
  Array<Offset> place(static_cast<std::size_t>(nodes), -1);  // where an edge to this node stands, if after `begin`
  Offset end = 0;
  Index next = 0;
  for (Index node = 0; node < graph.nodes; ++node) {
    if (mate[node] != nobody && mate[node] < node) continue;
    const Index self = next++;
    const Offset begin = end;
    const auto take = [&](Index neighbour, Index weight) {
      const Index to = coarse_of[neighbour];
      if (to == self) return;
      if (place[to] >= begin) {
        coarse.edge_weights[place[to]] = clamped_sum(coarse.edge_weights[place[to]], weight);
      } else {
        place[to] = end;
        coarse.neighbours[end] = to;
        coarse.edge_weights[end++] = weight;
      }
    };
    graph.each_neighbour(node, take);
    coarse.node_weights[self] = graph.node_weight(node);
    if (mate[node] != nobody) {
      graph.each_neighbour(mate[node], take);
      coarse.node_weights[self] += graph.node_weight(mate[node]);
    }
    coarse.offsets[self] = begin;
  }
  coarse.offsets[nodes] = end;
  return coarse;
}

}  // namespace

Coarse coarsen(const NodeGraph& graph, Offset most_weight, const Pulse& pulse) {
  const Array<Index> mate = Matching(graph, most_weight).run(pulse.between(0, 0.4));
  Coarse result;
  result.coarse_of = Array<Index>(static_cast<std::size_t>(graph.nodes));
  Index nodes = 0;
  for (Index node = 0; node < graph.nodes; ++node) {
    const bool is_second = mate[node] != nobody && mate[node] < node;
    result.coarse_of[node] = is_second ? result.coarse_of[mate[node]] : nodes++;
  }
  result.graph = contract(graph, mate, result.coarse_of, nodes);
  pulse(1);
  return result;
}

}  // namespace weft::ordering
