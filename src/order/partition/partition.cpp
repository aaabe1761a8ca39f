#include <weft/error.hpp>
#include <weft/partition.hpp>

#include "core/parallel.hpp"
#include "order/partition/coordinates.hpp"
#include "order/partition/methods.hpp"
#include "order/pattern.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

using ordering::NodeGraph;
using ordering::PartSizes;
using ordering::Pattern;
using ordering::Pulse;

struct Name {
  Partitioner method;
  std::string_view text;
};
constexpr Name names[] = {{Partitioner::automatic, "automatic"},
                          {Partitioner::multilevel, "multilevel"},
                          {Partitioner::metis, "metis"},
                          {Partitioner::coordinates, "coordinates"},
                          {Partitioner::contiguous, "contiguous"}};

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::invalid_argument, sentence); }

/// Every node counts as whole, also a last one with fewer rows.
PartSizes sizes_for(Index rows, const PartitionOptions& options) {
  const Index nodes = ordering::nodes_of(rows, options.block);
  PartSizes sizes{options.parts, nodes, options.even_entries};
  if (options.most_rows > 0 && options.most_rows < rows) {
    sizes.capacity = options.most_rows / options.block;
    sizes.parts = std::max(sizes.parts, static_cast<Index>((Offset(nodes) + sizes.capacity - 1) / sizes.capacity));
  }
  if (rows > 0) sizes.parts = std::max(sizes.parts, 1);
  return sizes;
}

Partitioner chosen(const Pattern& pattern, const PartitionOptions& options) {
  const Partitioner method = options.method;
  if (method == Partitioner::metis && !has_metis())
    throw Error(ErrorCode::unsupported,
                "this build has no partitioner 'metis'; install METIS (Debian: libmetis-dev) and build Weft again, or "
                "use 'multilevel'");
  if (method == Partitioner::coordinates && !options.coordinates)
    refuse("the partitioner 'coordinates' needs coordinates: a point per row or node");
  if (method == Partitioner::automatic && options.coordinates) return Partitioner::coordinates;
  const bool square = pattern.rows == pattern.cols;
  if (method == Partitioner::automatic) return square ? Partitioner::multilevel : Partitioner::contiguous;
  if (square || method == Partitioner::contiguous || method == Partitioner::coordinates) return method;
  throw Error(ErrorCode::unsupported,
              "partitioner '" + std::string(to_string(method)) +
                  "' puts rows and columns into parts alike, so the matrix must be square, not " +
                  std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols) +
                  "; 'contiguous' and 'coordinates' take any");
}

/// At least two parts, of at least two nodes.
Array<Index> parts_of_nodes(const Pattern& pattern, const PartitionOptions& options, const PartSizes& sizes,
                            Partitioner method, const Pulse& pulse) {
  if (method == Partitioner::coordinates)
    return ordering::coordinate_parts(pattern, options.block, *options.coordinates, sizes, pulse);
  const NodeGraph graph = ordering::node_graph(pattern, options.block);
  const Pulse rest = pulse.between(0.05, 1);
  return method == Partitioner::metis ? ordering::metis_parts(graph, sizes, rest)
                                      : ordering::multilevel_parts(graph, sizes, rest);
}

Partition find_parts(const Pattern& pattern, const PartitionOptions& options) {
  ordering::require_part_numbers(options.parts, options.most_rows, options.block);
  if (options.coordinates) ordering::require_coordinates(*options.coordinates, pattern.rows, options.block);
  const Partitioner method = chosen(pattern, options);
  const PartSizes sizes = sizes_for(pattern.rows, options);
  const Index nodes = ordering::nodes_of(pattern.rows, options.block);
  const Pulse pulse(options.progress);
  pulse(0);
  const bool plain = sizes.parts <= 1 || nodes <= 1 || method == Partitioner::contiguous;
  const Array<Index> part_of_node =
      plain ? ordering::contiguous_parts(nodes, sizes) : parts_of_nodes(pattern, options, sizes, method, pulse);
  Partition result{sizes.parts, Array<Index>(static_cast<std::size_t>(pattern.rows))};
  parallel_for(pattern.rows, 1 << 15, [&](Offset row) { result.part_of[row] = part_of_node[row / options.block]; });
  pulse(1);
  return result;
}

