#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "order/partition/methods.hpp"
#include "order/partition/multilevel/device.hpp"
#include "order/partition/multilevel/multilevel.hpp"
#include "order/partition/testing.hpp"

namespace weft::ordering {
namespace {

bool has_symmetric_pattern(const Csr<double>& matrix) {
  const Csr<double> other = transpose(matrix);
  return std::ranges::equal(matrix.offsets, other.offsets) && std::ranges::equal(matrix.columns, other.columns);
}

Array<Index> parts_on(Device device, const Csr<double>& matrix, int block, const PartSizes& sizes) {
  const DeviceBuffer<Offset> offsets(device, matrix.offsets);
  const DeviceBuffer<Index> columns(device, matrix.columns);
  return WEFT_ON_DEVICE(device, multilevel::find_parts)({.device = device,
                                                         .rows = matrix.rows,
                                                         .entries = matrix.nonzeros(),
                                                         .offsets = offsets.data(),
                                                         .columns = columns.data(),
                                                         .symmetric = has_symmetric_pattern(matrix),
                                                         .block = block},
                                                        sizes, Pulse());
}

/// Parts of every node are the same on a CPU and on a GPU; no part has too many. Returns them.
Array<Index> expect_same_parts(const Csr<double>& matrix, int block, const PartSizes& sizes) {
  set_threads(1);  // these are too small to be shared
  const NodeGraph graph = node_graph(Pattern(matrix), block);
  Array<Index> parts;
  if (graph.nodes >= 2) {
    parts = multilevel_parts(graph, sizes, Pulse());
    const Index limit = sizes.even_entries ? sizes.capacity : balanced_limit(graph.nodes, sizes);
    EXPECT_LE(std::ranges::max(sizes_of(parts, sizes.parts)), limit);
    if (const std::optional<Device> device = device_with_kernels()) {
      EXPECT_TRUE(std::ranges::equal(parts_on(*device, matrix, block, sizes), parts)) << "on " << device->name();
    }
  }
  set_threads(0);
  return parts;
}

TEST(Multilevel, GivesTheSamePartsOnACpuAndAGpu) {
  std::vector<NamedGraph> graphs = kinds_of_graphs();
  graphs.push_back({"one-way chain", with_entries(60, [] {
                      std::vector<std::pair<Index, Index>> places;
                      for (Index row = 0; row + 1 < 60; ++row) places.emplace_back(row, row + 1);
                      return places;
                    }())});
  graphs.push_back({"two nodes", with_entries(2, {{0, 1}})});
  bool even_entries = false, tight = false;  // each combination in turn
  for (const auto& [name, matrix] : graphs) {
    if (matrix.rows > 4000) continue;
    for (const int block : {1, 3}) {
      SCOPED_TRACE(name + ", block " + std::to_string(block) + (even_entries ? ", even entries" : ""));
      const Index nodes = nodes_of(matrix.rows, block);
      expect_same_parts(matrix, block,
                        tight ? PartSizes{13, (nodes + 12) / 13 + 1, even_entries} : PartSizes{5, nodes, even_entries});
      even_entries = !even_entries;
      if (even_entries) tight = !tight;
    }
  }
}

TEST(Multilevel, GivesTheSamePartsForLargerGraphsAndAnyThreads) {  // of several levels, with hubs
  const auto expect = [](const std::string& source, int block, Index parts, bool even_entries) {
    SCOPED_TRACE(source);
    const Csr<double> matrix = read_matrix<double>(source);
    const PartSizes sizes{parts, nodes_of(matrix.rows, block), even_entries};
    const Array<Index> expected = expect_same_parts(matrix, block, sizes);
    const NodeGraph graph = node_graph(Pattern(matrix), block);
    for (const int threads : {2, 4})
      EXPECT_TRUE(std::ranges::equal(run_with_threads(threads, [&] { return multilevel_parts(graph, sizes, Pulse()); }),
                                     expected))
          << threads << " threads";
  };
  expect("gen:stencil27:14", 1, 12, false);
  expect("gen:elasticity3d:10", 3, 7, true);
  expect("gen:rmat:11", 1, 9, true);
  expect("gen:arrow:2500", 1, 11, true);
}

/// A random graph of a random kind: sparse or dense, with hubs or not, in several components or one.
Csr<double> random_graph(test::Dice& dice) {
  const Index rows = 2 + dice.below(400);
  const Index hubs = dice.below(3) == 0 ? 1 + dice.below(4) : 0;
  const Index per_row = dice.below(5), reach = 1 + dice.below(rows);
  std::vector<std::pair<Index, Index>> places;
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < per_row; ++i) places.emplace_back(row, std::min(rows - 1, row + dice.below(reach)));
    for (Index hub = 0; hub < hubs; ++hub)
      if (dice.below(2) == 0) places.emplace_back(row, dice.below(rows) % (hub + 1));
  }
  return with_entries(rows, places);
}

