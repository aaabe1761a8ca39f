#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <map>
#include <string>

#include "core/file_bytes.hpp"
#include "generate/testing.hpp"

namespace weft {
namespace {

using testing::is_positive_definite;
using testing::is_symmetric;

Offset row_length(const Csr<double>& matrix, Index row) { return matrix.offsets[row + 1] - matrix.offsets[row]; }

struct Golden {
  const char* source;
  Index rows, cols;
  Offset nonzeros;
  std::uint64_t f64, f32;
};
void PrintTo(const Golden& golden, std::ostream* stream) { *stream << golden.source; }

class EveryGenerator : public ::testing::TestWithParam<Golden> {};

TEST_P(EveryGenerator, IsCanonicalAndHasTheSameBytesOnEveryMachineAndForAnyNumberOfThreads) {
  const Golden& golden = GetParam();
  const testing::Threads one(1);
  const Csr<double> matrix = generate<double>(golden.source);
  EXPECT_EQ(check(matrix), "");
  EXPECT_EQ(matrix.rows, golden.rows);
  EXPECT_EQ(matrix.cols, golden.cols);
  EXPECT_EQ(matrix.nonzeros(), golden.nonzeros);
  EXPECT_EQ(testing::checksum(matrix), golden.f64);
  const Csr<float> rounded = generate<float>(golden.source);
  EXPECT_EQ(testing::checksum(rounded), golden.f32);
  EXPECT_EQ(rounded.symmetry, matrix.symmetry);
  if (matrix.symmetry != Symmetry::general) {
    EXPECT_EQ(matrix.symmetry, Symmetry::symmetric);
    EXPECT_TRUE(is_symmetric(matrix));
    EXPECT_TRUE(is_symmetric(rounded));
  }
  EXPECT_TRUE(testing::same_bits(rounded, convert<float>(matrix)));
  for (const int count : {2, 5}) {
    set_threads(count);
    EXPECT_TRUE(testing::same_bits(matrix, generate<double>(golden.source))) << count << " threads";
  }
}

// The checksums pin every byte: a change here changes everyone's generated matrices and must be meant.
INSTANTIATE_TEST_SUITE_P(
    Sizes, EveryGenerator,
    ::testing::Values(Golden{"gen:poisson2d:1", 1, 1, 1, 0x60126e8ee64531c4, 0x0d390c6bc33f9894},
                      Golden{"gen:poisson2d:2", 4, 4, 12, 0x64e7674c8ccd2c45, 0x712518d811b04de5},
                      Golden{"gen:poisson2d:30:20", 600, 600, 2900, 0xcb16cc56445b33cf, 0x256a31820210df0f},
                      Golden{"gen:poisson3d:1", 1, 1, 1, 0x602e1e8ee65d248c, 0x0e130c6bc3f93c54},
                      Golden{"gen:poisson3d:2", 8, 8, 32, 0x8260cd58d1805525, 0x02a13b11f8c80225},
                      Golden{"gen:poisson3d:12", 1728, 1728, 11232, 0x10f2aa9a1d886860, 0x8bcbb054193f4060},
                      Golden{"gen:poisson3d:5:1:9", 45, 45, 197, 0x2ca22d975e77595c, 0xce324be6be745644},
                      Golden{"gen:stencil27:1", 1, 1, 1, 0x5fc82a8ee60685be, 0x0ddc2d6bc3ca31f7},
                      Golden{"gen:stencil27:2", 8, 8, 64, 0x9bfb27780edb78a5, 0x81144b7c81bbb625},
                      Golden{"gen:stencil27:9:8:7", 504, 504, 10450, 0xed323c0f1fded75a, 0x259c24ba0234b5ca},
                      Golden{"gen:elasticity3d:2", 24, 24, 576, 0x4791365f91513d3c, 0x3d430fd22cd902b4},
                      Golden{"gen:elasticity3d:6", 648, 648, 36864, 0xaca557e16b7d30a1, 0xa7576d1ad91f1f9b},
                      Golden{"gen:epidemic2d:1:2", 2, 2, 2, 0xcc221f0a098cb7d7, 0xbfc0b19e5f79f2f7},
                      Golden{"gen:epidemic2d:7:3", 18, 18, 55, 0xa36db78e3ec11f4a, 0x90b8e3e60774e293},
                      Golden{"gen:lattice4d:3:4", 1296, 1296, 50544, 0xb5303ad5d59bdb88, 0x44db1bd4d7646bc5},
                      Golden{"gen:elasticity3d:5:4:3:variation=10:seed=9", 180, 180, 8190, 0x3c4c0deb09d07e1e,
                             0x57d1385a7aab70bc},
                      Golden{"gen:rmat:0", 1, 1, 1, 0x7d2cb3e14e773c5e, 0xa1f3e98a29396d98},
                      Golden{"gen:rmat:1", 2, 2, 4, 0x28b53c852b11bd70, 0xa353feee34ba7b0b},
                      Golden{"gen:rmat:10", 1024, 1024, 12076, 0xfc26af3a0aedfd44, 0x172a4a4e78123647},
                      Golden{"gen:rmat:12:edges=5:seed=3", 4096, 4096, 18510, 0x6799532ff17d4eb8, 0x8be75730a4779aef},
                      Golden{"gen:uniform:1:1", 1, 1, 1, 0x7d2cb3e14e773c5e, 0xa1f3e98a29396d98},
                      Golden{"gen:uniform:2:0", 2, 2, 0, 0x69b16d0139137cc5, 0x69b16d0139137cc5},
                      Golden{"gen:uniform:500:9", 500, 500, 4500, 0x6f4cb8394d3743be, 0xb1e3f6d644657847},
                      Golden{"gen:uniform:100:30:cols=40", 100, 40, 3000, 0x3b93e5f6578ce8de, 0xbacae45c774f9bb5},
                      Golden{"gen:band:1:0", 1, 1, 1, 0x5d19958ee3bf1ce9, 0x0d39536bc3401139},
                      Golden{"gen:band:2:5", 2, 2, 4, 0x7fb8ce17ddab4c43, 0xc8d2bdcacd008f53},
                      Golden{"gen:band:200:4", 200, 200, 1780, 0x7f5e6089bf823dd3, 0x4cf264742a990e03},
                      Golden{"gen:circuit:1", 1, 1, 1, 0x5d19958ee3bf1ce9, 0x0d39536bc3401139},
                      Golden{"gen:circuit:2", 2, 2, 2, 0xb62397b8a40820b7, 0xb24642fbd7b2ba27},
                      Golden{"gen:circuit:5000", 5000, 5000, 39231, 0x69a2b4ddd717867e, 0x70c26cf7aec3f081},
                      Golden{"gen:circuit:5000:hubs=0", 5000, 5000, 24264, 0x42c1217d350d9162, 0xbce5a21c0a368663},
                      Golden{"gen:lp:1:1", 1, 1, 1, 0x7d2cb3e14e773c5e, 0xa1f3e98a29396d98},
                      Golden{"gen:lp:2:2", 2, 2, 4, 0xf5bff2c2997e5be5, 0x8309b37f5488e905},
                      Golden{"gen:lp:50:20000", 50, 20000, 7456, 0xda55cd8c92cd8fbb, 0xfabb3ae97a4f3262},
                      Golden{"gen:tall:1", 1, 1, 1, 0x7d2cb3e14e773c5e, 0xa1f3e98a29396d98},
                      Golden{"gen:tall:2", 2, 1, 2, 0x1cb68e18ba58b4ed, 0x04a31ed74d0a5e74},
                      Golden{"gen:tall:20000", 20000, 200, 40855, 0xb38db92660a37d6e, 0x4135af36183c4484},
                      Golden{"gen:tall:5000:cols=100:long=2", 5000, 100, 10138, 0x6fcc5b714944f3b1, 0x12fac8f954fc2bc3},
                      Golden{"gen:arrow:1", 1, 1, 1, 0x5d19958ee3bf1ce9, 0x0d39536bc3401139},
                      Golden{"gen:arrow:2", 2, 2, 4, 0xb707f6c615dcbfb3, 0x14e3fa273e6381c3},
                      Golden{"gen:arrow:300", 300, 300, 898, 0x0540fd0b56d5e203, 0x5647e8b7c6b27c36},
                      Golden{"gen:dense:1", 1, 1, 1, 0x5abb62450d593754, 0xd683076ab679948e},
                      Golden{"gen:dense:2", 2, 2, 4, 0x9f2e32432703147a, 0x6d22dcf8cb1aed04},
                      Golden{"gen:dense:20:30", 20, 30, 600, 0xcd8792465799f3e2, 0xc141a3e92ca75ca7},
                      Golden{"gen:empty-rows:1", 1, 1, 0, 0x3d57527d6b09b175, 0x3d57527d6b09b175},
                      Golden{"gen:empty-rows:2", 2, 2, 0, 0x69b16d0139137cc5, 0x69b16d0139137cc5},
                      Golden{"gen:empty-rows:3", 3, 3, 1, 0xa145daf02bd14dab, 0x7303cd975eb326a8},
                      Golden{"gen:empty-rows:1000", 1000, 1000, 1477, 0x5bc9b53d86e65b0e, 0xfa86a6193b20594f},
                      Golden{"gen:diagonal:1", 1, 1, 1, 0x47b1b3a0d595fd1d, 0xffbbaff1b03e1a46},
                      Golden{"gen:diagonal:100", 100, 100, 100, 0x43d28378822fb045, 0x29323f3252f9eb25}));

TEST(Generators, LargeOnesAreBuiltInPiecesWithTheSameBitsForAnyNumberOfThreads) {
  for (const char* source :
       {"gen:poisson2d:200", "gen:poisson3d:30", "gen:stencil27:20", "gen:elasticity3d:12", "gen:rmat:14",
        "gen:uniform:20000:9", "gen:circuit:50000", "gen:lp:500:50000", "gen:tall:100000", "gen:empty-rows:200000",
        "gen:band:20000:8", "gen:dense:400", "gen:arrow:100000", "gen:diagonal:200000"}) {
    const testing::Threads one(1);
    const Csr<double> expected = generate<double>(source);
    EXPECT_GT(expected.nonzeros(), 65536) << source << " is built in one piece";
    for (const int count : {2, 5}) {
      set_threads(count);
      EXPECT_TRUE(testing::same_bits(expected, generate<double>(source))) << source << ", " << count << " threads";
    }
  }
}

/// How generate ends that is stopped as soon as it has found the memory sufficient.
ErrorCode stopped_at_work(const std::string& source) {
  const testing::Threads one(1);
  try {
    generate<double>(source, [](double) { return false; });
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << source << " was not stopped";
  return ErrorCode::io;
}

TEST(Generators, WhatFitsIntoMemoryIsNotRefused) {
  const auto memory = static_cast<double>(io::machine_memory());
  const auto size = [](double number, double most) {
    return std::to_string(static_cast<std::int64_t>(std::min(number, most)));
  };
  // Three entries a row, 44 bytes; and five, 68 bytes.
  EXPECT_EQ(stopped_at_work("gen:stencil27:" + size(0.5 * memory / 44, INT32_MAX) + ":1:1"), ErrorCode::cancelled);
  EXPECT_EQ(stopped_at_work("gen:poisson2d:" + size(std::sqrt(0.9 * memory / 68), 46340)), ErrorCode::cancelled);
  // Edges of 4 bytes each, of which 256 at most remain.
  EXPECT_EQ(stopped_at_work("gen:rmat:4:edges=" + size(0.3 * memory / 4 / 16, INT32_MAX)), ErrorCode::cancelled);
}

TEST(Rmat, NeedsMemoryForItsEdgesAndForTheMatrixAtOnce) {
  // Half of the memory for 4 bytes an edge, so that the other half is too small for 12 an entry.
  const std::size_t per_row = io::machine_memory() / 8 >> 22;
  EXPECT_EQ(stopped_at_work("gen:rmat:22:edges=" + std::to_string(per_row)), ErrorCode::out_of_memory);
}

TEST(Generators, EveryListedExampleWorks) {
  for (const Generator& generator : generators()) {
    if (generator.name == "fem") continue;  // its example names a file
    EXPECT_TRUE(generator.example.starts_with("gen:" + generator.name)) << generator.example;
    const Csr<float> matrix = generate<float>(generator.example);
    EXPECT_EQ(check(matrix), "") << generator.example;
    EXPECT_GT(matrix.nonzeros(), 0) << generator.example;
    EXPECT_FALSE(generator.summary.empty());
  }
}

/// Symmetric examples are marked, and no others.
TEST(Generators, MarkSymmetricMatrices) {
  for (const Generator& generator : generators()) {
    if (generator.name == "fem") continue;  // its example names a file
    const Csr<double> matrix = generate<double>(generator.example);
    EXPECT_EQ(matrix.symmetry, is_symmetric(matrix) ? Symmetry::symmetric : Symmetry::general) << generator.example;
  }
}

TEST(Generators, SeedChangesTheRandomOnes) {
  for (const char* source :
       {"gen:rmat:8", "gen:uniform:100:5", "gen:band:50:3", "gen:circuit:1000", "gen:lp:20:500", "gen:tall:500",
        "gen:arrow:50", "gen:dense:10", "gen:empty-rows:100", "gen:diagonal:10", "gen:elasticity3d:4"}) {
    const std::string seeded = source;
    const Csr<double> first = generate<double>(seeded);
    EXPECT_TRUE(testing::same_bits(first, generate<double>(seeded + ":seed=1"))) << source;
    EXPECT_FALSE(testing::same_bits(first, generate<double>(seeded + ":seed=2"))) << source;
  }
}

TEST(Poisson, HasTheKnownEntries) {
  const auto a = testing::dense_of(generate<double>("gen:poisson2d:3:2"));
  const std::vector<std::vector<double>> expected = {{4, -1, 0, -1, 0, 0}, {-1, 4, -1, 0, -1, 0}, {0, -1, 4, 0, 0, -1},
                                                     {-1, 0, 0, 4, -1, 0}, {0, -1, 0, -1, 4, -1}, {0, 0, -1, 0, -1, 4}};
  EXPECT_EQ(a, expected);
}

TEST(Grids, AreSymmetricAndPositiveDefinite) {
  for (const char* source : {"gen:poisson2d:1", "gen:poisson2d:7:5", "gen:poisson3d:4:3:5", "gen:stencil27:4:5:3"}) {
    const Csr<double> matrix = generate<double>(source);
    EXPECT_TRUE(is_symmetric(matrix)) << source;
    EXPECT_TRUE(is_positive_definite(matrix)) << source;
  }
}

TEST(Grids, RowSumsVanishInside) {
  for (const char* source : {"gen:poisson3d:5", "gen:stencil27:5"}) {
    const Csr<double> matrix = generate<double>(source);
    const std::vector<double> sums = testing::product(matrix, std::vector<double>(125, 1.0));
    for (int node = 0; node < 125; ++node) {
      const int x = node % 5, y = node / 5 % 5, z = node / 25;
      const bool inside = x % 4 != 0 && y % 4 != 0 && z % 4 != 0;
      EXPECT_EQ(sums[node] == 0, inside) << source << " node " << node;
    }
  }
}

TEST(Band, IsSymmetricDominantAndFull) {
  const Csr<double> matrix = generate<double>("gen:band:40:6");
  EXPECT_TRUE(is_symmetric(matrix));
  EXPECT_TRUE(is_positive_definite(matrix));
  EXPECT_EQ(row_length(matrix, 0), 7);
  EXPECT_EQ(row_length(matrix, 20), 13);
  EXPECT_EQ(generate<double>("gen:band:5:100").nonzeros(), 25);
}

TEST(Arrow, IsSymmetricAndPositiveDefinite) {
  const Csr<double> matrix = generate<double>("gen:arrow:60");
  EXPECT_TRUE(is_symmetric(matrix));
  EXPECT_TRUE(is_positive_definite(matrix));
  EXPECT_EQ(row_length(matrix, 0), 60);
  EXPECT_EQ(row_length(matrix, 59), 2);
}

/// What the collection's index says about a matrix.
struct Facts {
  Offset diagonal = 0, partnered = 0;  // entries on the diagonal, and others with one at the mirrored place
  Index lower = 0, upper = 0;          // bandwidths
};

Facts facts_of(const Csr<double>& matrix) {
  Facts facts;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const Index column = matrix.columns[k];
      facts.lower = std::max(facts.lower, row - column);
      facts.upper = std::max(facts.upper, column - row);
      if (row == column)
        ++facts.diagonal;
      else
        facts.partnered += std::binary_search(matrix.columns.begin() + matrix.offsets[column],
                                              matrix.columns.begin() + matrix.offsets[column + 1], row);
    }
  return facts;
}

TEST(Epidemic2d, HasWhatTheCollectionSaysOfMc2depi) {
  const Csr<double> matrix = generate<double>("gen:epidemic2d:2050:257");
  EXPECT_EQ(matrix.rows, 525825);
  EXPECT_EQ(matrix.nonzeros(), 2100225);
  const Facts facts = facts_of(matrix);
  EXPECT_EQ(facts.diagonal, matrix.rows);
  EXPECT_EQ(facts.partnered, 0);
  EXPECT_EQ(facts.lower, 513);
  EXPECT_EQ(facts.upper, 257);
  for (Index row = 0; row < matrix.rows; ++row) {
    double sum = 0;
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) sum += matrix.values[k];
    ASSERT_EQ(sum, 0);
  }
}

TEST(Lattice4d, HasWhatTheCollectionSaysOfQcd5_4) {
  const Csr<double> matrix = generate<double>("gen:lattice4d:8");
  EXPECT_EQ(matrix.rows, 49152);
  EXPECT_EQ(matrix.nonzeros(), 1916928);
  for (Index row = 0; row < matrix.rows; ++row) ASSERT_EQ(row_length(matrix, row), 39);
  const Facts facts = facts_of(matrix);
  EXPECT_EQ(facts.diagonal, 0);
  EXPECT_EQ(facts.partnered, matrix.nonzeros() / 13 * 12);
  EXPECT_EQ(facts.lower, 43010);
  EXPECT_EQ(facts.upper, 43010);
}

TEST(Rmat, FavoursTheUpperLeftQuarterAsAsked) {
  const Csr<double> matrix = generate<double>("gen:rmat:14:edges=4");
  const Index half = matrix.rows / 2;
  Offset upper_left = 0, lower_right = 0;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      upper_left += row < half && matrix.columns[i] < half;
      lower_right += row >= half && matrix.columns[i] >= half;
    }
  const auto all = static_cast<double>(matrix.nonzeros());
  EXPECT_NEAR(static_cast<double>(upper_left) / all, 0.57, 0.05);
  EXPECT_NEAR(static_cast<double>(lower_right) / all, 0.05, 0.02);
  EXPECT_GT(row_length(matrix, 0), 100);
  EXPECT_LT(matrix.nonzeros(), 4 * matrix.rows) << "equal edges are merged";
}

