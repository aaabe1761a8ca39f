#pragma once
#include "order/partition/multilevel/graph.cuh"
#include "order/partition/multilevel/multilevel.hpp"

// Rounds of moves between parts. For gpu.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using ::weft::ordering::multilevel::Bounds;
using ::weft::ordering::multilevel::bucket_of;
using ::weft::ordering::multilevel::buckets;
using ::weft::ordering::multilevel::may_lose;
using ::weft::ordering::multilevel::Score;

// Of a node: whether a neighbour has moved since it was evaluated; whether it moved in the last round; whether it is
// among the moves of this one.
enum State : Index { changed = 1, moved = 2, candidate = 4, leaving = 8 };

/// What the rounds decide by themselves, so that the host need not wait for each.
struct Control {
  Score now, best;
  Index idle = 0;
  Index any_moved = 1;
  Index stop = 0;
  Index keep = 0;     ///< the parts are the best so far
  Index special = 0;  ///< nodes listed for evaluate_special
};

constexpr unsigned special_blocks = 64;

struct Refinement {
  GraphView graph;
  Bounds bounds;
  bool finest = false;
  Index parts = 0;
  // Per node.
  Index* part_of = nullptr;
  Index* best = nullptr;
  Index* target = nullptr;
  Index* state = nullptr;
  Offset* gain = nullptr;
  Offset* own = nullptr;
  Offset* outside = nullptr;
  Index* special = nullptr;
  // Per part.
  Load* loads = nullptr;
  Index* was_full = nullptr;
  Index* admitted = nullptr;
  Load* arriving = nullptr;  // buckets of each part
  Load* departing = nullptr;
  Offset* special_sums = nullptr;  // per block of evaluate_special; zero between uses
  Control* control = nullptr;

  __device__ bool full(Index part) const { return !loads[part].within(bounds.max); }
  __device__ bool needs_evaluation(Index node) const {
    const Index part = part_of[node];
    return (state[node] & changed) != 0 || was_full[part] != 0 || full(part);
  }
  __device__ void add_load(Index part, const Load& load, Offset sign) const {
    simt::atomic_add(loads[part].weight, sign * load.weight);
    simt::atomic_add(loads[part].count, sign * load.count);
  }
  __device__ void want(Load* of_part, Index node, int round) const {
    const Load load = graph.load(node);
    Load& bucket = of_part[bucket_of(gain[node], node, round)];
    simt::atomic_add(bucket.weight, load.weight);
    simt::atomic_add(bucket.count, load.count);
  }
};

__global__ void __launch_bounds__(block_threads) start_refinement(Refinement refinement) {
  const Offset node = simt::global_thread_id();
  if (node >= refinement.graph.nodes) return;
  refinement.state[node] = changed;
  refinement.best[node] = refinement.part_of[node];
  refinement.add_load(refinement.part_of[node], refinement.graph.load(node), 1);
}

/// The other part that a node has most edges to: of equals, the first.
struct Favourite {
  Index part = 0x7fffffff;
  Offset edges = -1;
  __device__ void take(Index other, Offset its_edges) {
    if (its_edges > edges || (its_edges == edges && other < part)) {
      part = other;
      edges = its_edges;
    }
  }
};

__device__ inline void store_evaluation(const Refinement& refinement, Index node, const Favourite& favourite,
                                        Offset own_edges, Offset all_edges) {
  const bool any = favourite.edges >= 0;
  refinement.target[node] = any ? favourite.part : refinement.part_of[node];
  refinement.gain[node] = any ? favourite.edges - own_edges : 0;
  refinement.own[node] = own_edges;
  refinement.outside[node] = all_edges - own_edges;
}

