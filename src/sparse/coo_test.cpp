#include <weft/coo.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "sparse/testing.hpp"
#ifdef WEFT_HAS_RAPIDCHECK
#include <rapidcheck/gtest.h>
#endif

namespace weft {
namespace {

using testing::coo_of;
using testing::Dictionary;
using testing::dictionary_of;
using testing::Entry;
using testing::expect_error;
using testing::same_bits;
using testing::Threads;

TEST(ToCsr, SortsAndSums) {
  const Csr<double> made =
      to_csr(coo_of<double>(4, 3, {{3, 1, 1}, {0, 2, 2}, {3, 0, 4}, {0, 2, 8}, {1, 1, 16}, {0, 0, 32}}));
  EXPECT_TRUE(same_bits(made, Csr<double>{4, 3, Array<Offset>{0, 2, 3, 3, 5}, Array<Index>{0, 2, 1, 0, 1},
                                          Array<double>{32, 10, 16, 4, 1}}));
}

TEST(ToCsr, TakesEmptyMatrices) {
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 7}, {7, 0}, {5, 5}}) {
    const Csr<float> made = to_csr(Coo<float>{rows, cols, {}, {}, {}});
    EXPECT_EQ(check(made), "");
    EXPECT_EQ(made.rows, rows);
    EXPECT_EQ(made.cols, cols);
    EXPECT_EQ(made.nonzeros(), 0);
  }
}

TEST(ToCsr, KeepsZerosAndNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Csr<double> made = to_csr(coo_of<double>(2, 2, {{1, 1, nan}, {0, 1, 0}, {1, 0, 1}, {0, 0, -0.0}}));
  ASSERT_EQ(made.nonzeros(), 4);
  EXPECT_TRUE(std::signbit(made.values[0]));
  EXPECT_EQ(made.values[1], 0);
  EXPECT_TRUE(std::isnan(made.values[3]));
}

TEST(ToCsr, KeepsDuplicatesThatCancelAsAnExplicitZero) {
  const Csr<float> made = to_csr(coo_of<float>(1, 1, {{0, 0, 1}, {0, 0, -1}}));
  ASSERT_EQ(made.nonzeros(), 1);
  EXPECT_EQ(made.values[0], 0);
}

TEST(ToCsr, SharesEntriesThatAreSortedAlready) {
  const Coo<double> entries = coo_of<double>(3, 3, {{0, 0, 1}, {0, 2, 2}, {2, 1, 3}});
  const Csr<double> made = to_csr(entries);
  EXPECT_EQ(made.columns.data(), entries.column_indices.data());
  EXPECT_EQ(made.values.data(), entries.values.data());
  EXPECT_TRUE(same_bits(made.offsets, Array<Offset>{0, 2, 2, 3}));
}

TEST(ToCsr, LeavesEntriesSortedByRowOnlyUntouched) {
  const Coo<double> entries = coo_of<double>(2, 3, {{0, 2, 1}, {0, 0, 2}, {1, 1, 3}});
  const Csr<double> made = to_csr(entries);
  EXPECT_TRUE(same_bits(made.columns, Array<Index>{0, 2, 1}));
  EXPECT_TRUE(same_bits(entries.column_indices, Array<Index>{2, 0, 1}));
  EXPECT_TRUE(same_bits(entries.values, Array<double>{1, 2, 3}));
}

TEST(ToCsr, NamesTheFirstEntryOutOfRange) {
  expect_error(ErrorCode::invalid_matrix, {"entry 1 ", "row 2", "column 0", "2 x 3"},
               [] { to_csr(coo_of<double>(2, 3, {{0, 0, 1}, {2, 0, 1}, {0, 9, 1}})); });
  expect_error(ErrorCode::invalid_matrix, {"entry 0 ", "column -1"},
               [] { to_csr(coo_of<double>(2, 3, {{0, -1, 1}, {2, 0, 1}})); });
  expect_error(ErrorCode::invalid_matrix, {"entry 0 ", "0 x 3"}, [] { to_csr(coo_of<double>(0, 3, {{0, 0, 1}})); });
}

TEST(ToCsr, NamesBothEntriesOfARefusedDuplicate) {
  expect_error(ErrorCode::invalid_matrix, {"entries 1 and 3", "row 1", "column 2"}, [] {
    to_csr(coo_of<double>(3, 3, {{2, 2, 1}, {1, 2, 2}, {0, 0, 3}, {1, 2, 4}, {2, 2, 5}}), Duplicates::refuse);
  });
}

