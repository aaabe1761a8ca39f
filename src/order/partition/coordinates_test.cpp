#include "order/partition/coordinates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "order/partition/multilevel/device.hpp"
#include "order/partition/testing.hpp"

namespace weft::ordering {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Coordinates> points(int dimensions, std::vector<double> numbers) {
  return std::make_shared<const Coordinates>(Coordinates{dimensions, Array<double>(std::move(numbers))});
}

/// The nodes of a grid of side^dimensions nodes, the first coordinate running fastest.
std::shared_ptr<const Coordinates> grid_points(Index side, int dimensions, double scale = 1) {
  std::vector<double> numbers;
  const auto count = static_cast<Index>(std::lround(std::pow(side, dimensions)));
  for (Index node = 0; node < count; ++node)
    for (Index d = 0, rest = node; d < dimensions; ++d, rest /= side) numbers.push_back(scale * (rest % side));
  return points(dimensions, std::move(numbers));
}

/// Points of every awkward kind.
std::vector<double> random_points(Index count, int dimensions, test::Dice& dice) {
  std::vector<double> numbers(static_cast<std::size_t>(count) * static_cast<std::size_t>(dimensions));
  const Index kind = dice.below(6);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto point = static_cast<double>(i / static_cast<std::size_t>(dimensions));
    const bool first = i % static_cast<std::size_t>(dimensions) == 0;
    switch (kind) {
      case 0:
        numbers[i] = 3.5;
        break;  // all in one place
      case 1:
        numbers[i] = 1e-3 * point;
        break;  // on a line
      case 2:
        numbers[i] = first ? 7.0 : dice.uniform();
        break;  // flat
      case 3:
        numbers[i] = std::ldexp(dice.uniform(), 1020);
        break;  // differences beyond the largest number
      case 4:
        numbers[i] = static_cast<double>(dice.below(3));
        break;  // many in the same places
      default:
        numbers[i] = dice.uniform();
        break;
    }
  }
  return numbers;
}

Array<Index> parts_on(Device device, const Csr<double>& matrix, int block, const Coordinates& coordinates,
                      const PartSizes& sizes, const Pulse& pulse = Pulse()) {
  const DeviceBuffer<Offset> offsets(device, matrix.offsets);
  return WEFT_ON_DEVICE(device, multilevel::halve_points)(
      {.device = device, .rows = matrix.rows, .offsets = offsets.data(), .block = block},
      points_of_nodes(coordinates, matrix.rows, block), sizes, pulse);
}

TEST(Coordinates, HalveAGridIntoBricks) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson3d:16");
  for (const double scale : {1.0, 1e-300, 1e300}) {
    const Partition found = partition(matrix, {.parts = 8, .coordinates = grid_points(16, 3, scale)});
    const PartitionQuality quality = weft::quality(matrix, found);
    EXPECT_EQ(quality.largest, 512) << scale;
    EXPECT_EQ(quality.smallest, 512) << scale;
    // Cubes would cut 3 * 16 * 16 edges; a cube has no longest axis, so a slanted cut is as good.
    EXPECT_LE(quality.cut, 2 * 3 * 16 * 16 * 1.7) << scale;
  }
  // A rod is cut across.
  const Csr<double> rod = read_matrix<double>("gen:poisson3d:64:4:4");
  std::vector<double> numbers;
  for (Index node = 0; node < rod.rows; ++node)
    for (const Index number : {node % 64, node / 64 % 4, node / 256}) numbers.push_back(number);
  EXPECT_LE(quality(rod, partition(rod, {.parts = 8, .coordinates = points(3, numbers)})).cut, 2 * 7 * 16 * 1.5);
}

