#pragma once
#include <weft/error.hpp>
#include <weft/partition.hpp>

#include <algorithm>

#include "order/partition/graph.hpp"

// The ways to find parts and the steps they share, each in a file of its own. They know nodes only: groups of `block`
// rows. All are sequential and draw no random numbers, METIS aside.
namespace weft::ordering {

/// Throws Error(invalid_argument) for numbers that make no partition.
void require_part_numbers(Index parts, Index most_rows, int block);

inline Index nodes_of(Index rows, int block) { return static_cast<Index>((Offset(rows) + block - 1) / block); }

/// How many parts there are to be, and how many nodes each may have at most: parts * capacity >= nodes.
struct PartSizes {
  Index parts = 1;
  Index capacity = 0;
  bool even_entries = false;  ///< for METIS: neighbours of the nodes are to be even, not nodes
};

/// The nodes a part may have so that parts are within 3 % of their mean, where that can be, and within the capacity.
inline Index balanced_limit(Index nodes, const PartSizes& sizes) {
  const Offset mean = (Offset(nodes) + sizes.parts - 1) / sizes.parts;
  return static_cast<Index>(
      std::min<Offset>(sizes.capacity, std::max(mean, 103 * Offset(nodes) / (100 * Offset(sizes.parts)))));
}

/// Tells a Progress callback how far a method is, and throws Error(cancelled) when it asks to stop.
class Pulse {
 public:
  Pulse() = default;  ///< nobody is told
  explicit Pulse(const Progress& progress, double begin = 0, double end = 1)
      : progress_(&progress), begin_(begin), end_(end) {}
  void operator()(double share) const {
    if (progress_ && *progress_ && !(*progress_)(begin_ + (end_ - begin_) * share))
      throw Error(ErrorCode::cancelled, "cancelled");
  }
  Pulse between(double begin, double end) const {
    Pulse result = *this;
    result.begin_ = begin_ + (end_ - begin_) * begin;
    result.end_ = begin_ + (end_ - begin_) * end;
    return result;
  }

 private:
  const Progress* progress_ = nullptr;
  double begin_ = 0, end_ = 1;
};

/// Nodes as they stand, cut into equal pieces.
Array<Index> contiguous_parts(Index nodes, const PartSizes& sizes);

/// Weft's own partitioner. At least two parts, each of at most balanced_limit nodes.
Array<Index> grow_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse);

/// Weft's own partitioner, see multilevel/. At least two parts, each of at most balanced_limit nodes, or their capacity
/// if not nodes are to be even.
Array<Index> multilevel_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse);

/// Whether METIS's numbers hold the graph.
bool fits_metis(const NodeGraph& graph);
/// METIS's k-way partitioning, repaired so that parts have at most balanced_limit nodes, or their capacity if not nodes
/// are to be even. At least two parts, and a few
/// nodes in each, as METIS wants it.
Array<Index> metis_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse);

/// A smaller graph that has one node where another has one or a few neighbours.
struct Coarse {
  NodeGraph graph;
  Array<Index> coarse_of;  ///< node of the finer graph -> its node
};

/// Joins pairs of nodes that share heavy edges, as long as they weigh at most `most_weight` together.
Coarse coarsen(const NodeGraph& graph, Offset most_weight, const Pulse& pulse);

/// Parts for a small graph: it is halved again and again, each half grown from a node at the rim.
Array<Index> bisect(const NodeGraph& graph, Index parts, const Pulse& pulse);

/// Moves nodes to the part they have most edges to, as long as that makes the cut smaller or, with the same cut, the
/// parts more even. No part grows beyond `most_weight`; one that is above it already does not grow.
void refine(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of, const Pulse& pulse);

/// Moves nodes out of parts above `most_weight`, from neighbour to neighbour towards the nearest part with room, those
/// that cost the least cut first. When all nodes weigh the same and parts * most_weight is enough for them, no part is
/// above it afterwards.
void repair(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of);

}  // namespace weft::ordering
