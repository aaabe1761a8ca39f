// Weft's own partitioner:
// 1. the graph is made coarser until a part has about 20 nodes;
// 2. the coarsest graph is halved again and again, each half grown from a node at its rim;
// 3. on the way back to the finer graphs, nodes at the borders move to where they have most edges.
#include <cmath>
#include <vector>

#include "order/partition/methods.hpp"

namespace weft::ordering {
namespace {

constexpr Offset nodes_a_part = 20;

std::vector<Coarse> coarser_and_coarser(const NodeGraph& graph, Index parts, const Pulse& pulse) {
  const Offset enough = std::max<Offset>(64, nodes_a_part * parts);
  // Nodes much heavier than the mean could not be balanced.
  const Offset most_weight = std::max<Offset>(1, 3 * Offset(graph.nodes) / (2 * enough));
  std::vector<Coarse> levels;
  const NodeGraph* finest = &graph;
  double done = 0;
  while (finest->nodes > enough) {
    const double until = done + (1 - done) / 2;
    Coarse next = coarsen(*finest, most_weight, pulse.between(done, until));
    done = until;
    const bool pays = next.graph.nodes < finest->nodes - finest->nodes / 16;
    if (!pays) break;
    levels.push_back(std::move(next));
    finest = &levels.back().graph;
  }
  return levels;
}

/// Coarse nodes get some room to move, however tight the parts must be in the end.
Offset coarse_limit(const NodeGraph& coarse, Offset mean) {
  Offset heaviest = 1;
  for (const Index weight : coarse.node_weights) heaviest = std::max<Offset>(heaviest, weight);
  return mean + std::max(heaviest, mean / 33);
}

}  // namespace

Array<Index> grow_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse) {
  const Index parts = std::min(sizes.parts, graph.nodes);
  const Offset limit = balanced_limit(graph.nodes, sizes);
  const Offset mean = (graph.nodes + parts - 1) / parts;
  std::vector<Coarse> levels = coarser_and_coarser(graph, parts, pulse.between(0, 0.5));
  const NodeGraph& coarsest = levels.empty() ? graph : levels.back().graph;
  Array<Index> part_of = bisect(coarsest, parts, pulse.between(0.5, 0.6));
  const Pulse refining = pulse.between(0.6, 1);
  for (std::size_t level = levels.size();; --level) {
    const NodeGraph& here = level == 0 ? graph : levels[level - 1].graph;
    const Offset most = level == 0 ? limit : coarse_limit(here, mean);
    // Each level takes about as long as all coarser ones together.
    const double until = std::ldexp(1.0, -static_cast<int>(level));
    const Pulse share = refining.between(until / 2, until);
    repair(here, parts, most, part_of);
    refine(here, parts, most, part_of, share);
    if (level == 0) break;
    const Array<Index>& coarse_of = levels[level - 1].coarse_of;
    Array<Index> finer(coarse_of.size());
    for (std::size_t node = 0; node < finer.size(); ++node) finer[node] = part_of[coarse_of[node]];
    part_of = std::move(finer);
    levels.pop_back();
  }
  return part_of;
}

}  // namespace weft::ordering
