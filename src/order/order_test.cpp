#include <weft/order.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/io.hpp>
#include <weft/structure.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "order/graph.hpp"
#include "order/testing.hpp"

namespace weft {
namespace {

using ordering::is_permutation;
using ordering::run_with_threads;
using ordering::shuffled;
using test::awkward_structures;
using test::random_rows;
using ::testing::HasSubstr;

template <class F>
std::string error_of(F&& body, ErrorCode code) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

/// Those this build has for such a matrix.
std::vector<Ordering> orderings_for(const Csr<double>& matrix) {
  std::vector<Ordering> result;
  for (const Ordering one : orderings()) {
    if ((one == Ordering::rcm || one == Ordering::amd) && matrix.rows != matrix.cols) continue;
    if (one == Ordering::amd && !ordering::has_amd()) continue;
    result.push_back(one);
  }
  return result;
}

TEST(Order, NamesGoBothWays) {
  for (const Ordering one : orderings()) EXPECT_EQ(parse_ordering(to_string(one)), one);
  EXPECT_EQ(error_of([] { parse_ordering("metis"); }, ErrorCode::invalid_argument),
            "there is no ordering 'metis'; there are: none, length, rcm, amd, bar");
}

TEST(Order, IsAPermutationThatKeepsTheProduct) {
  for (const auto& [name, matrix] : awkward_structures<double>(true))
    for (const Ordering one : orderings_for(matrix)) {
      const Order order = weft::order(matrix, one);
      const std::string what = name + " by " + std::string(to_string(one));
      EXPECT_EQ(order.rows.empty(), matrix.rows == 0 || one == Ordering::none) << what;
      EXPECT_TRUE(order.rows.empty() || is_permutation(order.rows, matrix.rows)) << what;
      EXPECT_TRUE(order.columns.empty() || is_permutation(order.columns, matrix.cols)) << what;

      const Csr<double> reordered = permute(matrix, order);
      ASSERT_EQ(check(reordered), "") << what;
      const auto old_row = [&](Index i) { return order.rows.empty() ? i : order.rows[i]; };
      const auto old_column = [&](Index j) { return order.columns.empty() ? j : order.columns[j]; };
      std::vector<double> x(matrix.cols), x_reordered(matrix.cols), y(matrix.rows), y_reordered(matrix.rows);
      for (Index j = 0; j < matrix.cols; ++j) x[j] = j % 17 - 8;
      for (Index j = 0; j < matrix.cols; ++j) x_reordered[j] = x[old_column(j)];
      reference_apply<double>(Op::none, 1, matrix, x, 0, y);
      reference_apply<double>(Op::none, 1, reordered, x_reordered, 0, y_reordered);
      for (Index i = 0; i < matrix.rows; ++i) ASSERT_NEAR(y_reordered[i], y[old_row(i)], 1e-9) << what;
    }
}

TEST(Order, DoesNotDependOnTheNumberOfThreads) {
  const Csr<double> square = ordering::shuffle(read_matrix<double>("gen:poisson3d:30"), 3);
  const Csr<double> wide = random_rows<double>(90000, std::vector<Index>(70000, 5), 4);
  for (const Csr<double>& matrix : {square, wide})
    for (const Ordering one : orderings_for(matrix)) {
      const Order alone = run_with_threads(1, [&] { return order(matrix, one); });
      const Order together = run_with_threads(4, [&] { return order(matrix, one); });
      EXPECT_TRUE(std::ranges::equal(alone.rows, together.rows)) << to_string(one);
      EXPECT_TRUE(std::ranges::equal(alone.columns, together.columns)) << to_string(one);
    }
}

TEST(Order, LengthPutsTheLongestFirstAndKeepsEquals) {
  const Csr<float> matrix = random_rows<float>(9, {2, 0, 7, 2, 7, 1});
  const Order order = weft::order(matrix, Ordering::length);
  EXPECT_THAT(std::vector<Index>(order.rows.begin(), order.rows.end()), ::testing::ElementsAre(2, 4, 0, 3, 5, 1));
  EXPECT_TRUE(order.columns.empty());
}

TEST(Order, SquareIsRequiredWhereRowsAndColumnsGoTogether) {
  const Csr<double> matrix = random_rows<double>(5, {1, 2, 3});
  EXPECT_THAT(error_of([&] { order(matrix, Ordering::rcm); }, ErrorCode::unsupported),
              HasSubstr("must be square, not 3 x 5; these take any: none, length, bar"));
  EXPECT_THAT(error_of([&] { order(matrix, Ordering::amd); }, ErrorCode::unsupported), HasSubstr("must be square"));
}

TEST(Order, AmdIsThereOrSaysWhatToInstall) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:9");
  if (ordering::has_amd()) {
    const Order order = weft::order(matrix, Ordering::amd);
    EXPECT_TRUE(std::ranges::equal(order.rows, order.columns));
    EXPECT_EQ(matrix.rows, static_cast<Index>(order.rows.size()));
  } else {
    EXPECT_THAT(error_of([&] { order(matrix, Ordering::amd); }, ErrorCode::unsupported),
                HasSubstr("libsuitesparse-dev"));
  }
}

TEST(Order, AmdEliminatesTheCentreOfAStarLast) {
  if (!ordering::has_amd()) GTEST_SKIP() << "this build has no AMD";
  // An arrow that points the wrong way: its first row and column are full.
  Coo<double> arrow{50, 50, Array<Index>(148), Array<Index>(148), Array<double>(148, 1.0)};
  std::size_t next = 0;
  const auto put = [&](Index row, Index column) {
    arrow.row_indices[next] = row;
    arrow.column_indices[next++] = column;
  };
  for (Index i = 0; i < 50; ++i) put(i, i);
  for (Index i = 1; i < 50; ++i) put(0, i), put(i, 0);
  const Order order = weft::order(to_csr(arrow), Ordering::amd);
  EXPECT_GE(std::ranges::find(order.rows, 0) - order.rows.begin(), 48);
}

TEST(Order, CanBeCancelled) {
  const Csr<double> matrix = ordering::shuffle(read_matrix<double>("gen:poisson3d:24"), 1);
  for (const Ordering one : {Ordering::rcm, Ordering::bar, Ordering::amd}) {
    if (one == Ordering::amd && !ordering::has_amd()) continue;
    error_of([&] { order(matrix, one, {.progress = [](double) { return false; }}); }, ErrorCode::cancelled);
    EXPECT_THROW(order(matrix, one, {.progress = [](double) { return false; }}), Error) << to_string(one);
    double last = 0;
    bool rises = true;
    const auto watch = [&](double fraction) {
      rises &= fraction >= last && fraction <= 1;
      last = fraction;
      return true;
    };
    order(matrix, one, {.progress = watch});
    EXPECT_TRUE(rises) << to_string(one);
    EXPECT_EQ(last, 1) << to_string(one);
  }
}

TEST(Graph, HoldsEveryEntryBothWaysOnce) {
  const Csr<double> matrix = random_rows<double>(200, std::vector<Index>(200, 4), 8);
  const ordering::Graph graph{ordering::Pattern(matrix)};
  std::set<std::pair<Index, Index>> expected;
  for (Index row = 0; row < 200; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      expected.emplace(row, matrix.columns[k]);
      expected.emplace(matrix.columns[k], row);
    }
  std::size_t count = 0;
  for (Index node = 0; node < 200; ++node) {
    const auto neighbours = graph.neighbours(node);
    EXPECT_TRUE(std::ranges::is_sorted(neighbours));
    count += neighbours.size();
    for (const Index neighbour : neighbours) EXPECT_TRUE(expected.contains({node, neighbour}));
  }
  EXPECT_EQ(count, expected.size());
}

Index bandwidth_by_rcm(const Csr<double>& matrix) {
  return analyze(permute(matrix, order(matrix, Ordering::rcm))).bandwidth;
}

TEST(Rcm, ShuffledGridsComeBackToTheirBandwidth) {
  // The levels of a square grid from a corner are its diagonals, at most 40 nodes; those of a cube are wider than its
  // natural planes of 12 x 12 by no more than a half.
  EXPECT_LE(bandwidth_by_rcm(ordering::shuffle(read_matrix<double>("gen:poisson2d:40"), 1)), 40 + 2);
  EXPECT_LE(bandwidth_by_rcm(ordering::shuffle(read_matrix<double>("gen:poisson3d:12"), 2)), 12 * 12 * 3 / 2);
  EXPECT_EQ(bandwidth_by_rcm(ordering::shuffle(read_matrix<double>("gen:band:1000:1"), 3)), 1);
}

/// The blocks' matrices along the diagonal.
Csr<double> diagonal_of(const std::vector<Csr<double>>& blocks) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<double> values;
  Index at = 0;
  for (const Csr<double>& block : blocks) {
    for (Index row = 0; row < block.rows; ++row) {
      for (Offset k = block.offsets[row]; k < block.offsets[row + 1]; ++k) {
        columns.push_back(at + block.columns[k]);
        values.push_back(block.values[k]);
      }
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
    at += block.rows;
  }
  return make_csr<double>(at, at, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                          Array<double>(std::move(values)));
}

TEST(Rcm, ComponentsStayTogether) {
  const Csr<double> line = read_matrix<double>("gen:band:300:1");
  const Csr<double> empty = random_rows<double>(4, {0, 0, 0, 0});
  const Csr<double> matrix = ordering::shuffle(diagonal_of({line, empty, line, line}), 5);
  EXPECT_EQ(bandwidth_by_rcm(matrix), 1);
}

TEST(Rcm, AMissingDiagonalDoesNotMatter) {
  // A ring without its diagonal, and only one of each pair of entries.
  const Index n = 500;
  Coo<double> ring{n, n, Array<Index>(n), Array<Index>(n), Array<double>(n, 1.0)};
  for (Index i = 0; i < n; ++i) {
    ring.row_indices[i] = i;
    ring.column_indices[i] = (i + 1) % n;
  }
  EXPECT_EQ(bandwidth_by_rcm(ordering::shuffle(to_csr(ring), 6)), 2);
}

TEST(Rcm, NumbersLevelByLevelAndFewNeighboursFirst) {
  // The other way round, nodes follow those through which they were found, and of those found through one node the ones
  // of small degree come first.
  for (const char* source : {"gen:rmat:9", "gen:circuit:900", "gen:elasticity3d:6"}) {
    const Csr<double> matrix = ordering::shuffle(read_matrix<double>(source), 9);
    const ordering::Graph graph{ordering::Pattern(matrix)};
    const Order order = weft::order(matrix, Ordering::rcm);
    const Index last = matrix.rows - 1;
    std::vector<Index> place(static_cast<std::size_t>(matrix.rows));
    for (Index i = 0; i <= last; ++i) place[order.rows[last - i]] = i;
    std::tuple<Index, Offset, Index> before{-1, 0, 0};
    for (Index i = 0; i <= last; ++i) {
      const Index node = order.rows[last - i];
      Index through = i;
      for (const Index neighbour : graph.neighbours(node)) through = std::min(through, place[neighbour]);
      const std::tuple<Index, Offset, Index> now{through, graph.degree(node), node};
      EXPECT_LT(before, now) << source << ", node " << i;
      before = now;
    }
  }
}

TEST(Rcm, StartsAtTheRimWhereverFewNeighboursAre) {
  // A strip of 5 x 200 with one more node that hangs at its middle: the only one with a single neighbour, and a start
  // from which levels would spread both ways.
  const Csr<double> strip = read_matrix<double>("gen:poisson2d:5:200");
  const Coo<double> entries = to_coo(strip);
  const Index n = strip.rows;
  const std::size_t known = entries.values.size();
  Coo<double> hung{n + 1, n + 1, Array<Index>(known + 2), Array<Index>(known + 2), Array<double>(known + 2, 1.0)};
  std::ranges::copy(entries.row_indices, hung.row_indices.begin());
  std::ranges::copy(entries.column_indices, hung.column_indices.begin());
  hung.row_indices[known] = hung.column_indices[known + 1] = n;
  hung.column_indices[known] = hung.row_indices[known + 1] = n / 2 + 2;
  EXPECT_LE(bandwidth_by_rcm(ordering::shuffle(to_csr(hung), 8)), 7);
}

TEST(Rcm, ADenseRowIsNoTrouble) {
  std::vector<Index> lengths(3000, 2);
  lengths[1500] = 3000;
  const Csr<double> matrix = random_rows<double>(3000, lengths, 7);
  EXPECT_TRUE(is_permutation(order(matrix, Ordering::rcm).rows, 3000));
}

}  // namespace
}  // namespace weft