TEST(ToCsr, RefusesArraysOfDifferentLength) {
  expect_error(ErrorCode::invalid_matrix, {"2 rows", "1 columns", "1 values"},
               [] { to_csr(Coo<float>{3, 3, Array<Index>{0, 1}, Array<Index>{0}, Array<float>{1}}); });
}

TEST(ToCoo, ListsTheEntriesAndSharesThem) {
  const Csr<double> matrix{3, 2, Array<Offset>{0, 2, 2, 3}, Array<Index>{0, 1, 1}, Array<double>{1, 2, 3}};
  const Coo<double> entries = to_coo(matrix);
  EXPECT_TRUE(same_bits(entries.row_indices, Array<Index>{0, 0, 2}));
  EXPECT_EQ(entries.column_indices.data(), matrix.columns.data());
  EXPECT_EQ(entries.values.data(), matrix.values.data());
}

/// Shapes that take each way through the sort: few rows, many rows in buckets, one row (or bucket) with most entries,
/// a long row over few and over very many columns, nothing but duplicates.
struct Shape {
  const char* name;
  Index rows, cols;
  std::size_t entries;
  double skew;
};
class ToCsrLarge : public ::testing::TestWithParam<Shape> {};

TEST_P(ToCsrLarge, AgreesWithTheNaiveWayForAnyNumberOfThreads) {
  const Shape shape = GetParam();
  const std::vector<Entry<double>> entries =
      testing::random_entries<double>(shape.rows, shape.cols, shape.entries, 17, shape.skew);
  const Coo<double> coo = coo_of(shape.rows, shape.cols, entries);
  Csr<double> alone, together;
  {
    Threads one(1);
    alone = to_csr(coo);
  }
  {
    Threads several(3);
    together = to_csr(coo);
  }
  ASSERT_EQ(check(alone), "");
  EXPECT_TRUE(dictionary_of(alone) == dictionary_of(entries));
  EXPECT_TRUE(same_bits(alone, together));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ToCsrLarge,
    ::testing::Values(Shape{"few_rows", 100, 1000, 300000, 1}, Shape{"many_rows", 2000000, 50, 300000, 1},
                      Shape{"crowded_rows", 200000, 300000, 400000, 20}, Shape{"one_row", 1, 5000, 300000, 1},
                      Shape{"one_row_of_very_many_columns", 1, 2147483647, 300000, 1},
                      Shape{"very_many_rows_crowded", 30000000, 30, 300000, 12}, Shape{"one_place", 1, 1, 300000, 1}),
    [](const auto& shape) { return shape.param.name; });

#ifdef WEFT_HAS_RAPIDCHECK
RC_GTEST_PROP(ToCsrProperty, AgreesWithTheNaiveWay, ()) {
  const Index rows = *rc::gen::inRange<Index>(1, 40), cols = *rc::gen::inRange<Index>(1, 40);
  const auto entries = *rc::gen::container<std::vector<Entry<double>>>(
      rc::gen::construct<Entry<double>>(rc::gen::inRange<Index>(0, rows), rc::gen::inRange<Index>(0, cols),
                                        rc::gen::cast<double>(rc::gen::inRange(-1000, 1000))));
  const Csr<double> made = to_csr(coo_of(rows, cols, entries));
  RC_ASSERT(check(made) == "");
  RC_ASSERT(dictionary_of(made) == dictionary_of(entries));
  const Coo<double> again = to_coo(made);
  RC_ASSERT(same_bits(to_csr(again, Duplicates::refuse), made));
}

RC_GTEST_PROP(MakeCsrProperty, AgreesWithToCsr, ()) {
  const Index rows = *rc::gen::inRange<Index>(1, 10), cols = *rc::gen::inRange<Index>(1, 80);
  const auto any_order = *rc::gen::container<std::vector<Entry<float>>>(
      rc::gen::construct<Entry<float>>(rc::gen::inRange<Index>(0, rows), rc::gen::inRange<Index>(0, cols),
                                       rc::gen::cast<float>(rc::gen::inRange(-1000, 1000))));
  std::vector<Entry<float>> entries;
  for (Index row = 0; row < rows; ++row)
    std::copy_if(any_order.begin(), any_order.end(), std::back_inserter(entries),
                 [&](const auto& entry) { return entry.row == row; });
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, 0);
  for (const auto& entry : entries)
    for (Index row = entry.row + 1; row <= rows; ++row) ++offsets[row];
  const Coo<float> coo = coo_of(rows, cols, entries);
  RC_ASSERT(same_bits(make_csr<float>(rows, cols, offsets, coo.column_indices, coo.values), to_csr(coo)));
}
#endif

}  // namespace
}  // namespace weft