/// For each node that something changed for: which other part it has most edges to, and what it would gain there.
__global__ void __launch_bounds__(block_threads) evaluate(Refinement refinement) {
  constexpr int places = 32;
  WEFT_SHARED(Index, keys, nodes_per_block * places);
  WEFT_SHARED(Offset, sums, nodes_per_block * places);
  const GraphView& graph = refinement.graph;
  const Offset at = simt::global_thread_id() / lanes_per_node;
  const auto node = static_cast<Index>(at);
  const int rank = LaneTeam().rank(), base = static_cast<int>(threadIdx.x) / lanes_per_node * places;
  const bool looks = at < graph.nodes && refinement.control->stop == 0 && refinement.needs_evaluation(node);
  if (simt::all(simt::full_mask, !looks)) return;  // the whole warp
  const bool small = looks && graph.end(node) - graph.begin(node) <= max_lane_edges;
  for (int i = rank; i < places; i += lanes_per_node) {
    keys[base + i] = nobody;
    sums[base + i] = 0;
  }
  simt::sync_warp();
  Offset all_edges = 0;
  int fits = looks && small ? 1 : 0;
  if (small)
    each_edge(graph, node, rank, lanes_per_node, [&](Index neighbour, Index weight) {
      const Index part = refinement.part_of[neighbour];
      all_edges += weight;
      for (int tries = 0, place = part % places; tries < places; ++tries, place = (place + 1) % places) {
        const Index there = simt::atomic_cas(keys[base + place], nobody, part);
        if (there != nobody && there != part) continue;
        simt::atomic_add(sums[base + place], static_cast<Offset>(weight));
        return;
      }
      fits = 0;
    });
  simt::sync_warp();
  const Index own = looks ? refinement.part_of[node] : 0;
  const bool from_full = looks && refinement.full(own);
  Favourite favourite;
  Offset own_edges = 0;
  if (small) {
    const Load load = graph.load(node);
    for (int i = rank; i < places; i += lanes_per_node) {
      const Index part = keys[base + i];
      const Offset edges = sums[base + i];
      if (part == own)
        own_edges = edges;
      else if (part != nobody && (!from_full || (refinement.loads[part] + load).within(refinement.bounds.max)))
        favourite.take(part, edges);
    }
  }
  const LaneTeam team;
  WEFT_UNROLL
  for (int distance = lanes_per_node / 2; distance > 0; distance /= 2) {
    const Index part = team.exchange(favourite.part, distance);
    favourite.take(part, team.exchange(favourite.edges, distance));
    const int other_fits = team.exchange(fits, distance);
    fits = fits < other_fits ? fits : other_fits;
    own_edges += team.exchange(own_edges, distance);
    all_edges += team.exchange(all_edges, distance);
  }
  if (!looks || rank != 0) return;
  if (fits != 0)
    store_evaluation(refinement, node, favourite, own_edges, all_edges);
  else
    refinement.special[simt::atomic_add(refinement.control->special, 1)] = node;
}

/// The same for nodes with many edges, or edges to many parts: a thread block each, with a place for every part.
__global__ void __launch_bounds__(block_threads) evaluate_special(Refinement refinement) {
  const GraphView& graph = refinement.graph;
  if (refinement.control->stop != 0) return;
  Offset* const sums = refinement.special_sums + static_cast<Offset>(blockIdx.x) * refinement.parts;
  const Index count = refinement.control->special;
  for (Index i = static_cast<Index>(blockIdx.x); i < count; i += static_cast<Index>(gridDim.x)) {
    const Index node = refinement.special[i], own = refinement.part_of[node];
    const bool from_full = refinement.full(own);
    const Load load = graph.load(node);
    Offset all_edges = 0;
    each_edge(graph, node, static_cast<int>(threadIdx.x), block_threads, [&](Index neighbour, Index weight) {
      all_edges += weight;
      simt::atomic_add(sums[refinement.part_of[neighbour]], static_cast<Offset>(weight));
    });
    simt::sync_block();
    const Offset own_edges = sums[own];
    Favourite favourite;
    for (Index part = static_cast<Index>(threadIdx.x); part < refinement.parts; part += block_threads)
      if (part != own && sums[part] > 0 &&
          (!from_full || (refinement.loads[part] + load).within(refinement.bounds.max)))
        favourite.take(part, sums[part]);
    simt::sync_block();
    for (Index part = static_cast<Index>(threadIdx.x); part < refinement.parts; part += block_threads) sums[part] = 0;
    const Offset most = simt::block_reduce(favourite.edges, simt::Max{});
    const Index last = 0x7fffffff;
    const Index first =
        last - simt::block_reduce(favourite.edges == most ? last - favourite.part : Index(0), simt::Max{});
    all_edges = simt::block_reduce_sum(all_edges);
    if (threadIdx.x == 0) store_evaluation(refinement, node, {first, most}, own_edges, all_edges);
  }
}

