// The steps that partitioners are made of, each by itself.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "order/partition/methods.hpp"
#include "order/partition/testing.hpp"

namespace weft::ordering {
namespace {

using Edges = std::map<std::pair<Index, Index>, Offset>;

Edges edges_of(const NodeGraph& graph) {
  Edges edges;
  for (Index node = 0; node < graph.nodes; ++node)
    graph.each_neighbour(node, [&](Index neighbour, Index weight) {
      EXPECT_NE(neighbour, node);
      EXPECT_TRUE(edges.emplace(std::pair(node, neighbour), weight).second) << "stands twice";
    });
  return edges;
}

/// Entries between nodes, both ways.
Edges expected_edges(const Csr<double>& matrix, int block) {
  Edges edges;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const Index a = row / block, b = matrix.columns[k] / block;
      if (a == b) continue;
      ++edges[{a, b}];
      ++edges[{b, a}];
    }
  return edges;
}

TEST(NodeGraph, WeighsEntriesBetweenNodesBothWays) {
  for (const auto& [name, matrix] : kinds_of_graphs())
    for (const int block : {1, 2, 3, 8, 1000}) {
      const NodeGraph graph = run_with_threads(2, [&] { return node_graph(Pattern(matrix), block); });
      EXPECT_EQ(graph.nodes, nodes_of(matrix.rows, block));
      const Edges found = edges_of(graph), expected = expected_edges(matrix, block);
      ASSERT_EQ(found.size(), expected.size()) << name;
      // Up to a factor: half for symmetric ones, and equal weights are 1.
      for (const auto& [edge, weight] : expected) {
        const auto here = found.find(edge);
        ASSERT_NE(here, found.end()) << name;
        ASSERT_EQ(here->second * expected.begin()->second, weight * found.begin()->second) << name << ", " << block;
      }
    }
}

TEST(NodeGraph, OfSomeNodesHasTheEdgesAmongThem) {
  const NodeGraph graph = node_graph(Pattern(with_entries(5, {{0, 1}, {1, 0}, {1, 3}, {3, 4}, {4, 0}})), 1);
  Array<Index> number(5, -1);
  const std::vector<Index> nodes = {4, 0, 1};
  const Edges expected = {{{0, 1}, 1}, {{1, 0}, 1}, {{1, 2}, 2}, {{2, 1}, 2}};
  EXPECT_EQ(edges_of(subgraph(graph, nodes, number)), expected);
  for (const Index left : number) EXPECT_EQ(left, -1);
}

Offset cut_of(const NodeGraph& graph, const Array<Index>& part_of) {
  Offset cut = 0;
  for (Index node = 0; node < graph.nodes; ++node)
    graph.each_neighbour(node, [&](Index neighbour, Index weight) {
      if (part_of[node] != part_of[neighbour]) cut += weight;
    });
  return cut;
}

Array<Index> random_parts(Index nodes, Index parts, unsigned seed) {
  test::Dice dice(seed);
  Array<Index> part_of(static_cast<std::size_t>(nodes));
  for (Index& part : part_of) part = dice.below(parts);
  return part_of;
}

TEST(Repair, BringsEveryPartUnderTheLimitHoweverTight) {
  for (const auto& [name, matrix] : kinds_of_graphs()) {
    const NodeGraph graph = node_graph(Pattern(matrix), 1);
    for (const Index parts : {1, 2, 7, 30}) {
      if (graph.nodes == 0) continue;
      const Index limit = (graph.nodes + parts - 1) / parts;
      Array<Index> all_in_one(static_cast<std::size_t>(graph.nodes), parts - 1);
      for (Array<Index> part_of : {all_in_one, random_parts(graph.nodes, parts, 9)}) {
        repair(graph, parts, limit, part_of);
        const std::vector<Index> sizes = sizes_of(part_of, parts);
        EXPECT_LE(*std::ranges::max_element(sizes), limit) << name << ", " << parts << " parts";
      }
    }
  }
}

TEST(Repair, LeavesWhatIsRightAlone) {
  const NodeGraph grid = node_graph(Pattern(read_matrix<double>("gen:poisson2d:20")), 1);
  Array<Index> part_of = contiguous_parts(grid.nodes, {4, 100});
  const Array<Index> before = part_of.clone();
  repair(grid, 4, 100, part_of);
  EXPECT_TRUE(std::ranges::equal(part_of, before));
}

TEST(Repair, PushesFromNeighbourToNeighbour) {
  // Strips of a grid, of which the first has too much and only the last has room: nothing but borders may move.
  const NodeGraph grid = node_graph(Pattern(read_matrix<double>("gen:poisson2d:20")), 1);
  Array<Index> part_of(400);
  for (Index node = 0; node < 400; ++node) part_of[node] = node < 120 ? 0 : std::min(3, (node - 120) / 100 + 1);
  const Offset cut = cut_of(grid, part_of);
  repair(grid, 4, 100, part_of);
  EXPECT_EQ(sizes_of(part_of, 4), (std::vector<Index>{100, 100, 100, 100}));
  EXPECT_LE(cut_of(grid, part_of), cut + 12);
  std::set<std::pair<Index, Index>> touching;
  for (Index node = 0; node < 400; ++node)
    grid.each_neighbour(node, [&](Index other, Index) { touching.emplace(part_of[node], part_of[other]); });
  EXPECT_FALSE(touching.contains({0, 3}));
  EXPECT_FALSE(touching.contains({0, 2}));
}

}  // namespace
}  // namespace weft::ordering