TEST(Uniform, HasExactlyTheWantedEntriesARow) {
  const Csr<double> matrix = generate<double>("gen:uniform:300:7:cols=50");
  for (Index row = 0; row < 300; ++row) ASSERT_EQ(row_length(matrix, row), 7);
  EXPECT_EQ(generate<double>("gen:uniform:4:4").nonzeros(), 16);
  EXPECT_EQ(generate<double>("gen:uniform:4:0").nonzeros(), 0);
}

TEST(Circuit, HasFewEntriesARowAndAFewLongRowsAndColumns) {
  const Csr<double> matrix = generate<double>("gen:circuit:100000");
  const Csr<double> turned = transpose(matrix);
  int long_rows = 0, long_columns = 0;
  Offset longest = 0;
  for (Index row = 0; row < matrix.rows; ++row) {
    long_rows += row_length(matrix, row) > 5000;
    long_columns += row_length(turned, row) > 5000;
    longest = std::max(longest, row_length(matrix, row));
  }
  EXPECT_EQ(long_rows, 5);
  EXPECT_EQ(long_columns, 5);
  EXPECT_NEAR(static_cast<double>(longest), 50000, 1000);
  EXPECT_NEAR(static_cast<double>(matrix.nonzeros()), 100000 * (5 + 3.0), 30000);
}

