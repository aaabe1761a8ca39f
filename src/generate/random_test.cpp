#include "generate/random.hpp"

#include <gtest/gtest.h>

#include <vector>

#include <set>

namespace weft::generation {
namespace {

TEST(Random, NumbersDependOnSeedStreamAndCounterOnly) {
  const Random random(1, 2);
  const std::uint64_t third = random.bits(3);
  random.bits(9);
  EXPECT_EQ(random.bits(3), third);
  EXPECT_EQ(Random(1, 2).bits(3), third);
  EXPECT_NE(Random(2, 2).bits(3), third);
  EXPECT_NE(Random(1, 3).bits(3), third);
  EXPECT_NE(random.bits(4), third);
  EXPECT_NE(random.stream(0).bits(3), random.stream(1).bits(3));
}

TEST(Random, TheFirstNumbersAreTheSameOnEveryMachine) {
  EXPECT_EQ(Random(1).bits(0), 0x6ec85f1f8547bc0cu);
  EXPECT_EQ(Random(1).uniform(0), -0x1.137a0e07ab848p-3);
  EXPECT_EQ(Random(1).below(1'000'000, 0), 432744);
}

TEST(Random, UniformFillsTheOpenIntervalEvenly) {
  const Random random(5);
  double sum = 0, squares = 0;
  constexpr int count = 100'000;
  for (int i = 0; i < count; ++i) {
    const double number = random.uniform(i);
    ASSERT_GT(number, -1);
    ASSERT_LT(number, 1);
    sum += number;
    squares += number * number;
    ASSERT_GT(random.fraction(i), 0);
    ASSERT_LT(random.fraction(i), 1);
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1.0 / 3.0, 0.01);
}

TEST(Random, BelowReachesEveryNumberAndNoOther) {
  const Random random(5);
  int seen[10] = {};
  for (int i = 0; i < 10'000; ++i) ++seen[random.below(10, i)];
  for (const int times : seen) EXPECT_NEAR(times, 1000, 150);
  EXPECT_EQ(random.below(1, 0), 0);
}

TEST(Random, StreamsOfNeighboursAreNotShiftedCopies) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t stream = 0; stream < 1000; ++stream)
    for (std::uint64_t counter = 0; counter < 20; ++counter) seen.insert(Random(1, stream).bits(counter));
  EXPECT_EQ(seen.size(), 20'000u);
}

TEST(SampleDistinct, GivesTheWantedNumberAscendingForEveryShare) {
  for (const int n : {1, 2, 7, 100})
    for (int count = 0; count <= n; ++count) {
      std::vector<Index> out(count + 1, -1);
      sample_distinct(RandomSequence(Random(3)), count, n, out.data());
      EXPECT_EQ(out[count], -1) << "wrote past the end";
      for (int i = 0; i < count; ++i) {
        EXPECT_GE(out[i], i == 0 ? 0 : out[i - 1] + 1);
        EXPECT_LT(out[i], n);
      }
    }
}

TEST(SampleDistinct, EveryElementIsEquallyLikely) {
  int seen[10] = {};
  for (int round = 0; round < 10'000; ++round) {
    std::vector<Index> out(7);
    sample_distinct(RandomSequence(Random(3, round)), 7, 10, out.data());
    for (const Index element : out) ++seen[element];
  }
  for (const int times : seen) EXPECT_NEAR(times, 7000, 250);
}

}  // namespace
}  // namespace weft::generation