TEST(Multilevel, GivesTheSamePartsForRandomGraphs) {
  test::Dice dice(11);
  for (int round = 0; round < 12; ++round) {
    const Csr<double> matrix = random_graph(dice);
    const int block = 1 + dice.below(4);
    const Index nodes = nodes_of(matrix.rows, block), parts = 2 + dice.below(std::max(1, nodes));
    const Index fewest = (nodes + parts - 1) / parts;
    SCOPED_TRACE("round " + std::to_string(round));
    expect_same_parts(matrix, block, {parts, fewest + dice.below(nodes - fewest + 1), dice.below(2) == 0});
  }
}

TEST(Multilevel, PartsAreWithinThreePercentOfTheirMean) {
  for (const char* source : {"gen:poisson3d:20", "gen:stencil27:18", "gen:poisson2d:90", "gen:circuit:5000"}) {
    const Csr<double> matrix = shuffle(read_matrix<double>(source), 2);
    for (const Index parts : {2, 7, 16}) {
      const auto run = [&] { return partition(matrix, {.parts = parts, .method = Partitioner::multilevel}); };
      const Partition found = run_with_threads(1, run);
      EXPECT_LE(largest(found), 1 + 1.03 * matrix.rows / parts) << source << ", " << parts;
      EXPECT_EQ(quality(matrix, found).empty, 0) << source << ", " << parts;
    }
  }
}

TEST(Multilevel, FindsIslands) {
  const Csr<double> matrix = islands({25, 25, 25, 25, 25, 25, 25, 25});
  EXPECT_EQ(quality(matrix, partition(matrix, {.parts = 8, .method = Partitioner::multilevel})).cut, 0);
  EXPECT_EQ(quality(matrix, partition(matrix, {.most_rows = 25, .method = Partitioner::multilevel})).cut, 0);
}

double cut_by(const Csr<double>& matrix, Partitioner method, Index parts, int block) {
  const auto run = [&] { return partition(matrix, {.parts = parts, .block = block, .method = method}); };
  return static_cast<double>(quality(matrix, run_with_threads(1, run)).cut);
}

TEST(Multilevel, CutsAboutAsLittleAsMetisOnMeshes) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  struct Case {
    std::string source;
    int block;
    Index parts;
  };
  std::vector<Case> cases = {{"gen:poisson2d:100", 1, 9}, {"gen:poisson2d:100", 1, 25},
                             {"gen:poisson3d:30", 1, 20}, {"gen:poisson3d:30", 1, 100},
                             {"gen:stencil27:30", 1, 20}, {"gen:elasticity3d:18", 3, 12}};
  const std::string mesh = WEFT_SHARED_DATA "/meshes/flange.msh.xz";
  if (std::filesystem::exists(mesh)) cases.push_back({"fem:" + mesh + ":poisson:p1", 1, 60});
  for (const auto& [source, block, parts] : cases) {
    const Csr<double> natural = read_matrix<double>(source);
    for (const bool shuffled : {false, true}) {
      if (shuffled && block > 1) continue;  // shuffled rows have no nodes any more
      const Csr<double> matrix = shuffled ? shuffle(natural, 5) : natural;
      const double ratio =
          cut_by(matrix, Partitioner::multilevel, parts, block) / cut_by(matrix, Partitioner::metis, parts, block);
      std::cout << source << (shuffled ? ", shuffled, " : ", ") << parts << " parts: multilevel / metis " << ratio
                << "\n";
      EXPECT_LE(ratio, 1.15) << source;
    }
  }
}

TEST(Multilevel, ProgressRisesOnTheDeviceAndCancelEndsIt) {
  const Csr<double> matrix = read_matrix<double>("gen:stencil27:8");
  const std::optional<Device> found = device_with_kernels();
  if (!found) GTEST_SKIP() << "no kernel runs in this build";
  const Device device = *found;
  const DeviceBuffer<Offset> offsets(device, matrix.offsets);
  const DeviceBuffer<Index> columns(device, matrix.columns);
  const auto run = [&](const Progress& progress) {
    WEFT_ON_DEVICE(device, multilevel::find_parts)
    ({.device = device,
      .rows = matrix.rows,
      .entries = matrix.nonzeros(),
      .offsets = offsets.data(),
      .columns = columns.data(),
      .symmetric = true},
     {.parts = 4, .capacity = matrix.rows}, Pulse(progress));
  };
  expect_progress_and_cancel(run, 4);
}

}  // namespace
}  // namespace weft::ordering
