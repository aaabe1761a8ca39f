#include <vector>

#include "order/partition/methods.hpp"
#include "order/pattern.hpp"

namespace weft {
namespace {

using ordering::NodeGraph;
using ordering::PartSizes;
using ordering::Pattern;

bool keeps_blocks(const Partition& partition, Index rows, int block) {
  for (Index row = 0; row < rows; ++row)
    if (partition.part_of[row] != partition.part_of[row - row % block]) return false;
  return true;
}

/// The nodes of each part that has too many rows.
std::vector<std::vector<Index>> members_of_large_parts(const Partition& partition, Index rows, Index most_rows,
                                                       int block) {
  std::vector<Index> sizes(static_cast<std::size_t>(partition.parts), 0);
  for (const Index part : partition.part_of) ++sizes[part];
  std::vector<std::vector<Index>> members(sizes.size());
  for (Offset row = 0; row < rows; row += block) {
    const Index part = partition.part_of[row];
    if (sizes[part] > most_rows) members[part].push_back(static_cast<Index>(row / block));
  }
  return members;
}

Partition split_large_parts(const Pattern& pattern, const Partition& partition, Index most_rows, int block) {
  ordering::require_part_numbers(0, most_rows, block);
  require_partition(partition, pattern.rows);
  if (most_rows == 0) return partition;
  if (!keeps_blocks(partition, pattern.rows, block)) block = 1;
  const auto members = members_of_large_parts(partition, pattern.rows, most_rows, block);
  bool none = true;
  for (const auto& nodes : members) none &= nodes.empty();
  if (none) return partition;

  const bool square = pattern.rows == pattern.cols;
  const NodeGraph graph = square ? ordering::node_graph(pattern, block) : NodeGraph{};
  Array<Index> number(square ? static_cast<std::size_t>(graph.nodes) : 0, -1);
  Partition result{partition.parts, partition.part_of.clone()};
  const Index capacity = most_rows / block;
  for (Index part = 0; part < partition.parts; ++part) {
    const std::vector<Index>& nodes = members[part];
    if (nodes.empty()) continue;
    const auto count = static_cast<Index>(nodes.size());
    const PartSizes sizes{static_cast<Index>((Offset(count) + capacity - 1) / capacity), capacity};
    const Array<Index> piece_of =
        square ? ordering::multilevel_parts(ordering::subgraph(graph, nodes, number), sizes, ordering::Pulse())
               : ordering::contiguous_parts(count, sizes);
    for (Index i = 0; i < count; ++i) {
      const Index name = piece_of[i] == 0 ? part : result.parts + piece_of[i] - 1;
      const Offset first = Offset(nodes[i]) * block, end = std::min<Offset>(pattern.rows, first + block);
      for (Offset row = first; row < end; ++row) result.part_of[row] = name;
    }
    result.parts += sizes.parts - 1;
  }
  return result;
}

}  // namespace

template <Value V>
Partition limit_parts(const Csr<V>& matrix, const Partition& partition, Index most_rows, int block) {
  return split_large_parts(Pattern(matrix), partition, most_rows, block);
}

#define WEFT_INSTANTIATE(V) template Partition limit_parts<V>(const Csr<V>&, const Partition&, Index, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
