// The partitioner's steps on the CPU.
#include <weft/error.hpp>

#include <atomic>
#include <limits>
#include <numeric>

#include "core/parallel.hpp"
#include "order/partition/multilevel/multilevel.hpp"

namespace weft::ordering::multilevel {
namespace {

constexpr Offset node_grain = 2048;

std::size_t size(Offset count) { return static_cast<std::size_t>(count); }

template <class T>
void add(T& to, T amount) {
  std::atomic_ref(to).fetch_add(amount, std::memory_order_relaxed);
}

struct HostLevel {
  NodeGraph graph;
  Array<Index> counts;     ///< nodes of the finest graph in each; empty: 1
  Array<Index> coarse_of;  ///< node of the next finer level -> its node here

  Index nodes() const { return graph.nodes; }
  Index count(Index node) const { return counts.empty() ? 1 : counts[node]; }
  Load load(Index node) const { return {graph.node_weight(node), count(node)}; }
};

class Matching {
 public:
  Matching(const NodeGraph& graph, Offset max_weight)
      : graph_(graph), max_weight_(max_weight), mate_(size(graph.nodes), nobody), choice_(size(graph.nodes)) {}

  Array<Index> run() {
    for (int round = 0; round < matching_rounds; ++round) {
      parallel_for(graph_.nodes, node_grain,
                   [&](Offset node) { choice_[node] = choose(static_cast<Index>(node), round); });
      parallel_for(graph_.nodes, node_grain, [&](Offset node) {
        const Index other = choice_[node];
        if (other != nobody && choice_[other] == node) mate_[node] = other;
      });
    }
    const auto alone = std::ranges::count(mate_, nobody);
    if (alone > graph_.nodes / 5) join_relatives();
    return std::move(mate_);
  }

 private:
  bool may_join(Index a, Index b) const { return Offset(graph_.node_weight(a)) + graph_.node_weight(b) <= max_weight_; }

  Index choose(Index node, int round) const {
    if (mate_[node] != nobody) return nobody;
    Wish best;
    graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
      if (weight < best.weight || mate_[neighbour] != nobody || !may_join(node, neighbour)) return;
      const Wish wish = Wish::of(node, neighbour, weight, round);
      if (wish.beats(best)) best = wish;
    });
    return best.node;
  }

  /// Many nodes around few, as in a star, find no mate among their neighbours: nodes with the same heaviest neighbour
  /// are joined, and nodes with none at all.
  void join_relatives() {
    parallel_for(graph_.nodes, node_grain, [&](Offset node) {
      Wish host;
      graph_.each_neighbour(static_cast<Index>(node), [&](Index neighbour, Index weight) {
        const Wish wish{neighbour, weight, 0};
        if (wish.beats(host)) host = wish;
      });
      choice_[node] = host.node;
    });
    multilevel::join_relatives(choice_, graph_.node_weights, max_weight_, mate_);
  }

  const NodeGraph& graph_;
  Offset max_weight_;
  Array<Index> mate_, choice_;
};

/// A table of the neighbours of one coarse node, for a thread to reuse.
class NeighbourTable {
 public:
  void clear(Offset max_neighbours) {
    std::size_t places = 16;
    while (places < size(2 * max_neighbours)) places *= 2;
    if (places_.size() < places) places_.assign(places, {nobody, 0});
    mask_ = places - 1;
    std::fill_n(places_.begin(), places, std::pair{nobody, Index(0)});
  }
  /// Where this neighbour is, among those found before; `next` if it is new.
  Index find(Index neighbour, Index next) {
    std::size_t at = scramble(static_cast<std::uint32_t>(neighbour)) & mask_;
    while (places_[at].first != nobody && places_[at].first != neighbour) at = (at + 1) & mask_;
    if (places_[at].first == nobody) places_[at] = {neighbour, next};
    return places_[at].second;
  }

 private:
  std::vector<std::pair<Index, Index>> places_;
  std::size_t mask_ = 0;
};

Index clamped_sum(Index a, Index b) {
  return static_cast<Index>(std::min<Offset>(Offset(a) + b, std::numeric_limits<Index>::max()));
}

