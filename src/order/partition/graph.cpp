#include "order/partition/graph.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "sparse/group_by_key.hpp"

namespace weft::ordering {
namespace {

constexpr Offset node_grain = 1024;

/// Which nodes have entries in the columns of which nodes, and how many: the matrix of nodes by rows.
struct NodeEntries {
  Index nodes = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
  const Index* counts = nullptr;  // null: 1 each
  Array<Offset> own_offsets;
  Array<Index> own_columns, own_counts;

  Index count(Offset entry) const { return counts ? counts[entry] : 1; }
};

/// Calls take(column node, entries) for each node in whose columns the rows first .. last - 1 have entries, ascending.
/// `next` is workspace for a position a row.
template <class F>
void merge_rows(const Pattern& pattern, Index first, Index last, int block, std::vector<Offset>& next, F&& take) {
  const auto rows = static_cast<std::size_t>(last - first);
  for (std::size_t r = 0; r < rows; ++r) next[r] = pattern.offsets[first + static_cast<Index>(r)];
  while (true) {
    Index column = std::numeric_limits<Index>::max();
    for (std::size_t r = 0; r < rows; ++r)
      if (next[r] < pattern.offsets[first + static_cast<Index>(r) + 1])
        column = std::min(column, pattern.columns[next[r]]);
    if (column == std::numeric_limits<Index>::max()) return;
    const Index node = column / block;
    const Offset end = (Offset(node) + 1) * block;
    Index entries = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const Offset stop = pattern.offsets[first + static_cast<Index>(r) + 1];
      for (; next[r] < stop && pattern.columns[next[r]] < end; ++next[r])
        if (entries < std::numeric_limits<Index>::max()) ++entries;
    }
    take(node, entries);
  }
}

NodeEntries entries_of_nodes(const Pattern& pattern, int block) {
  NodeEntries result;
  if (block == 1) {
    result.nodes = pattern.rows;
    result.offsets = pattern.offsets;
    result.columns = pattern.columns;
    return result;
  }
  result.nodes = static_cast<Index>((Offset(pattern.rows) + block - 1) / block);
  const auto each_node = [&](auto&& body) {
    parallel_ranges(result.nodes, node_grain, [&](Offset begin, Offset end) {
      std::vector<Offset> next(static_cast<std::size_t>(std::min<Offset>(block, pattern.rows)));
      for (Offset node = begin; node < end; ++node)
        body(node, static_cast<Index>(node * block),
             static_cast<Index>(std::min<Offset>(pattern.rows, (node + 1) * block)), next);
    });
  };
  result.own_offsets = Array<Offset>(static_cast<std::size_t>(result.nodes) + 1);
  each_node([&](Offset node, Index first, Index last, std::vector<Offset>& next) {
    Offset count = 0;
    merge_rows(pattern, first, last, block, next, [&](Index, Index) { ++count; });
    result.own_offsets[node] = count;
  });
  prefix_sum(result.own_offsets.data(), result.nodes);
  const auto entries = static_cast<std::size_t>(result.own_offsets[static_cast<std::size_t>(result.nodes)]);
  result.own_columns = Array<Index>(entries);
  result.own_counts = Array<Index>(entries);
  each_node([&](Offset node, Index first, Index last, std::vector<Offset>& next) {
    Offset to = result.own_offsets[node];
    merge_rows(pattern, first, last, block, next, [&](Index column, Index count) {
      result.own_columns[to] = column;
      result.own_counts[to++] = count;
    });
  });
  result.offsets = result.own_offsets.data();
  result.columns = result.own_columns.data();
  result.counts = result.own_counts.data();
  return result;
}

/// One pass without memory for the transposed matrix: going through the rows in order, each entry (i, j) must meet
/// (j, i) as the next one of row j that no earlier row has met.
bool is_symmetric(const NodeEntries& entries) {
  Array<Offset> next = Array<Offset>::copy_of({entries.offsets, static_cast<std::size_t>(entries.nodes)});
  for (Index i = 0; i < entries.nodes; ++i)
    for (Offset e = entries.offsets[i]; e < entries.offsets[i + 1]; ++e) {
      const Index j = entries.columns[e];
      const Offset mirror = next[j]++;
      if (mirror >= entries.offsets[j + 1] || entries.columns[mirror] != i || entries.count(mirror) != entries.count(e))
        return false;
    }
  return true;
}

NodeEntries transposed(const NodeEntries& entries) {
  NodeEntries result;
  const Offset count = entries.offsets[entries.nodes];
  result.nodes = entries.nodes;
  result.own_offsets = Array<Offset>(static_cast<std::size_t>(entries.nodes) + 1);
  result.own_columns = Array<Index>(static_cast<std::size_t>(count));
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for_row_parts(entries.offsets, entries.nodes, begin, end, [&](Index row, Offset first, Offset last) {
      for (Offset e = first; e < last; ++e) sink(entries.columns[e], row, e);
    });
  };
  if (entries.counts) {
    result.own_counts = Array<Index>(static_cast<std::size_t>(count));
    const auto with_counts = [&](Offset begin, Offset end, auto&& sink) {
      source(begin, end, [&](Index column, Index row, Offset e) { sink(column, row, entries.counts[e]); });
    };
    group_by_key(with_counts, count, entries.nodes,
                 Fields<Index, Index>(result.own_columns.data(), result.own_counts.data()), result.own_offsets.data());
    result.counts = result.own_counts.data();
  } else {
    const auto plain = [&](Offset begin, Offset end, auto&& sink) {
      source(begin, end, [&](Index column, Index row, Offset) { sink(column, row); });
    };
    group_by_key(plain, count, entries.nodes, Fields<Index>(result.own_columns.data()), result.own_offsets.data());
  }
  result.offsets = result.own_offsets.data();
  result.columns = result.own_columns.data();
  return result;
}

