#include "core/parallel.hpp"
#include "order/partition/methods.hpp"

namespace weft::ordering {

Array<Index> contiguous_parts(Index nodes, const PartSizes& sizes) {
  Array<Index> part_of(static_cast<std::size_t>(nodes));
  const Offset parts = std::min(sizes.parts, nodes);
  parallel_for(nodes, 1 << 15, [&](Offset node) { part_of[node] = static_cast<Index>(node * parts / nodes); });
  return part_of;
}

}  // namespace weft::ordering
