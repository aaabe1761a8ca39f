#include <weft/structure.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sparse/testing.hpp"
#ifdef WEFT_HAS_RAPIDCHECK
#include <rapidcheck/gtest.h>
#endif

namespace weft {
namespace {

using testing::coo_of;
using testing::dictionary_of;
using testing::Entry;
using testing::Threads;

template <class V>
Structure facts_of(Index rows, Index cols, const std::vector<Entry<V>>& entries) {
  return analyze(to_csr(coo_of(rows, cols, entries)));
}

// 4 -1  .  .
// -1  4  .  2
// .  .  .  .
// .  2  .  1
Structure small_facts() {
  return facts_of<double>(4, 4, {{0, 0, 4}, {0, 1, -1}, {1, 0, -1}, {1, 1, 4}, {1, 3, 2}, {3, 1, 2}, {3, 3, 1}});
}

TEST(Structure, CountsRowLengths) {
  const Structure facts = small_facts();
  EXPECT_EQ(facts.rows, 4);
  EXPECT_EQ(facts.cols, 4);
  EXPECT_EQ(facts.nonzeros, 7);
  ASSERT_EQ(facts.row_lengths.size(), 3u);
  EXPECT_EQ(facts.row_lengths[0].length, 0);
  EXPECT_EQ(facts.row_lengths[0].rows, 1);
  EXPECT_EQ(facts.row_lengths[1].length, 2);
  EXPECT_EQ(facts.row_lengths[1].rows, 2);
  EXPECT_EQ(facts.row_lengths[2].length, 3);
  EXPECT_EQ(facts.row_lengths[2].rows, 1);
  EXPECT_EQ(facts.shortest_row, 0);
  EXPECT_EQ(facts.longest_row, 3);
  EXPECT_DOUBLE_EQ(facts.mean_row, 1.75);
  EXPECT_DOUBLE_EQ(facts.row_deviation, std::sqrt((3.0625 + 2 * 0.0625 + 1.5625) / 4));
  EXPECT_EQ(facts.empty_rows, 1);
  EXPECT_EQ(facts.empty_columns, 1);
}

TEST(Structure, MeasuresDistances) {
  const Structure facts = small_facts();
  EXPECT_EQ(facts.bandwidth, 2);
  EXPECT_EQ(facts.profile, 1 + 2);
  EXPECT_DOUBLE_EQ(facts.locality, 1);
  EXPECT_DOUBLE_EQ(facts.mean_column_gap, (1 + 1 + 2 + 2) / 4.0);
}

TEST(Structure, LocalityCountsNeighboursInOneCacheLineOfX) {
  // 6|7 in one line, 7|8 not, 8|20 not; and the end of a row is no neighbour of the next one's beginning.
  const Structure facts = facts_of<float>(2, 32, {{0, 6, 1}, {0, 7, 1}, {0, 8, 1}, {0, 20, 1}, {1, 21, 1}});
  EXPECT_DOUBLE_EQ(facts.locality, 1.0 / 3);
  EXPECT_DOUBLE_EQ(facts.mean_column_gap, 14.0 / 3);
}

TEST(Structure, SeesSymmetry) {
  const Structure facts = small_facts();
  EXPECT_TRUE(facts.pattern_symmetric);
  EXPECT_DOUBLE_EQ(facts.pattern_symmetry, 1);
  EXPECT_TRUE(facts.values_symmetric);
  EXPECT_FALSE(facts.values_skew);

  const Structure pattern_only = facts_of<double>(2, 2, {{0, 1, 1}, {1, 0, 2}});
  EXPECT_TRUE(pattern_only.pattern_symmetric);
  EXPECT_FALSE(pattern_only.values_symmetric);

  const Structure skew = facts_of<double>(2, 2, {{0, 0, 0}, {0, 1, 3}, {1, 0, -3}});
  EXPECT_TRUE(skew.values_skew);
  EXPECT_FALSE(skew.values_symmetric);
  EXPECT_FALSE(facts_of<double>(2, 2, {{0, 0, 1}, {0, 1, 3}, {1, 0, -3}}).values_skew);

  const Structure half = facts_of<double>(3, 3, {{0, 1, 1}, {1, 0, 1}, {0, 2, 1}, {1, 2, 1}});
  EXPECT_FALSE(half.pattern_symmetric);
  EXPECT_DOUBLE_EQ(half.pattern_symmetry, 0.5);
  EXPECT_FALSE(half.values_symmetric);

  const Structure diagonal = facts_of<double>(2, 2, {{0, 0, 1}, {1, 1, 1}});
  EXPECT_TRUE(diagonal.values_symmetric);
  EXPECT_DOUBLE_EQ(diagonal.pattern_symmetry, 1);

  const Structure wide = facts_of<double>(2, 3, {{0, 0, 1}});
  EXPECT_FALSE(wide.pattern_symmetric);
  EXPECT_DOUBLE_EQ(wide.pattern_symmetry, 0);
}

TEST(Structure, NotANumberIsNeverSymmetric) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Structure pair = facts_of<double>(2, 2, {{0, 1, nan}, {1, 0, nan}});
  EXPECT_TRUE(pair.pattern_symmetric);
  EXPECT_FALSE(pair.values_symmetric);
  EXPECT_FALSE(facts_of<double>(1, 1, {{0, 0, nan}}).values_symmetric);
}

TEST(Structure, ComparesTheDiagonalWithTheRest) {
  const Structure facts = small_facts();
  EXPECT_EQ(facts.diagonal_entries, 3);
  EXPECT_EQ(facts.dominant_rows, 3);  // rows 0 (4 >= 1), 1 (4 >= 3), 2 (empty), not 3 (1 < 2)
}

TEST(Structure, LooksAtValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const Structure facts = facts_of<double>(
      1, 8, {{0, 0, 1}, {0, 1, 1}, {0, 2, 0}, {0, 3, -0.0}, {0, 4, nan}, {0, 5, -infinity}, {0, 6, 2}});
  EXPECT_EQ(facts.distinct_values, 6);  // 1, 2, 0, -0, NaN, -infinity
  EXPECT_FALSE(facts.many_distinct_values);
  EXPECT_EQ(facts.zeros_stored, 2);
  EXPECT_EQ(facts.not_finite, 2);
}

TEST(Structure, CountsDistinctValuesExactlyUpToTheLimit) {
  const auto distinct = [](std::int64_t count) {
    const Index entries = 200000;
    Csr<float> matrix{1, entries, Array<Offset>{0, entries}, Array<Index>(entries), Array<float>(entries)};
    for (Index i = 0; i < entries; ++i) {
      matrix.columns[i] = i;
      matrix.values[i] = static_cast<float>(i % count);
    }
    return analyze(matrix);
  };
  EXPECT_EQ(distinct(1).distinct_values, 1);
  EXPECT_EQ(distinct(65535).distinct_values, 65535);
  EXPECT_EQ(distinct(65536).distinct_values, 65536);
  EXPECT_FALSE(distinct(65536).many_distinct_values);
  EXPECT_TRUE(distinct(65537).many_distinct_values);
  EXPECT_EQ(distinct(65537).distinct_values, Structure::distinct_limit);
}

TEST(Structure, TakesEmptyMatrices) {
  const Structure nothing = analyze(Csr<double>{});
  EXPECT_TRUE(nothing.row_lengths.empty());
  EXPECT_TRUE(nothing.values_symmetric);
  EXPECT_EQ(nothing.block_size, 1);
  const Structure no_entries = facts_of<float>(3, 5, {});
  EXPECT_EQ(no_entries.empty_rows, 3);
  EXPECT_EQ(no_entries.empty_columns, 5);
  EXPECT_EQ(no_entries.longest_row, 0);
  EXPECT_EQ(no_entries.distinct_values, 0);
  EXPECT_EQ(facts_of<float>(0, 5, {}).empty_columns, 5);
}

/// Full b x b blocks on the diagonal and above it, minus every tenth entry until `missing` are gone.
Structure blocks(Index b, Index block_rows, std::size_t missing) {
  std::vector<Entry<double>> entries, kept;
  for (Index row = 0; row < b * block_rows; ++row)
    for (Index block : {row / b, (row / b + 7) % block_rows})
      for (Index column = 0; column < b; ++column) entries.push_back({row, block * b + column, 1});
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (i % 10 != 0 || i / 10 >= missing) kept.push_back(entries[i]);
  return facts_of(b * block_rows, b * block_rows, kept);
}

TEST(Structure, FindsBlocks) {
  for (Index b = 2; b <= 6; ++b) {
    EXPECT_EQ(blocks(b, 50, 0).block_size, b);
    EXPECT_DOUBLE_EQ(blocks(b, 50, 0).block_fill, 1);
  }
  EXPECT_EQ(blocks(1, 50, 0).block_size, 1);
  EXPECT_EQ(blocks(1, 50, 0).block_fill, 1);
}

TEST(Structure, BlocksMayMissATenthOfTheirEntries) {
  // 102 blocks of 9, 918 places.
  const Structure nearly = blocks(3, 51, 91);
  EXPECT_EQ(nearly.block_size, 3);
  EXPECT_DOUBLE_EQ(nearly.block_fill, 827.0 / 918);
  EXPECT_EQ(blocks(3, 51, 92).block_size, 1);
  EXPECT_EQ(blocks(3, 50, 90).block_size, 3) << "exactly a tenth";
}

TEST(Structure, BlocksMustDivideRowsAndColumns) {
  std::vector<Entry<double>> dense;
  for (Index row = 0; row < 4; ++row)
    for (Index column = 0; column < 10; ++column) dense.push_back({row, column, 1});
  EXPECT_EQ(facts_of(4, 10, dense).block_size, 2);
}

/// All facts but distinct values beyond the limit, straight from their definitions.
Structure naive_facts(const Csr<double>& matrix) {
  const auto entries = dictionary_of(matrix);
  std::vector<std::vector<Index>> rows(matrix.rows);
  std::vector<double> diagonal(matrix.rows), others(matrix.rows);
  std::set<Index> columns;
  std::set<std::uint64_t> distinct;  // bit patterns: 0 and -0 differ
  Offset mirrored = 0;
  bool symmetric = true, skew = true;

  Structure facts;
  facts.rows = matrix.rows;
  facts.cols = matrix.cols;
  facts.nonzeros = static_cast<Offset>(entries.size());
  for (const auto& [place, value] : entries) {
    const auto [row, column] = place;
    rows[row].push_back(column);
    columns.insert(column);
    distinct.insert(std::bit_cast<std::uint64_t>(value));
    facts.bandwidth = std::max(facts.bandwidth, std::abs(row - column));
    facts.zeros_stored += value == 0;
    facts.not_finite += !std::isfinite(value);
    (row == column ? diagonal : others)[row] += std::abs(value);
    facts.diagonal_entries += row == column;
    const auto mirror = entries.find({column, row});
    mirrored += row != column && mirror != entries.end();
    symmetric &= mirror != entries.end() && mirror->second == value;
    skew &= mirror != entries.end() && mirror->second == -value;
  }
  facts.empty_columns = matrix.cols - static_cast<Index>(columns.size());
  facts.distinct_values = static_cast<std::int64_t>(distinct.size());

  std::map<Offset, Index> lengths;
  Offset pairs = 0, near_pairs = 0, gaps = 0;
  facts.mean_row = static_cast<double>(facts.nonzeros) / matrix.rows;
  for (Index row = 0; row < matrix.rows; ++row) {
    const auto length = static_cast<Offset>(rows[row].size());
    ++lengths[length];
    facts.row_deviation += std::pow(static_cast<double>(length) - facts.mean_row, 2) / matrix.rows;
    facts.dominant_rows += diagonal[row] >= others[row];
    if (length > 0) facts.profile += std::max(0, row - rows[row][0]);
    for (Offset i = 1; i < length; ++i) {
      ++pairs;
      near_pairs += rows[row][i] / 8 == rows[row][i - 1] / 8;
      gaps += rows[row][i] - rows[row][i - 1];
    }
  }
  for (const auto& [length, count] : lengths) facts.row_lengths.push_back({length, count});
  facts.row_deviation = std::sqrt(facts.row_deviation);
  facts.shortest_row = lengths.begin()->first;
  facts.longest_row = lengths.rbegin()->first;
  facts.empty_rows = lengths[0];
  facts.locality = pairs == 0 ? 1 : static_cast<double>(near_pairs) / static_cast<double>(pairs);
  facts.mean_column_gap = pairs == 0 ? 0 : static_cast<double>(gaps) / static_cast<double>(pairs);

  if (matrix.rows == matrix.cols) {
    const Offset off_diagonal = facts.nonzeros - facts.diagonal_entries;
    facts.pattern_symmetric = mirrored == off_diagonal;
    facts.pattern_symmetry = off_diagonal == 0 ? 1 : static_cast<double>(mirrored) / static_cast<double>(off_diagonal);
    facts.values_symmetric = symmetric;
    facts.values_skew = skew;
  }
  for (int b = 2; b <= 6; ++b) {
    if (matrix.rows % b != 0 || matrix.cols % b != 0 || entries.empty()) continue;
    std::set<std::pair<Index, Index>> touched;
    for (const auto& [place, value] : entries) touched.insert({place.first / b, place.second / b});
    if (10 * entries.size() < 9 * touched.size() * b * b) continue;
    facts.block_size = b;
    facts.block_fill = static_cast<double>(entries.size()) / static_cast<double>(touched.size() * b * b);
  }
  return facts;
}

void expect_naive(const Csr<double>& matrix) {
  Structure facts = analyze(matrix);
  const Structure naive = naive_facts(matrix);
  EXPECT_NEAR(facts.row_deviation, naive.row_deviation, 1e-9 * naive.row_deviation) << "summed in another order";
  facts.row_deviation = naive.row_deviation;
  EXPECT_EQ(facts.row_lengths, naive.row_lengths);
  EXPECT_EQ(facts.longest_row, naive.longest_row);
  EXPECT_EQ(facts.empty_columns, naive.empty_columns);
  EXPECT_EQ(facts.bandwidth, naive.bandwidth);
  EXPECT_EQ(facts.profile, naive.profile);
  EXPECT_EQ(facts.locality, naive.locality);
  EXPECT_EQ(facts.mean_column_gap, naive.mean_column_gap);
  EXPECT_EQ(facts.diagonal_entries, naive.diagonal_entries);
  EXPECT_EQ(facts.dominant_rows, naive.dominant_rows);
  EXPECT_EQ(facts.block_size, naive.block_size);
  EXPECT_EQ(facts.block_fill, naive.block_fill);
  EXPECT_EQ(facts.distinct_values, naive.distinct_values);
  EXPECT_EQ(facts.zeros_stored, naive.zeros_stored);
  EXPECT_EQ(facts.not_finite, naive.not_finite);
  EXPECT_EQ(facts.pattern_symmetry, naive.pattern_symmetry);
  EXPECT_EQ(facts.values_symmetric, naive.values_symmetric);
  EXPECT_EQ(facts.values_skew, naive.values_skew);
  EXPECT_TRUE(facts == naive) << "another fact differs";
}

/// Whole numbers, so that sums are exact in any order, some of them 0 or infinite. `mirror` is the sign with which the
/// upper half is mirrored, or 0.
Csr<double> random_matrix(Index rows, Index cols, std::size_t count, unsigned seed, double skew, int mirror) {
  auto entries = testing::random_entries<double>(rows, cols, count, seed, skew);
  for (auto& entry : entries) {
    entry.value = std::round(entry.value * 100);
    if (entry.value == 42) entry.value = std::numeric_limits<double>::infinity();
  }
  Csr<double> upper = to_csr(coo_of(rows, cols, entries));
  if (mirror == 0) return upper;
  entries.clear();
  for (const auto& [place, value] : dictionary_of(upper)) {
    if (place.first > place.second || (place.first == place.second && mirror < 0)) continue;
    entries.push_back({place.first, place.second, value});
    if (place.first != place.second) entries.push_back({place.second, place.first, mirror * value});
  }
  return to_csr(coo_of(rows, cols, entries));
}

TEST(Structure, AgreesWithTheDefinitionsOnLargeAndCrowdedMatrices) {
  for (int mirror : {-1, 0, 1}) {
    expect_naive(random_matrix(1000, 1000, 100000, 1, 1, mirror));
    expect_naive(random_matrix(30000, 30000, 140000, 2, 4, mirror));
  }
  expect_naive(random_matrix(6, 180000, 400000, 3, 1, 0));
  expect_naive(random_matrix(180000, 12, 100000, 3, 1, 0));
}

TEST(Structure, CutsEnormousBlockRows) {
  const Index cols = 360000;
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index row = 0; row < 6; ++row) {
    for (Index column = 0; column < cols; ++column)
      if (column / 3 % 2 == row / 3) columns.push_back(column);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  Array<double> values(columns.size(), 1.0);
  const Csr<double> matrix{6, cols, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)), values};
  for (int count : {1, 3}) {
    Threads threads(count);
    const Structure facts = analyze(matrix);
    EXPECT_EQ(facts.block_size, 3);
    EXPECT_DOUBLE_EQ(facts.block_fill, 1);
    EXPECT_EQ(facts.dominant_rows, 0);
  }
}

TEST(Structure, IsTheSameForAnyNumberOfThreads) {
  const Csr<double> matrix = to_csr(coo_of(50000, 50000, testing::random_entries<double>(50000, 50000, 400000, 9, 8)));
  Structure alone, together;
  {
    Threads one(1);
    alone = analyze(matrix);
  }
  {
    Threads several(4);
    together = analyze(matrix);
  }
  EXPECT_TRUE(alone == together);
}

#ifdef WEFT_HAS_RAPIDCHECK
RC_GTEST_PROP(StructureProperty, AgreesWithTheDefinitions, (unsigned seed)) {
  const Index rows = *rc::gen::inRange<Index>(1, 60), mirror = *rc::gen::element(-1, 0, 1);
  const std::size_t count = *rc::gen::inRange<std::size_t>(0, 3000);
  const Index cols = mirror == 0 ? *rc::gen::inRange<Index>(1, 200) : rows;
  expect_naive(random_matrix(rows, cols, count, seed, 1.5, mirror));
  RC_ASSERT(!::testing::Test::HasFailure());
}
#endif

}  // namespace
}  // namespace weft