/// One node where `fine` has two that are mates. Edges between the same two nodes become one.
HostLevel contract(const HostLevel& fine, const Array<Index>& mate) {
  const NodeGraph& graph = fine.graph;
  HostLevel coarse;
  // Coarse nodes are numbered as the first of their nodes.
  Array<Index> number(size(graph.nodes) + 1);
  parallel_for(graph.nodes, node_grain,
               [&](Offset node) { number[node] = mate[node] == nobody || mate[node] > node ? 1 : 0; });
  prefix_sum(number.data(), graph.nodes);
  const Index nodes = number[size(graph.nodes)];
  Array<Index> first(size(nodes));
  coarse.coarse_of = Array<Index>(size(graph.nodes));
  parallel_for(graph.nodes, node_grain, [&](Offset node) {
    const bool second = mate[node] != nobody && mate[node] < node;
    coarse.coarse_of[node] = number[second ? mate[node] : node];
    if (!second) first[number[node]] = static_cast<Index>(node);
  });

  coarse.graph.nodes = nodes;
  coarse.graph.node_weights = Array<Index>(size(nodes));
  coarse.counts = Array<Index>(size(nodes));
  const auto each_member = [&](Offset node, auto&& body) {
    body(first[node]);
    if (mate[first[node]] != nobody) body(mate[first[node]]);
  };
  // Where the edges of a coarse node would begin if none met another.
  Array<Offset> room(size(nodes) + 1);
  parallel_for(nodes, node_grain, [&](Offset node) {
    Offset edges = 0, weight = 0, count = 0;
    each_member(node, [&](Index member) {
      edges += graph.offsets[member + 1] - graph.offsets[member];
      weight += graph.node_weight(member);
      count += fine.count(member);
    });
    room[node] = edges;
    coarse.graph.node_weights[node] = static_cast<Index>(std::min<Offset>(weight, std::numeric_limits<Index>::max()));
    coarse.counts[node] = static_cast<Index>(count);
  });
  prefix_sum(room.data(), nodes);
  Array<Index> neighbours(size(graph.edges())), weights(size(graph.edges()));
  coarse.graph.offsets = Array<Offset>(size(nodes) + 1);
  parallel_ranges(nodes, node_grain, [&](Offset begin, Offset end) {
    NeighbourTable table;
    for (Offset node = begin; node < end; ++node) {
      const Offset start = room[node];
      Index found = 0;
      table.clear(room[node + 1] - start);
      each_member(node, [&](Index member) {
        graph.each_neighbour(member, [&](Index neighbour, Index weight) {
          const Index to = coarse.coarse_of[neighbour];
          if (to == node) return;
          const Index at = table.find(to, found);
          if (at == found) {
            neighbours[start + found] = to;
            weights[start + found++] = weight;
          } else {
            weights[start + at] = clamped_sum(weights[start + at], weight);
          }
        });
      });
      coarse.graph.offsets[node] = found;
    }
  });
  prefix_sum(coarse.graph.offsets.data(), nodes);
  coarse.graph.neighbours = Array<Index>(size(coarse.graph.edges()));
  coarse.graph.edge_weights = Array<Index>(size(coarse.graph.edges()));
  parallel_for(nodes, node_grain, [&](Offset node) {
    const Offset to = coarse.graph.offsets[node], edges = coarse.graph.offsets[node + 1] - to;
    std::copy_n(neighbours.data() + room[node], edges, coarse.graph.neighbours.data() + to);
    std::copy_n(weights.data() + room[node], edges, coarse.graph.edge_weights.data() + to);
  });
  return coarse;
}

/// Moves nodes between parts, round by round, and keeps the best parts seen.
class Refinement {
 public:
  Refinement(const HostLevel& level, const Bounds& bounds, bool finest, Index parts, Array<Index>& part_of)
      : level_(level),
        graph_(level.graph),
        bounds_(bounds),
        finest_(finest),
        parts_(parts),
        best_(part_of),
        part_of_(part_of.clone()),
        target_(size(graph_.nodes)),
        gain_(size(graph_.nodes)),
        own_(size(graph_.nodes)),
        outside_(size(graph_.nodes)),
        state_(size(graph_.nodes), changed),
        loads_(size(parts), Load{}),
        admitted_(size(parts)),
        was_full_(size(parts), 0),
        wanted_(size(parts) * buckets) {}

