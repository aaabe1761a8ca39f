#include "tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace weft::bench {
namespace {

using testing::ElementsAre;

/// A hill in all three parameters with its top at W = 6, S = 16, B = 2, the same on two matrices.
double hill(Shape shape) {
  return 100 - std::abs(shape.width - 6) - std::abs(shape.tiles - 16) - std::abs(shape.bunches - 2);
}

std::vector<Trial> climb(std::span<const Shape> shapes) {
  std::vector<Trial> trials;
  for (const Shape& shape : shapes) trials.push_back({.shape = shape, .gflops = {hill(shape), 2 * hill(shape)}});
  return trials;
}

constexpr Shape kept{2, 8, 8}, top{6, 16, 2};

TEST(Trials, AreJudgedByTheHarmonicMean) {
  EXPECT_DOUBLE_EQ((Trial{.shape = {}, .gflops = {1, 3}}.mean()), 1.5);
  EXPECT_DOUBLE_EQ((Trial{.shape = {}, .gflops = {7}}.mean()), 7);
}

TEST(Grids, TakeInValuesInOrderAndOnce) {
  Grid grid{{2, 8}, {1, 31}, {4}};
  grid.include({4, 31, 1});
  EXPECT_THAT(grid.widths, ElementsAre(2, 4, 8));
  EXPECT_THAT(grid.tiles, ElementsAre(1, 31));
  EXPECT_THAT(grid.bunches, ElementsAre(1, 4));
  EXPECT_EQ(grid.all().size(), 12u);
  EXPECT_THAT(grid.cross({2, 1, 4}), testing::UnorderedElementsAre(Shape{2, 1, 4}, Shape{4, 1, 4}, Shape{8, 1, 4},
                                                                   Shape{2, 31, 4}, Shape{2, 1, 1}));
}

TEST(Searches, ReachTheTopAndKnowAllAroundIt) {
  const Search found = search(kept, {}, false, climb);
  EXPECT_EQ(found.best, top);
  EXPECT_LT(found.trials.size(), Grid{}.all().size());
  for (const Parameter& along : parameters)
    EXPECT_EQ(found.curve({}, along).size(), Grid{}.values(along).size()) << along.letter;
  EXPECT_NEAR(found.shortfall(), 1 - hill(kept) / hill(top), 1e-12);
}

TEST(Searches, EndWhereTheyStartIfNothingIsBetter) {
  const Search found = search(top, {}, false, climb);
  EXPECT_EQ(found.best, top);
  EXPECT_EQ(found.rounds, 1);
  EXPECT_EQ(found.trials.size(), Grid{}.cross(top).size());
  EXPECT_EQ(found.shortfall(), 0);
}

TEST(Searches, TryEverythingWhenAskedTo) {
  const Search found = search(kept, {}, true, climb);
  EXPECT_EQ(found.best, top);
  EXPECT_EQ(found.trials.size(), Grid{}.all().size());
}

TEST(Searches, AreNotMisledByAMachineThatSlowsDown) {
  double speed = 1;
  const Search found = search(kept, {}, false, [&](std::span<const Shape> shapes) {
    EXPECT_EQ(shapes.front(), kept);
    std::vector<Trial> trials = climb(shapes);
    for (Trial& trial : trials)
      for (double& gflops : trial.gflops) gflops *= speed;
    speed /= 3;
    return trials;
  });
  EXPECT_EQ(found.best, top);
  EXPECT_NEAR(found.find(top)->gflops[1], 2 * hill(top), 1e-9);
}

TEST(Searches, DoNotTrustOneLuckyMeasurement) {
  const Shape lucky{2, 1, 8};
  int seen = 0;
  const Search found = search(kept, {}, false, [&](std::span<const Shape> shapes) {
    std::vector<Trial> trials = climb(shapes);
    for (Trial& trial : trials)
      if (trial.shape == lucky && seen++ == 0) trial.gflops = {101, 202};
    return trials;
  });
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(found.best, top);
}

TEST(Searches, NeverChooseAWrongSetting) {
  const Search found = search(kept, {}, true, [&](std::span<const Shape> shapes) {
    std::vector<Trial> trials = climb(shapes);
    for (Trial& trial : trials) trial.correct = trial.shape != top;
    return trials;
  });
  EXPECT_EQ(hill(found.best), 99);
  const Search hopeless = search(kept, {}, false, [&](std::span<const Shape> shapes) {
    std::vector<Trial> trials = climb(shapes);
    for (Trial& trial : trials) trial.correct = false;
    return trials;
  });
  EXPECT_EQ(hopeless.best, kept);
}

}  // namespace
}  // namespace weft::bench
