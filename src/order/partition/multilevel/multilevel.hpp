#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "order/partition/methods.hpp"
#include "order/partition/multilevel/bisection.hpp"
#include "order/partition/multilevel/rules.hpp"

// Weft's partitioner, from the finest graph to the coarsest and back:
// 1. pairs of nodes that share a heavy edge are joined, level by level, until a part has about 60 nodes;
// 2. nodes get coordinates: distances from four far-apart nodes of a still coarser graph, carried back and smoothed;
// 3. the nodes are halved again and again along the principal axis of their coordinates;
// 4. back to the finest level, nodes move to the part they have most edges to, as long as that part has room.
// Each step looks at all nodes at once, so it can be done by any number of threads; see rules.hpp.
namespace weft::ordering::multilevel {

constexpr Offset nodes_per_part = 60;
constexpr Index nodes_for_distances = 2048;
constexpr int matching_rounds = 4;
constexpr int smoothing_passes = 3;
constexpr int coarsest_rounds = 24, coarse_rounds = 8, finest_rounds = 6;
constexpr int max_idle_rounds = 6;
constexpr double slack_per_level = 0.02;

/// A level that has hardly fewer nodes than the one before does not pay.
inline bool pays(Index coarse, Index fine) { return coarse < fine - fine / 20; }

/// The loads that parts may have: 3 % over the mean, more on coarser levels, whose heavy nodes cannot fill parts to the
/// last place.
inline Bounds bounds_for(Offset total_weight, Index nodes, const PartSizes& sizes, int level) {
  const bool finest = level == 0;
  const double slack = 1.03 + std::min(0.1, slack_per_level * level);
  const auto parts = static_cast<double>(sizes.parts);
  const double mean = static_cast<double>(total_weight) / parts;
  const double mean_count = static_cast<double>(nodes) / parts;
  Load max{static_cast<Offset>(std::ceil(slack * mean)),
           sizes.even_entries ? sizes.capacity : balanced_limit(nodes, sizes)};
  if (!sizes.even_entries && finest) max.weight = max.count;
  if (!finest) max.count = std::max(max.count, static_cast<Offset>(std::ceil(slack * mean_count)));
  const auto halfway = [](Offset limit, double to) {
    return std::min(limit, static_cast<Offset>((static_cast<double>(limit) + to) / 2));
  };
  return {max, {halfway(max.weight, mean), halfway(max.count, mean_count)}, static_cast<Offset>(0.85 * mean)};
}

/// How good parts are; less is better.
struct Score {
  Offset excess_count = 0, excess_weight = 0;  ///< what parts hold beyond their bounds
  Offset cut = 0;
  WEFT_HOST_DEVICE bool beats(const Score& other) const {
    if (excess_count != other.excess_count) return excess_count < other.excess_count;
    if (excess_weight != other.excess_weight) return excess_weight < other.excess_weight;
    return cut < other.cut;
  }
  /// By so much that it is worth going on.
  WEFT_HOST_DEVICE bool clearly_beats(const Score& other) const {
    return excess_count < other.excess_count || excess_weight < other.excess_weight ||
           cut < other.cut - other.cut / 1000;
  }
};

/// `Steps` does the work where the graph is. It has the types Level (with `nodes()`), Parts and one for coordinates of
/// nodes, and
///   total_weight()                              of the nodes
///   coarsen(level, max_weight)                  -> the next level: pairs of nodes as one, none heavier than that
///   to_host(level)                              -> NodeGraph
///   load(points)                                -> coordinates, of points on the host
///   smooth(level, passes, coordinates)          each node goes to the middle of its neighbours
///   carry(level, coordinates, finer nodes)      -> coordinates of the next finer level
///   bisect(level, coordinates, parts)           -> parts
///   refine(level, number, rounds, parts)
///   expand(level, parts, finer nodes)           -> parts of the next finer level
///   finish(parts)                               -> the part of each node, on the host
template <class Steps>
Array<Index> find_parts(Steps& steps, typename Steps::Level finest, const PartSizes& sizes, const Pulse& pulse) {
  using Level = typename Steps::Level;
  const Offset enough = nodes_per_part * sizes.parts;
  const Offset max_weight = std::max<Offset>(2, steps.total_weight() / (6 * Offset(sizes.parts)));
  std::vector<Level> levels;
  levels.push_back(std::move(finest));
  const auto coarsen_to = [&](Offset target, Offset heaviest, const Pulse& share) {
    for (double done = 0; levels.back().nodes() > target; done += (1 - done) / 2) {
      share(done);
      Level next = steps.coarsen(levels.back(), heaviest);
      if (!pays(next.nodes(), levels.back().nodes())) break;
      levels.push_back(std::move(next));
    }
  };
  coarsen_to(enough, max_weight, pulse.between(0, 0.4));
  const std::size_t coarsest = levels.size() - 1;
  coarsen_to(nodes_for_distances, std::numeric_limits<Index>::max(), pulse.between(0.4, 0.5));
  auto coordinates = steps.load(distances(steps.to_host(levels.back())));
  for (;; levels.pop_back()) {
    steps.smooth(levels.back(), smoothing_passes, coordinates);
    if (levels.size() - 1 == coarsest) break;
    coordinates = steps.carry(levels.back(), coordinates, levels[levels.size() - 2].nodes());
  }
  pulse(0.5);
  typename Steps::Parts parts = steps.bisect(levels.back(), coordinates, sizes.parts);
  for (;; levels.pop_back()) {
    const std::size_t level = levels.size() - 1;
    // Each level takes about as long as all coarser ones together.
    pulse.between(0.55, 1)(std::ldexp(1.0, -static_cast<int>(level) - 1));
    const int rounds = level == coarsest ? coarsest_rounds : level == 0 ? finest_rounds : coarse_rounds;
    steps.refine(levels.back(), static_cast<int>(level), rounds, parts);
    if (level == 0) break;
    parts = steps.expand(levels.back(), parts, levels[levels.size() - 2].nodes());
  }
  return steps.finish(std::move(parts));
}

/// Joins nodes without a mate that have the same host, in the order of their numbers, and nodes without any.
void join_relatives(const Array<Index>& host, const Array<Index>& weights, Offset max_weight, Array<Index>& mate);

/// Takes nodes out of parts with more than `capacity` and puts them where there is room, however bad the cut.
void scatter_surplus(Index parts, Index capacity, Array<Index>& part_of);

}  // namespace weft::ordering::multilevel