PartitionQuality judge(const Pattern& pattern, const Partition& partition) {
  require_partition(partition, pattern.rows);
  PartitionQuality result;
  std::vector<Index> rows(static_cast<std::size_t>(partition.parts), 0);
  for (const Index part : partition.part_of) ++rows[part];
  if (!rows.empty()) {
    result.largest = *std::max_element(rows.begin(), rows.end());
    result.smallest = *std::min_element(rows.begin(), rows.end());
    result.empty = static_cast<Index>(std::count(rows.begin(), rows.end(), 0));
  }
  if (pattern.rows != pattern.cols) return result;
  std::atomic<Offset> cut{0};
  parallel_ranges(pattern.nonzeros(), entry_grain, [&](Offset begin, Offset end) {
    Offset here = 0;
    for_row_parts(pattern.offsets, pattern.rows, begin, end, [&](Index row, Offset first, Offset last) {
      const Index part = partition.part_of[row];
      for (Offset i = first; i < last; ++i) here += partition.part_of[pattern.columns[i]] != part;
    });
    cut += here;
  });
  result.cut = cut;
  return result;
}

}  // namespace

namespace ordering {

void require_part_numbers(Index parts, Index most_rows, int block) {
  if (parts < 0)
    refuse("the number of parts must be 1 or more, or 0 for as few as possible, not " + std::to_string(parts));
  if (most_rows < 0)
    refuse("the most rows of a part must be 1 or more, or 0 for no limit, not " + std::to_string(most_rows));
  if (block < 1) refuse("the rows of a node must be 1 or more, not " + std::to_string(block));
  if (most_rows > 0 && most_rows < block)
    refuse("parts of at most " + std::to_string(most_rows) + " rows cannot hold nodes of " + std::to_string(block) +
           " rows; allow more rows or take smaller blocks");
}

}  // namespace ordering

std::string_view to_string(Partitioner method) {
  for (const Name& name : names)
    if (name.method == method) return name.text;
  return "unknown";
}

const std::vector<Partitioner>& partitioners() {
  static const std::vector<Partitioner> all = [] {
    std::vector<Partitioner> list;
    for (const Name& name : names) list.push_back(name.method);
    return list;
  }();
  return all;
}

Partitioner parse_partitioner(std::string_view text) {
  std::string known;
  for (const Name& name : names) {
    if (name.text == text) return name.method;
    known += (known.empty() ? "" : ", ") + std::string(name.text);
  }
  refuse("there is no partitioner '" + std::string(text) + "'; there are: " + known);
}

void require_partition(const Partition& partition, Index rows) {
  if (partition.part_of.size() != static_cast<std::size_t>(rows))
    refuse("the partition is of " + std::to_string(partition.part_of.size()) + " rows, but the matrix has " +
           std::to_string(rows));
  for (const Index part : partition.part_of)
    if (part < 0 || part >= partition.parts)
      refuse("the partition has a row in part " + std::to_string(part) + ", but only parts 0 to " +
             std::to_string(partition.parts - 1));
}

template <Value V>
Partition partition(const Csr<V>& matrix, const PartitionOptions& options) {
  return find_parts(Pattern(matrix), options);
}

template <Value V>
PartitionQuality quality(const Csr<V>& matrix, const Partition& partition) {
  return judge(Pattern(matrix), partition);
}

#define WEFT_INSTANTIATE(V)                                                \
  template Partition partition<V>(const Csr<V>&, const PartitionOptions&); \
  template PartitionQuality quality<V>(const Csr<V>&, const Partition&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
