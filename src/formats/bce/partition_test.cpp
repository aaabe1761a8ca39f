#include "formats/bce/partition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include "structures.hpp"

#ifdef WEFT_HAS_RAPIDCHECK
#include <rapidcheck/gtest.h>
#endif

namespace weft::bce {
namespace {

using test::Dice;
using testing::ElementsAre;
using Lengths = std::vector<LengthCount>;

/// The distribution of the paper's 10 x 10 example, B = [2, 3, 2, 1, 0, 1, 1].
const Lengths papers_example = {{1, 2}, {2, 3}, {3, 2}, {4, 1}, {6, 1}, {7, 1}};

struct OracleResult {
  Offset cost = 0;
  std::vector<Offset> widths;
};

/// The paper's Algorithms 1 and 2 as printed, places counted from 1; lengths that no row has are left out
/// (section 5.5).
OracleResult papers_algorithms(const Lengths& lengths, Index rows_to_fill) {
  const std::size_t M = lengths.size();
  constexpr Offset infinite = std::numeric_limits<Offset>::max();
  const auto T = [&](std::size_t from, std::size_t to) {
    Offset rows = 0;
    for (std::size_t m = from; m <= to; ++m) rows += lengths[m - 1].rows;
    return lengths[to - 1].length * std::max<Offset>(rows, rows_to_fill);
  };
  std::vector<std::vector<Offset>> times(M + 1, std::vector<Offset>(M + 1));
  for (std::size_t from = 1; from <= M; ++from)
    for (std::size_t to = from; to <= M; ++to) times[from][to] = T(from, to);

  std::vector<std::vector<Offset>> C(M + 1, std::vector<Offset>(M + 1, infinite));
  std::vector<std::vector<std::size_t>> D(M + 1, std::vector<std::size_t>(M + 1, 0));
  for (std::size_t m = 1; m <= M; ++m) C[m][1] = times[1][m];
  for (std::size_t k = 2; k <= M; ++k)
    for (std::size_t m = k; m <= M; ++m)
      for (std::size_t j = k - 1; j <= m - 1; ++j) {
        const Offset q = C[j][k - 1] + times[j + 1][m];
        if (q < C[m][k]) {
          C[m][k] = q;
          D[m][k] = j;
        }
      }

  OracleResult result{infinite, {}};
  std::size_t k = 0;
  for (std::size_t candidate = 1; candidate <= M; ++candidate)
    if (C[M][candidate] < result.cost) {
      result.cost = C[M][candidate];
      k = candidate;
    }
  for (std::size_t i = M; k >= 1; i = D[i][k], --k) result.widths.push_back(lengths[i - 1].length);
  std::reverse(result.widths.begin(), result.widths.end());
  return result;
}

/// What every partition must be, counted anew row set by row set.
void expect_partition_of(const Lengths& lengths, const Partition& partition, Index rows_to_fill) {
  const std::size_t blocks = partition.widths.size();
  ASSERT_EQ(partition.rows.size(), blocks);
  ASSERT_EQ(partition.entries.size(), blocks);
  std::vector<Offset> rows(blocks, 0), entries(blocks, 0), longest(blocks, 0);
  for (const auto [length, count] : lengths) {
    if (length == 0 || count == 0) continue;
    const auto at = std::lower_bound(partition.widths.begin(), partition.widths.end(), length);
    ASSERT_NE(at, partition.widths.end()) << "no block for length " << length;
    const auto block = static_cast<std::size_t>(at - partition.widths.begin());
    rows[block] += count;
    entries[block] += count * length;
    longest[block] = length;
  }
  Offset cost = 0, padding = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    EXPECT_EQ(partition.rows[b], rows[b]);
    EXPECT_EQ(partition.entries[b], entries[b]);
    EXPECT_EQ(partition.widths[b], longest[b]);
    cost += partition.widths[b] * std::max<Offset>(rows[b], rows_to_fill);
    padding += partition.widths[b] * rows[b] - entries[b];
  }
  EXPECT_EQ(partition.cost, cost);
  EXPECT_EQ(partition.padding, padding);
}

/// A distribution of up to `most` lengths, of one of many shapes. Never empty.
Lengths draw_lengths(Dice& dice, Index most) {
  const Index count = 1 + dice.below(most), gap = dice.below(3) == 0 ? 1 : 1 + dice.below(40), shape = dice.below(7);
  const Index few = 1 + dice.below(12), many = 1 + dice.below(5000);
  Lengths lengths;
  Offset length = 0;
  for (Index i = 0; i < count; ++i) {
    length += 1 + dice.below(gap);
    const double place = (i + 0.5) / count;
    Index rows = few;
    if (shape == 1) rows = 1 + dice.below(many);                                        // anything
    if (shape == 2) rows = 1 + static_cast<Index>(many * std::exp(-8 * place));         // geometric
    if (shape == 3) rows = 1 + static_cast<Index>(many * std::exp(8 * place - 8));      // rising
    if (shape == 4) rows = std::abs(place - 0.2) < 0.1 || place > 0.9 ? many : 1;       // bimodal
    if (shape == 5) rows = dice.below(4) == 0 ? many : 1 + dice.below(few);             // spikes
    if (shape == 6) rows = dice.below(2) == 0 ? 1 : dice.below(100) == 0 ? 2048 : 192;  // just as many as fill
    lengths.push_back({length, rows});
  }
  if (dice.below(4) == 0) lengths.push_back({length + 1 + dice.below(1'000'000), 1});  // a single huge row
  return lengths;
}

constexpr Index rows_to_fill_tried[] = {1, 7, 32, 192, 2048};

void expect_as_good_as_the_papers(const Lengths& lengths, Index rows_to_fill) {
  const Partition partition = optimal_partition(lengths, rows_to_fill);
  const OracleResult oracle = papers_algorithms(lengths, rows_to_fill);
  EXPECT_EQ(partition.cost, oracle.cost);
  EXPECT_EQ(partition.widths.size(), oracle.widths.size()) << "both prefer fewer blocks";
  expect_partition_of(lengths, partition, rows_to_fill);
}

TEST(BcePartition, CostsWhatThePapersAlgorithmsFind) {
  for (std::uint64_t round = 0; round < 12'000; ++round) {
    Dice dice(round);
    const Lengths lengths = draw_lengths(dice, round % 3 == 0 ? 6 : 24);
    for (const Index rows_to_fill : rows_to_fill_tried) {
      SCOPED_TRACE("round " + std::to_string(round) + ", to fill " + std::to_string(rows_to_fill));
      expect_as_good_as_the_papers(lengths, rows_to_fill);
      if (HasFailure()) return;
    }
  }
}

TEST(BcePartition, CostsWhatThePapersAlgorithmsFindAmongAHundredLengths) {
  for (std::uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Dice dice(round + 77);
    const Lengths lengths = draw_lengths(dice, 130);
    expect_as_good_as_the_papers(lengths, rows_to_fill_tried[round % 5]);
  }
}

TEST(BcePartition, IsTheSameWithCountsNearTheLimits) {
  constexpr Index most = std::numeric_limits<Index>::max();
  const Lengths all_rows_long = {{most, most}};
  const Partition one = optimal_partition(all_rows_long, most);
  EXPECT_EQ(one.cost, Offset{most} * most);
  EXPECT_EQ(one.padding, 0);
  const Lengths extremes = {{0, 5}, {1, most / 2}, {most - 1, most / 2 - 10}, {most, 5}};
  for (const Index rows_to_fill : {1, 1000, most}) {
    const Lengths not_empty(extremes.begin() + 1, extremes.end());
    const Partition partition = optimal_partition(extremes, rows_to_fill);
    EXPECT_EQ(partition.cost, papers_algorithms(not_empty, rows_to_fill).cost);
    expect_partition_of(extremes, partition, rows_to_fill);
  }
}

TEST(BcePartition, PapersExample) {
  const Partition partition = partition_at(papers_example, std::vector<Offset>{2, 4, 7}, 1);
  EXPECT_THAT(partition.widths, ElementsAre(2, 4, 7));
  EXPECT_THAT(partition.rows, ElementsAre(5, 3, 2));
  EXPECT_THAT(partition.entries, ElementsAre(8, 10, 13));
  EXPECT_EQ(partition.padding, 2 + 2 + 1);
  EXPECT_EQ(partition.cost, 2 * 5 + 4 * 3 + 7 * 2);
  EXPECT_EQ(partition_at(papers_example, std::vector<Offset>{2, 4, 7}, 192).cost, (2 + 4 + 7) * 192);
  EXPECT_EQ(partition_at(papers_example, std::vector<Offset>{2, 4}, 1), partition) << "the last boundary goes unsaid";
}

TEST(BcePartition, PapersBoundariesAreNotTheOptimum) {
  const Partition of_small_blocks = optimal_partition(papers_example, 1);
  EXPECT_THAT(of_small_blocks.widths, ElementsAre(1, 2, 3, 4, 6, 7)) << "a block a length has no padding";
  EXPECT_EQ(of_small_blocks.padding, 0);
  const Partition of_large_blocks = optimal_partition(papers_example, 192);
  EXPECT_THAT(of_large_blocks.widths, ElementsAre(7)) << "ten rows fill no multiprocessor";
  EXPECT_EQ(of_large_blocks.cost, 7 * 192);
  EXPECT_EQ(of_large_blocks.padding, 7 * 10 - 31);
}

TEST(BcePartition, PrefersFewerBlocks) {
  // Where 2 rows fill: 1 * 2 + 2 * 2 apart, and 2 * 3 together, which is as much.
  EXPECT_THAT(optimal_partition(Lengths{{1, 1}, {2, 2}}, 2).widths, ElementsAre(2));
  // 1 * 2 + 2 * 2 + 3 * 2 = 12 apart, 2 * 4 + 3 * 2 = 14 or 1 * 2 + 3 * 4 = 14 with two together, 18 in one.
  EXPECT_THAT(optimal_partition(Lengths{{1, 2}, {2, 2}, {3, 2}}, 2).widths, ElementsAre(1, 2, 3));
}

TEST(BcePartition, NothingToPartition) {
  for (const Lengths& lengths : {Lengths{}, Lengths{{0, 4}}, Lengths{{0, 4}, {3, 0}}}) {
    EXPECT_EQ(optimal_partition(lengths, 32), Partition{});
    EXPECT_EQ(partition_at(lengths, std::vector<Offset>{2, 4}, 32), Partition{});
  }
}

TEST(BcePartition, OneLength) {
  const Partition filled = optimal_partition(Lengths{{5, 300}}, 32);
  EXPECT_THAT(filled.widths, ElementsAre(5));
  EXPECT_THAT(filled.rows, ElementsAre(300));
  EXPECT_EQ(filled.cost, 1500);
  EXPECT_EQ(filled.padding, 0);
  EXPECT_EQ(optimal_partition(Lengths{{0, 9}, {5, 3}}, 32).cost, 160);
}

TEST(BcePartition, GivenBoundariesAreTrimmedToTheRowsThereAre) {
  const Partition partition = partition_at(papers_example, std::vector<Offset>{2, 5, 9, 20}, 1);
  EXPECT_THAT(partition.widths, ElementsAre(2, 4, 7));
  EXPECT_THAT(partition_at(papers_example, {}, 1).widths, ElementsAre(7)) << "no boundary, one block";
  EXPECT_THAT(partition_at(Lengths{{4, 1}}, std::vector<Offset>{1, 2, 3}, 1).widths, ElementsAre(4));
}

template <class F>
std::string refusal(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(BcePartition, RefusesWhatIsNoDistribution) {
  constexpr Index most = std::numeric_limits<Index>::max();
  for (const Lengths& lengths : {Lengths{{2, 1}, {2, 1}}, Lengths{{3, 1}, {2, 1}}, Lengths{{-1, 1}}, Lengths{{1, -1}},
                                 Lengths{{1, most}, {2, 1}}, Lengths{{Offset{most} + 1, 1}}})
    EXPECT_THAT(refusal([&] { optimal_partition(lengths, 1); }), testing::HasSubstr("must ascend"));
  EXPECT_THAT(refusal([] { optimal_partition(papers_example, 0); }), testing::HasSubstr("at least 1 row"));
  for (const std::vector<Offset>& boundaries : {std::vector<Offset>{0, 2}, {2, 2}, {4, 2}, {-1}})
    EXPECT_THAT(refusal([&] { partition_at(papers_example, boundaries, 1); }), testing::HasSubstr("ascend from 1"));
}

TEST(BcePartition, RefusesACostPast64Bits) {
  Lengths lengths;
  std::vector<Offset> each;
  for (Index length = 1; length <= 100'000; ++length) {
    lengths.push_back({length, 1});
    each.push_back(length);
  }
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_THAT(refusal([&] { partition_at(lengths, each, most); }), testing::HasSubstr("2^63"));
  EXPECT_EQ(optimal_partition(lengths, most).cost, Offset{100'000} * most) << "the best never is";
}

/// Best cost by the plain recurrence over places, quadratic.
Offset cost_by_recurrence(const Lengths& lengths, Index rows_to_fill) {
  std::vector<Offset> best{0}, rows{0};
  for (const auto [length, count] : lengths) {
    rows.push_back(rows.back() + count);
    Offset least = std::numeric_limits<Offset>::max();
    for (std::size_t j = 0; j < best.size(); ++j)
      least = std::min(least, best[j] + length * std::max<Offset>(rows.back() - rows[j], rows_to_fill));
    best.push_back(least);
  }
  return best.back();
}

TEST(BcePartition, ThousandsOfLengthsCostWhatTheRecurrenceFinds) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Dice dice(round + 5);
    const Lengths lengths = draw_lengths(dice, 4000);
    for (const Index rows_to_fill : rows_to_fill_tried)
      EXPECT_EQ(optimal_partition(lengths, rows_to_fill).cost, cost_by_recurrence(lengths, rows_to_fill));
  }
}

TEST(BcePartition, AHundredThousandLengthsTakeLessThanASecond) {
  Lengths lengths;
  Dice dice(3);
  for (Index i = 0; i < 100'000; ++i) lengths.push_back({2 * i + 1 + dice.below(2), 1 + dice.below(2000)});
  for (const Index rows_to_fill : {1, 2048, 100'000}) {
    const auto start = std::chrono::steady_clock::now();
    const Partition partition = optimal_partition(lengths, rows_to_fill);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    EXPECT_LT(taken.count(), 1.0);
    EXPECT_GE(partition.widths.size(), 100u);
  }
}

#ifdef WEFT_HAS_RAPIDCHECK
RC_GTEST_PROP(BcePartition, NoBoundariesCostLessThanTheOptimum, ()) {
  const auto steps = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
  Lengths lengths;
  std::vector<Offset> boundaries;
  Offset length = 0;
  for (const std::uint8_t step : steps) {
    length += 1 + step % 8;
    lengths.push_back({length, *rc::gen::inRange<Index>(0, 400)});
    if (*rc::gen::arbitrary<bool>()) boundaries.push_back(length);
  }
  const Index rows_to_fill = *rc::gen::inRange<Index>(1, 1000);
  const Partition best = optimal_partition(lengths, rows_to_fill);
  RC_ASSERT(best.cost <= partition_at(lengths, boundaries, rows_to_fill).cost);
  RC_ASSERT(partition_at(lengths, best.widths, rows_to_fill) == best);
}
#endif

}  // namespace
}  // namespace weft::bce
