#include <vector>

#include "order/partition/methods.hpp"

namespace weft::ordering {
namespace {

constexpr int most_passes = 8;
constexpr double least_share = 0.8;  // of the mean: no part is drained below it
constexpr std::size_t pulse_nodes = 1 << 16;

class Refinement {
 public:
  Refinement(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of)
      : graph_(graph),
        most_weight_(most_weight),
        part_of_(part_of),
        weights_(static_cast<std::size_t>(parts), 0),
        edges_to_(static_cast<std::size_t>(parts), 0),
        queued_(static_cast<std::size_t>(graph.nodes), 0) {
    Offset total = 0;
    for (Index node = 0; node < graph.nodes; ++node) {
      weights_[part_of[node]] += graph.node_weight(node);
      total += graph.node_weight(node);
    }
    least_weight_ = static_cast<Offset>(least_share * static_cast<double>(total) / parts);
  }

  void run(const Pulse& pulse) {
    for (Index node = 0; node < graph_.nodes; ++node) {
      if (static_cast<std::size_t>(node) % pulse_nodes == 0) pulse(0.5 * node / graph_.nodes);
      consider(node);
    }
    // From then on only what stands near a node that moved can have changed its mind.
    for (int pass = 1; pass < most_passes && !next_.empty(); ++pass) {
      pulse(0.5 + 0.5 * pass / most_passes);
      current_.swap(next_);
      next_.clear();
      for (const Index node : current_) queued_[node] = 0;
      for (const Index node : current_) consider(node);
    }
  }

 private:
  void consider(Index node) {
    const Index own = part_of_[node];
    touched_.clear();
    graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
      const Index part = part_of_[neighbour];
      if (edges_to_[part] == 0 && part != own) touched_.push_back(part);
      edges_to_[part] += weight;
    });
    const Index best = best_part(own, graph_.node_weight(node));
    const Offset gain = best == own ? 0 : edges_to_[best] - edges_to_[own];
    for (const Index part : touched_) edges_to_[part] = 0;
    edges_to_[own] = 0;
    if (best == own) return;
    const Offset weight = graph_.node_weight(node);
    if (weights_[own] - weight < least_weight_) return;
    if (gain < 0 || (gain == 0 && weights_[best] + weight >= weights_[own])) return;
    weights_[own] -= weight;
    weights_[best] += weight;
    part_of_[node] = best;
    graph_.each_neighbour(node, [&](Index neighbour, Index) { queue(neighbour); });
  }

  /// The neighbouring part with most edges that has room, of several the lightest; `own` when there is none.
  Index best_part(Index own, Offset weight) const {
    Index best = own;
    for (const Index part : touched_) {
      if (weights_[part] + weight > most_weight_) continue;
      if (best == own || edges_to_[part] > edges_to_[best] ||
          (edges_to_[part] == edges_to_[best] && weights_[part] < weights_[best]))
        best = part;
    }
    return best;
  }

  void queue(Index node) {
    if (queued_[node]) return;
    queued_[node] = 1;
    next_.push_back(node);
  }

  const NodeGraph& graph_;
  Offset most_weight_, least_weight_ = 0;
  Array<Index>& part_of_;
  std::vector<Offset> weights_, edges_to_;
  std::vector<Index> touched_, current_, next_;
  std::vector<char> queued_;
};

}  // namespace

void refine(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of, const Pulse& pulse) {
  Refinement(graph, parts, most_weight, part_of).run(pulse);
}

}  // namespace weft::ordering