__global__ void __launch_bounds__(block_threads) sum_cut(Refinement refinement) {
  if (refinement.control->stop != 0) return;
  Offset sum = 0;
  const Offset step = static_cast<Offset>(gridDim.x) * block_threads;
  for (Offset node = simt::global_thread_id(); node < refinement.graph.nodes; node += step)
    sum += refinement.outside[node];
  sum = simt::block_reduce_sum(sum);
  if (threadIdx.x == 0) simt::atomic_add(refinement.control->now.cut, sum);
}

/// What parts hold beyond their bounds; also clears what the round will add up.
__global__ void __launch_bounds__(block_threads) sum_excess(Refinement refinement) {
  if (refinement.control->stop != 0) return;
  const Offset part = simt::global_thread_id();
  Offset weight = 0, count = 0;
  if (part < refinement.parts) {
    const Load over = refinement.loads[part] - refinement.bounds.max;
    weight = over.weight > 0 ? over.weight : 0;
    count = over.count > 0 ? over.count : 0;
    refinement.was_full[part] = weight > 0 || count > 0 ? 1 : 0;
  }
  weight = simt::block_reduce_sum(weight);
  count = simt::block_reduce_sum(count);
  if (threadIdx.x != 0) return;
  if (weight > 0) simt::atomic_add(refinement.control->now.excess_weight, weight);
  if (count > 0) simt::atomic_add(refinement.control->now.excess_count, count);
}

/// Whether these parts are the best so far, and whether to go on: one thread.
__global__ void decide(Control* control, int round, int rounds) {
  Control state = *control;
  if (state.stop != 0) {
    control->keep = 0;
    return;
  }
  state.keep = 0;
  if (round == 0) {
    state.best = state.now;
  } else {
    state.idle = state.now.clearly_beats(state.best) ? 0 : state.idle + 1;
    if (state.now.beats(state.best)) {
      state.best = state.now;
      state.keep = 1;
    }
  }
  if (round == rounds || state.idle == ::weft::ordering::multilevel::max_idle_rounds || state.any_moved == 0)
    state.stop = 1;
  state.now = Score{};
  state.any_moved = 0;
  state.special = 0;
  *control = state;
}

/// Keeps the parts if they are the best, and finds out which nodes would like to move.
__global__ void __launch_bounds__(block_threads) find_candidates(Refinement refinement) {
  const Offset at = simt::global_thread_id();
  if (at >= refinement.graph.nodes) return;
  const auto node = static_cast<Index>(at);
  const Index own = refinement.part_of[node];
  if (refinement.control->keep != 0) refinement.best[node] = own;
  if (refinement.control->stop != 0) return;
  const Offset gain = refinement.gain[node];
  const bool tries =
      refinement.target[node] != own &&
      (refinement.full(own) || ((refinement.state[node] & moved) == 0 &&
                                (gain >= 0 || may_lose(-gain, refinement.own[node], refinement.finest))));
  refinement.state[node] = tries ? candidate : 0;
}

/// What one edge adds to a node's gain once its neighbour, if its move is better, has made it.
__device__ __forceinline__ Offset change_by(const Refinement& refinement, Index node, Index neighbour, Index weight) {
  if ((refinement.state[neighbour] & candidate) == 0) return 0;
  const Offset gain = refinement.gain[node], its_gain = refinement.gain[neighbour];
  if (its_gain < gain || (its_gain == gain && neighbour > node)) return 0;
  const Index own = refinement.part_of[node], target = refinement.target[node];
  Offset change = 0;
  if (refinement.target[neighbour] == own) change -= weight;
  if (refinement.target[neighbour] == target) change += weight;
  if (refinement.part_of[neighbour] == own) change += weight;
  if (refinement.part_of[neighbour] == target) change -= weight;
  return change;
}

/// Nodes that still do not lose once others have moved, or whose part is full, are to leave if there is room.
__global__ void __launch_bounds__(block_threads) find_moves(Refinement refinement, int round) {
  const GraphView& graph = refinement.graph;
  const Offset at = simt::global_thread_id() / lanes_per_node;
  const auto node = static_cast<Index>(at);
  const bool looks = at < graph.nodes && refinement.control->stop == 0 && (refinement.state[node] & candidate) != 0 &&
                     graph.end(node) - graph.begin(node) <= max_lane_edges;
  if (simt::all(simt::full_mask, !looks)) return;  // the whole warp
  const bool must = looks && refinement.full(refinement.part_of[node]);
  Offset change = 0;
  if (looks && !must)
    each_edge(graph, node, LaneTeam().rank(), LaneTeam::size,
              [&](Index neighbour, Index weight) { change += change_by(refinement, node, neighbour, weight); });
  change = LaneTeam().reduce(change, simt::Sum{});
  if (!looks || LaneTeam().rank() != 0 || (!must && refinement.gain[node] + change < 0)) return;
  simt::atomic_or(refinement.state[node], static_cast<Index>(leaving));
  refinement.want(refinement.arriving + static_cast<Offset>(refinement.target[node]) * buckets, node, round);
}

