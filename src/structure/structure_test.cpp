#include <weft/structure.hpp>

#include <bit>
#include <cmath>
#include <limits>
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

/// Full b x b blocks on the diagonal and above it, minus the first `missing` entries.
Structure blocks(Index b, Index block_rows, std::size_t missing) {
  std::vector<Entry<double>> entries;
  for (Index row = 0; row < b * block_rows; ++row)
    for (Index block : {row / b, (row / b + 7) % block_rows})
      for (Index column = 0; column < b; ++column) entries.push_back({row, block * b + column, 1});
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(missing));
  return facts_of(b * block_rows, b * block_rows, entries);
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
  // 100 blocks of 9; the first entries are taken from the first blocks row by row, which leaves none of them empty.
  const Structure nearly = blocks(3, 50, 4);
  EXPECT_EQ(nearly.block_size, 3);
  EXPECT_DOUBLE_EQ(nearly.block_fill, 896.0 / 900);
  std::vector<Entry<double>> sparse;  // 3 of 4 places
  for (Index block = 0; block < 40; ++block)
    for (const auto& [row, column] : {std::pair<Index, Index>{0, 0}, {0, 1}, {1, 1}})
      sparse.push_back({2 * block + row, 2 * block + column, 1});
  EXPECT_EQ(facts_of(80, 80, sparse).block_size, 1);
}

TEST(Structure, BlocksMustDivideRowsAndColumns) {
  std::vector<Entry<double>> dense;
  for (Index row = 0; row < 4; ++row)
    for (Index column = 0; column < 10; ++column) dense.push_back({row, column, 1});
  EXPECT_EQ(facts_of(4, 10, dense).block_size, 2);
}

struct Naive {
  std::int64_t mirrored = 0, off_diagonal = 0;
  Index dominant = 0, diagonal = 0, bandwidth = 0;
  bool symmetric = true, skew = true;
  int block_size = 1;
  std::set<std::uint64_t> distinct;  // bit patterns: 0 and -0 differ
};

Naive naive_facts(const Csr<double>& matrix) {
  Naive naive;
  const auto entries = dictionary_of(matrix);
  std::vector<double> diagonal(matrix.rows), others(matrix.rows);
  for (const auto& [place, value] : entries) {
    const auto [row, column] = place;
    naive.bandwidth = std::max(naive.bandwidth, std::abs(row - column));
    naive.distinct.insert(std::bit_cast<std::uint64_t>(value));
    (row == column ? diagonal : others)[row] += std::abs(value);
    naive.diagonal += row == column;
    if (row == column && value != 0) naive.skew = false;
    if (row == column) continue;
    ++naive.off_diagonal;
    const auto mirror = entries.find({column, row});
    naive.mirrored += mirror != entries.end();
    naive.symmetric &= mirror != entries.end() && mirror->second == value;
    naive.skew &= mirror != entries.end() && mirror->second == -value;
  }
  for (Index row = 0; row < matrix.rows; ++row) naive.dominant += diagonal[row] >= others[row];
  for (int b = 2; b <= 6; ++b) {
    if (matrix.rows % b != 0 || matrix.cols % b != 0 || entries.empty()) continue;
    std::set<std::pair<Index, Index>> touched;
    for (const auto& [place, value] : entries) touched.insert({place.first / b, place.second / b});
    if (10 * entries.size() >= 9 * touched.size() * b * b) naive.block_size = b;
  }
  return naive;
}

void expect_naive(const Csr<double>& matrix) {
  const Structure facts = analyze(matrix);
  const Naive naive = naive_facts(matrix);
  EXPECT_EQ(facts.bandwidth, naive.bandwidth);
  EXPECT_EQ(facts.diagonal_entries, naive.diagonal);
  EXPECT_EQ(facts.dominant_rows, naive.dominant);
  EXPECT_EQ(facts.block_size, naive.block_size);
  EXPECT_EQ(facts.distinct_values, static_cast<std::int64_t>(naive.distinct.size()));
  if (matrix.rows != matrix.cols) return;
  EXPECT_EQ(facts.pattern_symmetric, naive.mirrored == naive.off_diagonal);
  const double mirrored = static_cast<double>(naive.mirrored), off_diagonal = static_cast<double>(naive.off_diagonal);
  EXPECT_DOUBLE_EQ(facts.pattern_symmetry, off_diagonal > 0 ? mirrored / off_diagonal : 1);
  EXPECT_EQ(facts.values_symmetric, naive.symmetric);
  EXPECT_EQ(facts.values_skew, naive.skew);
}

/// Whole numbers, so that sums are exact in any order; mirrored with the given sign, or not (0).
Csr<double> random_matrix(Index rows, Index cols, std::size_t count, unsigned seed, double skew, int mirror) {
  auto entries = testing::random_entries<double>(rows, cols, count, seed, skew);
  for (auto& entry : entries) entry.value = std::round(entry.value * 100);
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
  EXPECT_EQ(alone.mean_row, together.mean_row);
  EXPECT_EQ(alone.row_deviation, together.row_deviation);
  EXPECT_EQ(alone.locality, together.locality);
  EXPECT_EQ(alone.mean_column_gap, together.mean_column_gap);
  EXPECT_EQ(alone.pattern_symmetry, together.pattern_symmetry);
  EXPECT_EQ(alone.dominant_rows, together.dominant_rows);
  EXPECT_EQ(alone.profile, together.profile);
  EXPECT_EQ(alone.empty_columns, together.empty_columns);
  EXPECT_EQ(alone.distinct_values, together.distinct_values);
  EXPECT_EQ(alone.row_lengths.size(), together.row_lengths.size());
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
