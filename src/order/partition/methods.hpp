#pragma once
#include <weft/partition.hpp>

// The ways to find parts, each in a file of its own. They know nodes only: groups of `block` rows.
namespace weft::ordering {

/// How many parts there are to be, and how many nodes each may have at most: parts * capacity >= nodes.
struct PartSizes {
  Index parts = 1;
  Index capacity = 0;
};

/// Nodes as they stand, cut into equal pieces.
Array<Index> contiguous_parts(Index nodes, const PartSizes& sizes);

}  // namespace weft::ordering