  void run(int rounds) {
    parallel_for(graph_.nodes, node_grain,
                 [&](Offset node) { add_load(part_of_[node], level_.load(static_cast<Index>(node)), 1); });
    Score best;
    int idle = 0;
    for (int round = 0;; ++round) {
      evaluate();
      const Score score = judge();
      if (round == 0) {
        best = score;
      } else {
        idle = score.clearly_beats(best) ? 0 : idle + 1;
        if (score.beats(best)) {
          best = score;
          best_ = part_of_.clone();
        }
      }
      if (round == rounds || idle == max_idle_rounds || !move(round)) break;
    }
  }

 private:
  // Of a node: whether a neighbour has moved since it was evaluated; whether it moved in the last round; whether it
  // is among the moves of this one.
  enum State : std::uint8_t { changed = 1, moved = 2, candidate = 4, leaving = 8 };

  bool full(Index part) const { return !loads_[part].within(bounds_.max); }

  void add_load(Index part, const Load& load, Offset sign) {
    add(loads_[part].weight, sign * load.weight);
    add(loads_[part].count, sign * load.count);
  }

  /// For each node that something changed for: which other part it has most edges to, and what it would gain there.
  void evaluate() {
    parallel_ranges(graph_.nodes, node_grain, [&](Offset begin, Offset end) {
      static thread_local std::vector<Offset> edges_to;
      static thread_local std::vector<Index> touched;
      edges_to.resize(std::max(edges_to.size(), size(parts_)), 0);
      for (Offset at = begin; at < end; ++at) {
        const auto node = static_cast<Index>(at);
        const Index own = part_of_[node];
        const bool from_full = full(own);
        if (!(state_[node] & changed) && !from_full && !was_full_[own]) continue;
        touched.clear();
        Offset all = 0;
        graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
          const Index part = part_of_[neighbour];
          if (edges_to[part] == 0) touched.push_back(part);
          edges_to[part] += weight;
          all += weight;
        });
        const Load load = level_.load(node);
        Index best = own;
        Offset most = -1;
        for (const Index part : touched) {
          if (part == own || (from_full && !(loads_[part] + load).within(bounds_.max))) continue;
          if (edges_to[part] > most || (edges_to[part] == most && part < best)) {
            best = part;
            most = edges_to[part];
          }
        }
        target_[node] = best;
        own_[node] = edges_to[own];
        gain_[node] = best == own ? 0 : most - edges_to[own];
        outside_[node] = all - edges_to[own];
        for (const Index part : touched) edges_to[part] = 0;
      }
    });
    for (Index part = 0; part < parts_; ++part) was_full_[part] = full(part);
  }

  Score judge() const {
    Score score;
    parallel_ranges(graph_.nodes, 1 << 16, [&](Offset begin, Offset end) {
      add(score.cut, std::accumulate(outside_.data() + begin, outside_.data() + end, Offset(0)));
    });
    for (const Load& load : loads_) {
      score.excess_weight += std::max<Offset>(0, load.weight - bounds_.max.weight);
      score.excess_count += std::max<Offset>(0, load.count - bounds_.max.count);
    }
    return score;
  }

  /// One round; false if no node moved.
  bool move(int round) {
    parallel_for(graph_.nodes, node_grain, [&](Offset node) {
      const std::uint8_t before = state_[node];
      const Index own = part_of_[node];
      const bool tries =
          target_[node] != own &&
          (full(own) || (!(before & moved) && (gain_[node] >= 0 || may_lose(-gain_[node], own_[node], finest_))));
      state_[node] = tries ? candidate : 0;
    });
    std::ranges::fill(wanted_, Load{});
    parallel_for(graph_.nodes, node_grain, [&](Offset at) {
      const auto node = static_cast<Index>(at);
      if (!is(node, candidate) || !(full(part_of_[node]) || gains_after_others(node))) return;
      set(node, leaving);
      want(target_[node], node, round);
    });
    admit([&](Index part) { return bounds_.max - loads_[part]; });
    drop_refused(round, target_);
    std::ranges::fill(wanted_, Load{});
    parallel_for(graph_.nodes, node_grain, [&](Offset node) {
      if (state_[node] & leaving) want(part_of_[node], static_cast<Index>(node), round);
    });
    admit([&](Index part) { return bounds_.may_leave(loads_[part]); });
    drop_refused(round, part_of_);
    std::atomic<bool> any = false;
    parallel_for(graph_.nodes, node_grain, [&](Offset at) {
      const auto node = static_cast<Index>(at);
      if (!is(node, leaving)) return;
      any.store(true, std::memory_order_relaxed);
      add_load(part_of_[node], level_.load(node), -1);
      add_load(target_[node], level_.load(node), 1);
      part_of_[node] = target_[node];
      set(node, changed | moved);
      graph_.each_neighbour(node, [&](Index neighbour, Index) { set(neighbour, changed); });
    });
    return any;
  }

  // Other threads look at a node, and change it, while its own does.
  bool is(Index node, State state) { return std::atomic_ref(state_[node]).load(std::memory_order_relaxed) & state; }
  void set(Index node, std::uint8_t bits) { std::atomic_ref(state_[node]).fetch_or(bits, std::memory_order_relaxed); }

  /// Whether a node still does not lose once its neighbours with better moves have made them.
  bool gains_after_others(Index node) {
    const Index own = part_of_[node], target = target_[node];
    Offset gain = gain_[node];
    graph_.each_neighbour(node, [&](Index neighbour, Index weight) {
      if (!is(neighbour, candidate)) return;
      if (gain_[neighbour] < gain_[node] || (gain_[neighbour] == gain_[node] && neighbour > node)) return;
      if (target_[neighbour] == own) gain -= weight;
      if (target_[neighbour] == target) gain += weight;
      if (part_of_[neighbour] == own) gain += weight;
      if (part_of_[neighbour] == target) gain -= weight;
    });
    return gain >= 0;
  }

  void want(Index part, Index node, int round) {
    Load& bucket = wanted_[size(part) * buckets + size(bucket_of(gain_[node], node, round))];
    add(bucket.weight, Offset(graph_.node_weight(node)));
    add(bucket.count, Offset(level_.count(node)));
  }

  /// For each part, how many buckets of moves there is room for.
  template <class F>
  void admit(F&& room_of) {
    parallel_for(parts_, 256, [&](Offset part) {
      const Load room = room_of(static_cast<Index>(part));
      Load sum;
      int bucket = 0;
      for (; bucket < buckets; ++bucket) {
        sum = sum + wanted_[size(part) * buckets + size(bucket)];
        if (!sum.within(room)) break;
      }
      admitted_[part] = bucket;
    });
  }

  void drop_refused(int round, const Array<Index>& part_asked) {
    parallel_for(graph_.nodes, node_grain, [&](Offset at) {
      const auto node = static_cast<Index>(at);
      if ((state_[node] & leaving) && bucket_of(gain_[node], node, round) >= admitted_[part_asked[node]])
        state_[node] = candidate;
    });
  }

  const HostLevel& level_;
  const NodeGraph& graph_;
  Bounds bounds_;
  bool finest_;
  Index parts_;
  Array<Index>& best_;
  Array<Index> part_of_, target_;
  Array<Offset> gain_, own_, outside_;  // by moving to the target; edges to the own part; edges to others
  Array<std::uint8_t> state_;
  Array<Load> loads_;
  Array<int> admitted_;
  Array<std::uint8_t> was_full_;
  Array<Load> wanted_;  // part by part, a bucket each
};