/// Calls take(neighbour, entries) for each neighbour of a node in A + A^T, ascending.
template <class F>
void merge_lists(const NodeEntries& a, const NodeEntries& b, Index node, F&& take) {
  Offset i = a.offsets[node], j = b.offsets[node];
  const Offset end_i = a.offsets[node + 1], end_j = b.offsets[node + 1];
  while (i < end_i || j < end_j) {
    const bool from_a = j == end_j || (i < end_i && a.columns[i] <= b.columns[j]);
    const Index next = from_a ? a.columns[i] : b.columns[j];
    Offset entries = 0;
    if (i < end_i && a.columns[i] == next) entries += a.count(i++);
    if (j < end_j && b.columns[j] == next) entries += b.count(j++);
    if (next != node) take(next, static_cast<Index>(std::min<Offset>(entries, std::numeric_limits<Index>::max())));
  }
}

/// `each(node, take)` calls take(neighbour, weight) for the neighbours of a node; it is asked twice.
template <class Each>
NodeGraph collect(Index nodes, bool weighted, const Each& each) {
  NodeGraph graph;
  graph.nodes = nodes;
  graph.offsets = Array<Offset>(static_cast<std::size_t>(nodes) + 1);
  parallel_for(nodes, node_grain, [&](Offset node) {
    Offset count = 0;
    each(static_cast<Index>(node), [&](Index, Index) { ++count; });
    graph.offsets[node] = count;
  });
  prefix_sum(graph.offsets.data(), nodes);
  graph.neighbours = Array<Index>(static_cast<std::size_t>(graph.edges()));
  if (weighted) graph.edge_weights = Array<Index>(static_cast<std::size_t>(graph.edges()));
  parallel_for(nodes, node_grain, [&](Offset node) {
    Offset to = graph.offsets[node];
    each(static_cast<Index>(node), [&](Index neighbour, Index weight) {
      graph.neighbours[to] = neighbour;
      if (weighted) graph.edge_weights[to] = weight;
      ++to;
    });
  });
  return graph;
}

/// Weights that are all the same need no memory.
void drop_equal_weights(NodeGraph& graph) {
  const Array<Index>& weights = graph.edge_weights;
  if (std::all_of(weights.begin(), weights.end(), [&](Index weight) { return weight == weights[0]; }))
    graph.edge_weights = {};
}

}  // namespace

NodeGraph node_graph(const Pattern& pattern, int block) {
  const NodeEntries entries = entries_of_nodes(pattern, block);
  NodeGraph graph;
  if (is_symmetric(entries)) {
    graph = collect(entries.nodes, entries.counts != nullptr, [&](Index node, auto&& take) {
      for (Offset e = entries.offsets[node]; e < entries.offsets[node + 1]; ++e)
        if (entries.columns[e] != node) take(entries.columns[e], entries.count(e));
    });
  } else {
    const NodeEntries mirrored = transposed(entries);
    graph = collect(entries.nodes, true, [&](Index node, auto&& take) { merge_lists(entries, mirrored, node, take); });
  }
  drop_equal_weights(graph);
  return graph;
}

NodeGraph subgraph(const NodeGraph& graph, std::span<const Index> nodes, Array<Index>& number) {
  for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = static_cast<Index>(i);
  NodeGraph result = collect(static_cast<Index>(nodes.size()), !graph.edge_weights.empty(), [&](Index i, auto&& take) {
    graph.each_neighbour(nodes[i], [&](Index neighbour, Index weight) {
      if (number[neighbour] >= 0) take(number[neighbour], weight);
    });
  });
  if (!graph.node_weights.empty()) {
    result.node_weights = Array<Index>(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) result.node_weights[i] = graph.node_weights[nodes[i]];
  }
  for (const Index node : nodes) number[node] = -1;
  return result;
}

}  // namespace weft::ordering
