// Reverse Cuthill-McKee: the nodes of each component of the graph level by level from a node at its rim, neighbours
// of few neighbours first, and in the end the other way round.
#include <algorithm>

#include "core/progress_meter.hpp"
#include "order/graph.hpp"
#include "order/methods.hpp"
#include "order/regroup.hpp"

namespace weft::ordering {
namespace {

class CuthillMcKee {
 public:
  CuthillMcKee(const Graph& graph, const Progress& progress)
      : graph_(graph),
        order_(static_cast<std::size_t>(graph.nodes())),
        level_(static_cast<std::size_t>(graph.nodes()), unseen),
        meter_(progress, graph.nodes()) {}

  Array<Index> run() {
    for (const Index node : by_degree())
      if (level_[node] == unseen) number_component(node);
    std::reverse(order_.begin(), order_.end());
    return order_;
  }

 private:
  static constexpr Index unseen = -1;

  /// So that each component is entered where it has few neighbours, at its rim more likely than in its middle.
  Array<Index> by_degree() const {
    Array<Index> nodes(static_cast<std::size_t>(graph_.nodes()));
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<Index>(i);
    return regroup(nodes, Offset(graph_.nodes()) + 1, [&](Index node) { return graph_.degree(node); });
  }

  bool before(Index a, Index b) const {
    const Offset degree_a = graph_.degree(a), degree_b = graph_.degree(b);
    return degree_a != degree_b ? degree_a < degree_b : a < b;
  }

  /// Fills order_ from done_ on with the nodes of the component, level by level, and says where the last level begins.
  template <bool Sorted>
  Index walk(Index start) {
    Index end = done_, begin_of_level = done_;
    order_[end++] = start;
    level_[start] = 0;
    for (Index next = done_; next < end; ++next) {
      const Index node = order_[next];
      if (level_[node] != level_[order_[begin_of_level]]) begin_of_level = next;
      const Index first_new = end;
      for (const Index neighbour : graph_.neighbours(node))
        if (level_[neighbour] == unseen) {
          level_[neighbour] = level_[node] + 1;
          order_[end++] = neighbour;
        }
      if (Sorted && end - first_new > 1)
        std::sort(order_.data() + first_new, order_.data() + end, [&](Index a, Index b) { return before(a, b); });
      if (next % 4096 == 0) meter_.poll();
    }
    component_end_ = end;
    return begin_of_level;
  }

  void forget_component() {
    for (Index i = done_; i < component_end_; ++i) level_[order_[i]] = unseen;
  }

  /// A node with no other much further away than from it (George and Liu 1979): of those furthest away the one with the
  /// fewest neighbours, again and again as long as that leads further.
  Index rim_of_component(Index start) {
    Index deepest = -1;
    for (int tries = 0; tries < 8; ++tries) {
      const Index last_level = walk<false>(start);
      const Index depth = level_[order_[last_level]];
      const Index furthest = *std::min_element(order_.data() + last_level, order_.data() + component_end_,
                                               [&](Index a, Index b) { return before(a, b); });
      forget_component();
      if (depth <= deepest) break;
      deepest = depth;
      start = furthest;
    }
    return start;
  }

  void number_component(Index start) {
    if (graph_.degree(start) > 0) start = rim_of_component(start);
    walk<true>(start);
    meter_.add(component_end_ - done_);
    done_ = component_end_;
  }

  const Graph& graph_;
  Array<Index> order_;
  Array<Index> level_;
  io::ProgressMeter meter_;
  Index done_ = 0;
  Index component_end_ = 0;
};

}  // namespace

Array<Index> reverse_cuthill_mckee(const Pattern& pattern, const Progress& progress) {
  const Graph graph(pattern);
  return CuthillMcKee(graph, progress).run();
}

}  // namespace weft::ordering