TEST(Coordinates, GiveTheSamePartsOnACpuAndAGpuWithinTheLimit) {
  test::Dice dice(5);
  for (int round = 0; round < 40; ++round) {
    const int block = 1 + dice.below(3), dimensions = 1 + dice.below(3);
    std::vector<Index> lengths(static_cast<std::size_t>(1 + dice.below(300)));
    for (Index& length : lengths) length = dice.below(4) == 0 ? dice.below(60) : dice.below(4);
    const Csr<double> matrix = test::random_rows<double>(70, lengths, static_cast<unsigned>(round));
    const Index nodes = nodes_of(matrix.rows, block);
    const bool per_node = dice.below(2) == 0;
    const auto given = points(dimensions, random_points(per_node ? nodes : matrix.rows, dimensions, dice));
    const Index parts = 1 + dice.below(nodes + 3), fewest = (nodes + parts - 1) / parts;
    const PartSizes sizes{parts, fewest + dice.below(4), dice.below(2) == 0};
    SCOPED_TRACE("round " + std::to_string(round));
    require_coordinates(*given, matrix.rows, block);
    const auto run = [&] { return coordinate_parts(Pattern(matrix), block, *given, sizes, Pulse()); };
    const Array<Index> expected = run();
    ASSERT_LE(std::ranges::max(sizes_of(expected, parts)), sizes.even_entries ? sizes.capacity : fewest);
    if (const std::optional<Device> device = device_with_kernels()) {
      ASSERT_TRUE(std::ranges::equal(
          run_with_threads(1, [&] { return parts_on(*device, matrix, block, *given, sizes); }), expected));
    }
  }
}

TEST(Coordinates, OfLargeMatricesAreTheSameForAnyThreads) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson3d:40");
  const PartitionOptions options{.parts = 37, .even_entries = true, .coordinates = grid_points(40, 3)};
  const Partition one = run_with_threads(1, [&] { return partition(matrix, options); });
  for (const int threads : {2, 4})
    EXPECT_TRUE(same(run_with_threads(threads, [&] { return partition(matrix, options); }), one)) << threads;
}

TEST(Coordinates, EvenEntriesWeighRows) {
  std::vector<Index> lengths(1000, 2);
  std::fill(lengths.begin(), lengths.begin() + 100, 40);  // two thirds of the entries
  const Csr<double> matrix = test::random_rows<double>(1000, lengths);
  std::vector<double> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const auto first_part = [&](Index most_rows, bool even) {
    const Partition found = partition(
        matrix, {.parts = 2, .most_rows = most_rows, .even_entries = even, .coordinates = points(1, numbers)});
    EXPECT_TRUE(std::ranges::is_sorted(found.part_of) || std::ranges::is_sorted(found.part_of, std::ranges::greater()));
    const std::vector<Index> sizes = sizes_of(found.part_of, 2);
    return sizes[static_cast<std::size_t>(found.part_of[0])];
  };
  EXPECT_NEAR(first_part(0, true), 83, 1);  // 41 * 83 is half of 41 * 100 + 3 * 900
  EXPECT_EQ(first_part(0, false), 500);
  EXPECT_EQ(first_part(700, true), 300) << "no part may have more than 700 rows";
}

TEST(Coordinates, KeepNodesTogetherAndTheLimit) {
  const Csr<double> matrix = read_matrix<double>("gen:elasticity3d:8");
  std::vector<double> numbers(static_cast<std::size_t>(matrix.rows));
  test::Dice dice(3);
  for (double& number : numbers) number = dice.uniform();
  for (const auto& given : {grid_points(8, 3), points(3, numbers), points(1, numbers)})
    for (const Index most_rows : {7, 33, 100, 5000})
      for (const bool even : {false, true}) {
        const auto count = static_cast<Index>(given->points.size()) / given->dimensions;
        if (count != matrix.rows && count != matrix.rows / 3) continue;
        const Partition found =
            partition(matrix, {.most_rows = most_rows, .block = 3, .even_entries = even, .coordinates = given});
        EXPECT_LE(largest(found), most_rows);
        EXPECT_TRUE(keeps_blocks(found, 3));
        EXPECT_EQ(found.parts, most_rows >= matrix.rows ? 1 : (matrix.rows / 3 + most_rows / 3 - 1) / (most_rows / 3));
      }
}

