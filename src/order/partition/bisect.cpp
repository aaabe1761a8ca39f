// Two halves grown level by level and refined as Fiduccia and Mattheyses (1982) do it, then halves of the halves.
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "order/partition/methods.hpp"

namespace weft::ordering {
namespace {

constexpr int most_passes = 6;

class Halves {
 public:
  /// Half 0 is to weigh `target`, and both are to be within `slack` of what they should weigh.
  Halves(const NodeGraph& graph, Offset total, Offset target, Offset slack)
      : graph_(graph),
        target_{target, total - target},
        slack_(slack),
        half_of_(size(), 1),
        gain_(size(), 0),
        locked_(size(), 0) {}

  void grow(Index start) {
    std::fill(half_of_.begin(), half_of_.end(), std::uint8_t{1});
    weight_[0] = 0;
    weight_[1] = target_[0] + target_[1];
    std::priority_queue<std::pair<Offset, Index>> best;
    std::vector<Offset> offered(size(), none);
    Index next_free = 0;
    const auto take = [&](Index node) {
      half_of_[node] = 0;
      weight_[0] += graph_.node_weight(node);
      weight_[1] -= graph_.node_weight(node);
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        if (half_of_[neighbour] == 0) return;
        // Twice the edges to the half, less all edges: what the cut would gain.
        if (offered[neighbour] == none) {
          offered[neighbour] = 0;
          graph_.each_neighbour(neighbour, [&](Index, Index w) { offered[neighbour] -= w; });
        }
        offered[neighbour] += 2 * Offset(weight);
        best.emplace(offered[neighbour], -neighbour);
      });
    };
    if (weight_[0] + graph_.node_weight(start) / 2 <= target_[0]) take(start);
    while (weight_[0] < target_[0]) {
      Index node = -1;
      while (!best.empty() && node < 0) {
        const Index candidate = -best.top().second;
        best.pop();
        if (half_of_[candidate] == 1) node = candidate;
      }
      for (; node < 0 && next_free < graph_.nodes; ++next_free)
        if (half_of_[next_free] == 1) node = next_free;
      if (node < 0 || weight_[0] + graph_.node_weight(node) / 2 > target_[0]) break;
      take(node);
    }
  }

  void improve() {
    for (int pass = 0; pass < most_passes; ++pass)
      if (!one_pass()) return;
  }

  Offset cut() const {
    Offset sum = 0;
    for (Index node = 0; node < graph_.nodes; ++node)
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        if (half_of_[neighbour] != half_of_[node]) sum += weight;
      });
    return sum;
  }
  const std::vector<std::uint8_t>& half_of() const { return half_of_; }

 private:
  static constexpr Offset none = std::numeric_limits<Offset>::min();
  using Queue = std::priority_queue<std::pair<Offset, Index>>;
  std::size_t size() const { return static_cast<std::size_t>(graph_.nodes); }

  Offset imbalance() const { return std::max<Offset>(0, std::abs(weight_[0] - target_[0]) - slack_); }

  /// Moves nodes one by one, the best first even if it makes the cut larger, and goes back to where it was best.
  bool one_pass() {
    Queue queues[2];
    for (Index node = 0; node < graph_.nodes; ++node) {
      locked_[node] = 0;
      bool at_border = false;
      gain_[node] = 0;
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        const bool across = half_of_[neighbour] != half_of_[node];
        gain_[node] += across ? weight : -Offset(weight);
        at_border |= across;
      });
      if (at_border) queues[half_of_[node]].emplace(gain_[node], -node);
    }
    const Index patience = std::max<Index>(50, graph_.nodes / 50);
    std::vector<Index> moved;
    std::size_t kept = 0;
    Offset gained = 0, best_gained = 0, best_imbalance = imbalance();
    while (moved.size() - kept < static_cast<std::size_t>(patience)) {
      const Index node = next_move(queues);
      if (node < 0) break;
      gained += gain_[node];
      move(node);
      locked_[node] = 1;
      moved.push_back(node);
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        if (locked_[neighbour]) return;
        gain_[neighbour] += half_of_[neighbour] == half_of_[node] ? -2 * Offset(weight) : 2 * Offset(weight);
        queues[half_of_[neighbour]].emplace(gain_[neighbour], -neighbour);
      });
      const Offset now = imbalance();
      if (now < best_imbalance || (now == best_imbalance && gained > best_gained)) {
        best_imbalance = now;
        best_gained = gained;
        kept = moved.size();
      }
    }
    for (std::size_t i = moved.size(); i > kept; --i) move(moved[i - 1]);
    return kept > 0;
  }

  /// The better of the two queues' best whose move the weights allow.
  Index next_move(Queue (&queues)[2]) {
    Index best = -1;
    int from = 0;
    for (int half = 0; half < 2; ++half) {
      Queue& queue = queues[half];
      while (!queue.empty()) {
        const auto [gain, negative] = queue.top();
        const Index node = -negative;
        if (!locked_[node] && half_of_[node] == half && gain_[node] == gain && allowed(node)) break;
        queue.pop();
      }
      if (queue.empty()) continue;
      const Index node = -queue.top().second;
      if (best >= 0 && (gain_[node] < gain_[best] || (gain_[node] == gain_[best] && weight_[half] <= weight_[from])))
        continue;
      best = node;
      from = half;
    }
    if (best >= 0) queues[from].pop();
    return best;
  }

  bool allowed(Index node) const {
    const int to = 1 - half_of_[node];
    return weight_[to] + graph_.node_weight(node) <= target_[to] + slack_ || weight_[1 - to] > target_[1 - to] + slack_;
  }

  void move(Index node) {
    const int from = half_of_[node];
    weight_[from] -= graph_.node_weight(node);
    weight_[1 - from] += graph_.node_weight(node);
    half_of_[node] = static_cast<std::uint8_t>(1 - from);
  }

  const NodeGraph& graph_;
  Offset target_[2];
  Offset slack_;
  Offset weight_[2] = {0, 0};
  std::vector<std::uint8_t> half_of_;
  std::vector<Offset> gain_;
  std::vector<std::uint8_t> locked_;
};

