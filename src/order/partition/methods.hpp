#pragma once
#include <weft/error.hpp>
#include <weft/partition.hpp>

#include <algorithm>

#include "order/partition/graph.hpp"

// The ways to find parts and the steps they share, each in a file of its own. They know nodes only: groups of `block`
// rows. METIS and `repair` are sequential, the others parallel; only METIS draws random numbers.
namespace weft::ordering {

/// Throws Error(invalid_argument) for numbers that make no partition.
void require_part_numbers(Index parts, Index most_rows, int block);

inline Index nodes_of(Index rows, int block) { return static_cast<Index>((Offset(rows) + block - 1) / block); }

/// How many parts there are to be, and how many nodes each may have at most: parts * capacity >= nodes.
struct PartSizes {
  Index parts = 1;
  Index capacity = 0;
  bool even_entries = false;  ///< entries of the nodes are to be even, not nodes
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

/// Weft's own partitioner, see multilevel/. At least two parts, each of at most balanced_limit nodes, or their capacity
/// if not nodes are to be even.
Array<Index> multilevel_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse);

/// METIS's k-way partitioning, repaired so that parts have at most balanced_limit nodes, or their capacity if not nodes
/// are to be even. At least two parts. Where METIS would print on standard output, the partitioner is multilevel_parts.
Array<Index> metis_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse);

/// Moves nodes out of parts above `most_weight`, from neighbour to neighbour towards the nearest part with room, those
/// that cost the least cut first. When all nodes weigh the same and parts * most_weight is enough for them, no part is
/// above it afterwards.
void repair(const NodeGraph& graph, Index parts, Offset most_weight, Array<Index>& part_of);

}  // namespace weft::ordering
