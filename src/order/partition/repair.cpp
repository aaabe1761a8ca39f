#include <queue>
#include <utility>
#include <vector>

#include "order/partition/methods.hpp"

namespace weft::ordering {
namespace {

class Repair {
 public:
  Repair(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of)
      : graph_(graph), parts_(parts), most_weight_(most_weight), part_of_(part_of), weights_(size(parts), 0) {
    for (Index node = 0; node < graph.nodes; ++node) weights_[part_of[node]] += graph.node_weight(node);
  }

  void run() {
    std::vector<Index> full;
    for (Index part = 0; part < parts_; ++part)
      if (weights_[part] > most_weight_) full.push_back(part);
    if (full.empty()) return;
    find_members();
    find_borders();
    // A way that could not be gone is not tried again, so this ends; the bound is for nodes of uneven weights, which
    // might go to and fro.
    for (Offset tries = 0; tries < 16 * Offset(parts_) + 64 && !full.empty(); ++tries) {
      if (weights_[full.back()] <= most_weight_) {
        full.pop_back();
        continue;
      }
      const std::vector<Index> way = way_to_room(full.back());
      if (way.empty()) break;
      push_along(way);
      for (const Index part : way)
        if (part != way.front() && weights_[part] > most_weight_) full.push_back(part);
    }
    scatter();
  }

 private:
  static std::size_t size(Index count) { return static_cast<std::size_t>(count); }

  void find_members() {
    members_.resize(size(parts_));
    for (Index node = 0; node < graph_.nodes; ++node) members_[part_of_[node]].push_back(node);
  }

  void find_borders() {
    borders_.resize(size(parts_));
    came_from_.assign(size(parts_), -1);
    std::vector<Index> seen_from(size(parts_), -1);
    for (Index part = 0; part < parts_; ++part)
      for (const Index node : members_[part])
        graph_.each_neighbour(node, [&](Index neighbour, Index) {
          const Index other = part_of_[neighbour];
          if (other == part || seen_from[other] == part) return;
          seen_from[other] = part;
          borders_[part].push_back(other);
        });
  }

  /// The parts from `full` to the nearest one with room, over borders; empty when there is none.
  std::vector<Index> way_to_room(Index full) {
    line_.assign(1, full);
    came_from_[full] = full;
    std::vector<Index> way;
    for (std::size_t next = 0; next < line_.size() && way.empty(); ++next) {
      Index part = line_[next];
      if (weights_[part] < most_weight_) {
        way.push_back(part);
        while (part != full) way.push_back(part = came_from_[part]);
        std::reverse(way.begin(), way.end());
        break;
      }
      for (const Index other : borders_[part])
        if (came_from_[other] < 0) {
          came_from_[other] = part;
          line_.push_back(other);
        }
    }
    for (const Index part : line_) came_from_[part] = -1;
    return way;
  }

  void push_along(const std::vector<Index>& way) {
    const Offset room = most_weight_ - weights_[way.back()];
    const Offset amount = std::min(room, weights_[way.front()] - most_weight_);
    for (std::size_t i = 0; i + 1 < way.size(); ++i) {
      if (push(way[i], way[i + 1], amount) >= amount) continue;
      std::erase(borders_[way[i]], way[i + 1]);
      return;
    }
  }

  /// Moves nodes of this weight, or as many as hang together with part `to`, and says how much that was.
  Offset push(Index from, Index to, Offset amount) {
    std::priority_queue<std::pair<Offset, Index>> best;  // by what the cut gains, then by number: no chance in it
    const auto offer = [&](Index node) {
      Offset gain = 0;
      bool touches = false;
      graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
        if (part_of_[neighbour] == to) {
          gain += weight;
          touches = true;
        } else if (part_of_[neighbour] == from) {
          gain -= weight;
        }
      });
      if (touches) best.emplace(gain, node);
    };
    std::erase_if(members_[from], [&](Index node) { return part_of_[node] != from; });
    for (const Index node : members_[from]) offer(node);
    Offset moved = 0;
    while (moved < amount && !best.empty()) {
      const Index node = best.top().second;
      best.pop();
      if (part_of_[node] != from) continue;  // offered several times, moved already
      move(node, to);
      moved += graph_.node_weight(node);
      graph_.each_neighbour(node, [&](Index neighbour, Index) {
        if (part_of_[neighbour] == from) offer(neighbour);
      });
    }
    return moved;
  }

  void move(Index node, Index to) {
    const Offset weight = graph_.node_weight(node);
    weights_[part_of_[node]] -= weight;
    weights_[to] += weight;
    part_of_[node] = to;
    members_[to].push_back(node);
  }

  /// What is left has no way to any room: into whatever part has some.
  void scatter() {
    Index to = 0;
    for (Index node = 0; node < graph_.nodes; ++node) {
      if (weights_[part_of_[node]] <= most_weight_) continue;
      const Offset weight = graph_.node_weight(node);
      Index tried = 0;
      for (; tried < parts_ && weights_[to] + weight > most_weight_; ++tried) to = to + 1 == parts_ ? 0 : to + 1;
      if (tried == parts_) return;
      move(node, to);
    }
  }

  const NodeGraph& graph_;
  Index parts_;
  Offset most_weight_;
  Array<Index>& part_of_;
  std::vector<Offset> weights_;
  std::vector<std::vector<Index>> members_;
  std::vector<std::vector<Index>> borders_;  // parts that have been found to touch
  std::vector<Index> came_from_, line_;      // of the search for room
};

}  // namespace

void repair(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of) {
  Repair(graph, parts, most_weight, part_of).run();
}

}  // namespace weft::ordering