class HostSteps {
 public:
  using Level = HostLevel;
  using Parts = Array<Index>;

  HostSteps(const NodeGraph& graph, const PartSizes& sizes) : sizes_(sizes), nodes_(graph.nodes), total_weight_(0) {
    for (Index node = 0; node < graph.nodes; ++node) total_weight_ += graph.node_weight(node);
  }

  Offset total_weight() const { return total_weight_; }

  Level coarsen(const Level& level, Offset max_weight) const {
    return contract(level, Matching(level.graph, max_weight).run());
  }

  const NodeGraph& to_host(const Level& level) const { return level.graph; }
  Array<Point> load(Array<Point> points) const { return points; }

  Array<Point> carry(const Level& coarse, const Array<Point>& points, Index /*finer nodes*/) const {
    Array<Point> finer(coarse.coarse_of.size());
    parallel_for(static_cast<Offset>(finer.size()), node_grain,
                 [&](Offset node) { finer[node] = points[coarse.coarse_of[node]]; });
    return finer;
  }

  /// Each node goes to the middle of itself and its neighbours, which tells nodes at the same distance apart.
  void smooth(const Level& level, int passes, Array<Point>& points) const {
    for (int pass = 0; pass < passes; ++pass) {
      Array<Point> next(points.size());
      parallel_for(level.nodes(), node_grain, [&](Offset node) {
        std::array<Offset, dimensions> sum;
        for (int d = 0; d < dimensions; ++d) sum[d] = points[node][d];
        Offset count = 1;
        level.graph.each_neighbour(static_cast<Index>(node), [&](Index neighbour, Index) {
          for (int d = 0; d < dimensions; ++d) sum[d] += points[neighbour][d];
          ++count;
        });
        for (int d = 0; d < dimensions; ++d) next[node][d] = static_cast<Coordinate>(sum[d] / count);
      });
      points = std::move(next);
    }
  }