/// The node that a breadth-first search from `start` meets last.
Index furthest_from(const NodeGraph& graph, Index start) {
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(graph.nodes), 0);
  std::vector<Index> line = {start};
  seen[start] = 1;
  for (std::size_t next = 0; next < line.size(); ++next)
    graph.each_neighbour(line[next], [&](Index neighbour, Index) {
      if (seen[neighbour]) return;
      seen[neighbour] = 1;
      line.push_back(neighbour);
    });
  return line.back();
}

class Bisection {
 public:
  Bisection(const NodeGraph& graph, Index parts, const Pulse& pulse)
      : graph_(graph), pulse_(pulse), all_parts_(parts), part_of_(static_cast<std::size_t>(graph.nodes)) {}

  Array<Index> run() {
    std::vector<Index> nodes(part_of_.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<Index>(i);
    number_ = Array<Index>(nodes.size(), -1);
    split(nodes, 0, all_parts_);
    return part_of_;
  }

 private:
  void split(const std::vector<Index>& nodes, Index first_part, Index parts) {
    if (parts == 1 || nodes.empty()) {
      for (const Index node : nodes) part_of_[node] = first_part;
      pulse_(double(first_part + parts) / all_parts_);
      return;
    }
    pulse_(double(first_part) / all_parts_);
    const Index left_parts = parts / 2;
    const std::vector<std::uint8_t> half_of = halve(subgraph(graph_, nodes, number_), left_parts, parts);
    std::vector<Index> halves[2];
    for (std::size_t i = 0; i < nodes.size(); ++i) halves[half_of[i]].push_back(nodes[i]);
    split(halves[0], first_part, left_parts);
    split(halves[1], first_part + left_parts, parts - left_parts);
  }

  static std::vector<std::uint8_t> halve(const NodeGraph& graph, Index left_parts, Index parts) {
    Offset total = 0, heaviest = 0;
    for (Index node = 0; node < graph.nodes; ++node) {
      total += graph.node_weight(node);
      heaviest = std::max<Offset>(heaviest, graph.node_weight(node));
    }
    const Offset target = total / parts * left_parts + total % parts * left_parts / parts;
    const Offset slack = std::max<Offset>(total / parts / 50, heaviest / 2);
    Halves halves(graph, total, target, slack);
    std::vector<std::uint8_t> best;
    Offset least = 0;
    // From both ends: the two differ where the graph is not alike there.
    const Index rim = furthest_from(graph, 0);
    const Index starts[] = {rim, furthest_from(graph, rim)};
    for (const Index start : starts) {
      halves.grow(start);
      halves.improve();
      const Offset cut = halves.cut();
      if (best.empty() || cut < least) {
        least = cut;
        best = halves.half_of();
      }
    }
    return best;
  }

  const NodeGraph& graph_;
  const Pulse& pulse_;
  Index all_parts_;
  Array<Index> part_of_;
  Array<Index> number_;
};

}  // namespace

Array<Index> bisect(const NodeGraph& graph, Index parts, const Pulse& pulse) {
  return Bisection(graph, parts, pulse).run();
}

}  // namespace weft::ordering