TEST(Circuit, DiagonalOutweighsItsRow) {
  const Csr<double> matrix = generate<double>("gen:circuit:3000:hubs=3");
  for (Index row = 0; row < matrix.rows; ++row) {
    double diagonal = 0, others = 0;
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      (matrix.columns[i] == row ? diagonal : others) += std::abs(matrix.values[i]);
    ASSERT_GT(diagonal, others + 0.99);
  }
}

TEST(Lp, RowLengthsHaveAHeavyTail) {
  const Csr<double> matrix = generate<double>("gen:lp:2000:100000");
  std::vector<Offset> lengths;
  for (Index row = 0; row < matrix.rows; ++row) lengths.push_back(row_length(matrix, row));
  std::sort(lengths.begin(), lengths.end());
  EXPECT_GE(lengths.front(), 32);
  EXPECT_LT(lengths[1000], 100);
  EXPECT_GT(lengths.back(), 4000);
  EXPECT_LE(lengths.back(), 5000);
}

TEST(Tall, HasShortRowsAndFewLongOnes) {
  const Csr<double> matrix = generate<double>("gen:tall:50000:cols=20000");
  std::map<Offset, int> histogram;
  for (Index row = 0; row < matrix.rows; ++row) ++histogram[row_length(matrix, row)];
  ASSERT_EQ(histogram.size(), 4u);
  EXPECT_EQ(histogram[10000], 5);
  for (const Offset length : {1, 2, 3}) EXPECT_NEAR(histogram[length], 50000 / 3, 500);
}

TEST(EmptyRows, LeavesTwoThirdsEmptyInRunsWithBothEnds) {
  const Csr<double> matrix = generate<double>("gen:empty-rows:4803");
  int empty = 0, runs = 0;
  for (Index row = 0; row < matrix.rows; ++row) {
    empty += row_length(matrix, row) == 0;
    runs += row > 0 && row_length(matrix, row) > 0 && row_length(matrix, row - 1) == 0;
  }
  EXPECT_EQ(empty, 4803 * 2 / 3);
  EXPECT_EQ(runs, 101);
  EXPECT_EQ(row_length(matrix, 0), 0);
  EXPECT_EQ(row_length(matrix, 4802), 0);
}

}  // namespace
}  // namespace weft