  Parts bisect(const Level& level, const Array<Point>& points, Index parts) const {
    return multilevel::bisect(points, level.graph.node_weights, parts, level.nodes(), Pulse());
  }

  Parts expand(const Level& coarse, const Parts& parts, Index /*finer nodes*/) const {
    Parts finer(coarse.coarse_of.size());
    parallel_for(static_cast<Offset>(finer.size()), node_grain,
                 [&](Offset node) { finer[node] = parts[coarse.coarse_of[node]]; });
    return finer;
  }

  void refine(const Level& level, int number, int rounds, Parts& parts) const {
    Refinement(level, bounds_for(total_weight_, nodes_, sizes_, number), number == 0, sizes_.parts, parts).run(rounds);
  }

  Array<Index> finish(Parts parts) const {
    scatter_surplus(sizes_.parts, static_cast<Index>(bounds_for(total_weight_, nodes_, sizes_, 0).max.count), parts);
    return parts;
  }

 private:
  PartSizes sizes_;
  Index nodes_;
  Offset total_weight_;
};

}  // namespace

void join_relatives(const Array<Index>& host, const Array<Index>& weights, Offset max_weight, Array<Index>& mate) {
  // The last one waits for each host, and in the end for those that have none.
  Array<Index> waiting(host.size() + 1, nobody);
  const auto weight = [&](Index node) { return weights.empty() ? Offset(1) : weights[node]; };
  for (Index node = 0; node < static_cast<Index>(host.size()); ++node) {
    if (mate[node] != nobody) continue;
    Index& other = waiting[host[node] == nobody ? host.size() : size(host[node])];
    if (other != nobody && weight(node) + weight(other) <= max_weight) {
      mate[node] = other;
      mate[other] = node;
      other = nobody;
    } else {
      other = node;
    }
  }
}

void scatter_surplus(Index parts, Index capacity, Array<Index>& part_of) {
  std::vector<Index> counts(size(parts), 0);
  for (const Index part : part_of) ++counts[part];
  if (std::ranges::all_of(counts, [&](Index count) { return count <= capacity; })) return;
  Index to = 0;
  for (Index& part : part_of) {
    if (counts[part] <= capacity) continue;
    while (to < parts && counts[to] >= capacity) ++to;
    if (to == parts) return;
    --counts[part];
    ++counts[to];
    part = to;
  }
}

}  // namespace weft::ordering::multilevel

namespace weft::ordering {

Array<Index> multilevel_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse) {
  using namespace multilevel;
  HostLevel finest{graph, {}, {}};
  if (sizes.even_entries) {
    finest.graph.node_weights = Array<Index>(size(graph.nodes));
    parallel_for(graph.nodes, node_grain, [&](Offset node) {
      finest.graph.node_weights[node] = static_cast<Index>(graph.offsets[node + 1] - graph.offsets[node] + 1);
    });
  }
  HostSteps steps(finest.graph, sizes);
  return find_parts(steps, std::move(finest), sizes, pulse);
}

}  // namespace weft::ordering