TEST(Coordinates, TakeMatricesThatAreNotSquare) {
  const Csr<double> matrix = test::random_rows<double>(7, std::vector<Index>(64, 3));
  const Partition found = partition(matrix, {.parts = 4, .coordinates = grid_points(8, 2)});
  EXPECT_EQ(sizes_of(found.part_of, 4), (std::vector<Index>{16, 16, 16, 16}));
}

TEST(Coordinates, GoBeforeMultilevelAndAfterAName) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:20");
  const auto by = [&](Partitioner method, bool given) {
    return partition(matrix, {.parts = 7, .method = method, .coordinates = given ? grid_points(20, 2) : nullptr});
  };
  EXPECT_TRUE(same(by(Partitioner::automatic, true), by(Partitioner::coordinates, true)));
  EXPECT_TRUE(same(by(Partitioner::multilevel, true), by(Partitioner::multilevel, false)));
  EXPECT_FALSE(same(by(Partitioner::automatic, true), by(Partitioner::multilevel, true)));
}

TEST(Coordinates, ThatMakeNoSenseAreRefused) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:2");  // 4 rows
  const auto refusal = [&](std::shared_ptr<const Coordinates> given, int block = 1) {
    return error_of(
        [&] {
          partition(matrix, {.parts = 2, .block = block, .method = Partitioner::coordinates, .coordinates = given});
        },
        ErrorCode::invalid_argument);
  };
  EXPECT_EQ(refusal(nullptr), "the partitioner 'coordinates' needs coordinates: a point per row or node");
  EXPECT_EQ(refusal(points(1, {1, 2, 3})),
            "there are coordinates of 3 points, but the matrix has 4 rows; give a point per row");
  EXPECT_EQ(refusal(points(1, {1}), 2),
            "there are coordinates of 1 point, but the matrix has 4 rows; give a point per row or per 2 rows");
  EXPECT_EQ(refusal(points(2, {1, 2, 3})), "there are 3 coordinates, which do not make points of 2");
  EXPECT_EQ(refusal(points(0, {})), "points must have 1 to 3 coordinates, not 0");
  EXPECT_EQ(refusal(points(4, std::vector<double>(16))), "points must have 1 to 3 coordinates, not 4");
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refusal(points(2, {0, 0, 1, 1, 2, wrong, 3, 3})), HasSubstr("must be finite, but point 2 has"));
  EXPECT_EQ(refusal(points(1, {1, 2, 3, 4}), 3), "no error");
  EXPECT_EQ(refusal(points(1, {1, 2}), 3), "no error") << "nodes of three rows and of one";
}

TEST(Coordinates, ProgressRisesAndCancelEndsIt) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:24");
  const auto given = grid_points(24, 2);
  const auto on_cpu = [&](const Progress& progress) {
    partition(matrix, {.parts = 30, .coordinates = given, .progress = progress});
  };
  expect_progress_and_cancel(on_cpu, 5);
  const std::optional<Device> device = device_with_kernels();
  if (!device) return;
  const auto on_device = [&](const Progress& progress) {
    parts_on(*device, matrix, 1, *given, {30, matrix.rows}, Pulse(progress));
  };
  expect_progress_and_cancel(on_device, 5);
}

TEST(Coordinates, OfAMeshCutLittle) {
  const std::string mesh = "fem:" WEFT_SHARED_DATA "/meshes/flange.msh.xz:poisson:p1";
  if (!std::filesystem::exists(WEFT_SHARED_DATA "/meshes/flange.msh.xz")) GTEST_SKIP() << "no shared meshes here";
  const Csr<double> matrix = read_matrix<double>(mesh);
  const auto given = std::make_shared<const Coordinates>(read_coordinates(mesh));
  const auto cut = [&](const PartitionOptions& options) {
    return static_cast<double>(quality(matrix, partition(matrix, options)).cut);
  };
  EXPECT_LE(cut({.parts = 40, .coordinates = given}), 2 * cut({.parts = 40}));
}

}  // namespace
}  // namespace weft::ordering