__global__ void __launch_bounds__(block_threads)
    find_moves_of_hubs(Refinement refinement, const Index* hubs, int round) {
  const Index node = hubs[blockIdx.x];
  if (refinement.control->stop != 0 || (refinement.state[node] & candidate) == 0) return;
  const bool must = refinement.full(refinement.part_of[node]);
  Offset change = 0;
  if (!must)
    each_edge(refinement.graph, node, static_cast<int>(threadIdx.x), block_threads,
              [&](Index neighbour, Index weight) { change += change_by(refinement, node, neighbour, weight); });
  change = simt::block_reduce_sum(change);
  if (threadIdx.x != 0 || (!must && refinement.gain[node] + change < 0)) return;
  simt::atomic_or(refinement.state[node], static_cast<Index>(leaving));
  refinement.want(refinement.arriving + static_cast<Offset>(refinement.target[node]) * buckets, node, round);
}

/// For each part, how many buckets of moves there is room for: a warp per part.
__global__ void __launch_bounds__(block_threads) admit(Refinement refinement, bool arriving) {
  constexpr int per_lane = buckets / 32;
  const Offset part = simt::global_thread_id() / 32;
  if (part >= refinement.parts || refinement.control->stop != 0) return;  // the whole warp
  const Load load = refinement.loads[part];
  const Load room = arriving ? refinement.bounds.max - load : refinement.bounds.may_leave(load);
  const Load* const wanted = (arriving ? refinement.arriving : refinement.departing) + part * buckets;
  const int lane = simt::lane_id();
  Load own[per_lane], sum;
  for (int i = 0; i < per_lane; ++i) sum = sum + (own[i] = wanted[lane * per_lane + i]);
  Load before = sum;
  WEFT_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const Load earlier{simt::shuffle_up(simt::full_mask, before.weight, static_cast<unsigned>(step)),
                       simt::shuffle_up(simt::full_mask, before.count, static_cast<unsigned>(step))};
    if (lane >= step) before = before + earlier;
  }
  before = before - sum;
  int first = buckets;
  for (int i = 0; i < per_lane; ++i) {
    before = before + own[i];
    if (first == buckets && !before.within(room)) first = lane * per_lane + i;
  }
  first = buckets - simt::warp_reduce(buckets - first, simt::Max{});
  if (lane == 0) refinement.admitted[part] = first;
}

/// Moves that their target has room for ask the part they leave.
__global__ void __launch_bounds__(block_threads) ask_to_leave(Refinement refinement, int round) {
  const Offset at = simt::global_thread_id();
  if (at >= refinement.graph.nodes || refinement.control->stop != 0) return;
  const auto node = static_cast<Index>(at);
  if ((refinement.state[node] & leaving) == 0) return;
  if (bucket_of(refinement.gain[node], node, round) >= refinement.admitted[refinement.target[node]])
    refinement.state[node] = candidate;
  else
    refinement.want(refinement.departing + static_cast<Offset>(refinement.part_of[node]) * buckets, node, round);
}

__global__ void __launch_bounds__(block_threads) make_moves(Refinement refinement, int round) {
  const Offset at = simt::global_thread_id();
  if (at >= refinement.graph.nodes || refinement.control->stop != 0) return;
  const auto node = static_cast<Index>(at);
  const Index own = refinement.part_of[node];
  if ((simt::atomic_or(refinement.state[node], Index(0)) & leaving) == 0 ||
      bucket_of(refinement.gain[node], node, round) >= refinement.admitted[own])
    return;
  const Load load = refinement.graph.load(node);
  refinement.control->any_moved = 1;
  refinement.add_load(own, load, -1);
  refinement.add_load(refinement.target[node], load, 1);
  refinement.part_of[node] = refinement.target[node];
  simt::atomic_or(refinement.state[node], static_cast<Index>(changed | moved));
  each_edge(refinement.graph, node, 0, 1,
            [&](Index neighbour, Index) { simt::atomic_or(refinement.state[neighbour], static_cast<Index>(changed)); });
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
