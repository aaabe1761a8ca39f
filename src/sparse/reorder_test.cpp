#include <algorithm>
#include <numeric>

#include "sparse/testing.hpp"
#ifdef WEFT_HAS_RAPIDCHECK
#include <rapidcheck/gtest.h>
#endif

namespace weft {
namespace {

using testing::coo_of;
using testing::Dictionary;
using testing::dictionary_of;
using testing::expect_error;
using testing::same_bits;
using testing::Threads;

template <class V>
void expect_transposed(const Csr<V>& matrix) {
  Array<Offset> positions;
  const Csr<V> result = transpose(matrix, &positions);
  ASSERT_EQ(check(result), "");
  ASSERT_EQ(result.rows, matrix.cols);
  ASSERT_EQ(result.cols, matrix.rows);
  Dictionary<V> mirrored;
  for (const auto& [place, value] : dictionary_of(matrix)) mirrored[{place.second, place.first}] = value;
  EXPECT_TRUE(dictionary_of(result) == mirrored);
  ASSERT_EQ(positions.size(), matrix.values.size());
  for (std::size_t i = 0; i < positions.size(); ++i) ASSERT_EQ(matrix.values[positions[i]], result.values[i]);
  EXPECT_TRUE(same_bits(transpose(matrix), result));
}

TEST(Transpose, MirrorsAHandMadeMatrix) {
  const Csr<double> matrix{2, 4, Array<Offset>{0, 3, 5}, Array<Index>{0, 1, 3, 1, 2}, Array<double>{1, 2, 3, 4, 5}};
  Array<Offset> positions;
  EXPECT_TRUE(same_bits(
      transpose(matrix, &positions),
      Csr<double>{4, 2, Array<Offset>{0, 1, 3, 4, 5}, Array<Index>{0, 0, 1, 1, 0}, Array<double>{1, 2, 4, 5, 3}}));
  EXPECT_TRUE(same_bits(positions, Array<Offset>{0, 1, 3, 4, 2}));
}

TEST(Transpose, TakesEmptyMatrices) {
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 3}, {3, 0}, {2000, 3000}})
    expect_transposed(to_csr(Coo<float>{rows, cols, {}, {}, {}}));
}

TEST(Transpose, HandlesLargeAndCrowdedMatricesTheSameForAnyNumberOfThreads) {
  struct Shape {
    Index rows, cols;
    double skew;
  };
  for (const Shape shape : {Shape{1000, 50, 1}, Shape{3000, 1000000, 1}, Shape{1000000, 400000, 6}}) {
    const Csr<double> matrix = to_csr(
        coo_of(shape.rows, shape.cols, testing::random_entries<double>(shape.rows, shape.cols, 250000, 5, shape.skew)));
    expect_transposed(matrix);
    Csr<double> alone, together;
    Array<Offset> positions_alone, positions_together;
    {
      Threads one(1);
      alone = transpose(matrix, &positions_alone);
    }
    {
      Threads several(4);
      together = transpose(matrix, &positions_together);
    }
    EXPECT_TRUE(same_bits(alone, together));
    EXPECT_TRUE(same_bits(positions_alone, positions_together));
  }
}

TEST(Permute, ReordersRowsAndColumns) {
  const Csr<double> matrix{3, 3, Array<Offset>{0, 2, 2, 4}, Array<Index>{0, 2, 0, 1}, Array<double>{1, 2, 3, 4}};
  const std::vector<Index> order{2, 0, 1};
  EXPECT_TRUE(same_bits(permute(matrix, order, {}), Csr<double>{3, 3, Array<Offset>{0, 2, 4, 4},
                                                                Array<Index>{0, 1, 0, 2}, Array<double>{3, 4, 1, 2}}));
  EXPECT_TRUE(same_bits(permute(matrix, {}, order), Csr<double>{3, 3, Array<Offset>{0, 2, 2, 4},
                                                                Array<Index>{0, 1, 1, 2}, Array<double>{2, 1, 3, 4}}));
  EXPECT_TRUE(same_bits(permute(matrix, {}, {}), matrix));
}

TEST(Permute, RefusesWhatIsNoPermutation) {
  const Csr<float> matrix = to_csr(coo_of<float>(3, 2, {{0, 0, 1}}));
  const auto rows = [&](std::vector<Index> order) { return [&matrix, order] { permute(matrix, order, {}); }; };
  expect_error(ErrorCode::invalid_argument, {"row_order", "2 elements instead of 3"}, rows({0, 1}));
  expect_error(ErrorCode::invalid_argument, {"row_order[2] is 1", "twice"}, rows({0, 1, 1}));
  expect_error(ErrorCode::invalid_argument, {"row_order[1] is 3", "outside 0..2"}, rows({0, 3, 1}));
  expect_error(ErrorCode::invalid_argument, {"column_order[0] is -1"},
               [&] { permute(matrix, {}, std::vector<Index>{-1, 0}); });
}

std::vector<Index> shuffled(Index size, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

TEST(Permute, AgreesWithTheDefinitionForAnyNumberOfThreads) {
  // The first row is long enough for the sort that all threads share.
  auto entries = testing::random_entries<double>(500, 200000, 100000, 3);
  for (Index column = 0; column < 200000; ++column) entries.push_back({0, column, 1.0 + column});
  const Csr<double> matrix = to_csr(coo_of<double>(500, 200000, entries));
  const std::vector<Index> rows = shuffled(500, 1), columns = shuffled(200000, 2);
  Csr<double> alone, together;
  {
    Threads one(1);
    alone = permute(matrix, rows, columns);
  }
  {
    Threads several(3);
    together = permute(matrix, rows, columns);
  }
  EXPECT_TRUE(same_bits(alone, together));
  ASSERT_EQ(check(alone), "");
  Dictionary<double> back;
  for (const auto& [place, value] : dictionary_of(alone)) back[{rows[place.first], columns[place.second]}] = value;
  EXPECT_TRUE(back == dictionary_of(matrix));
}

#ifdef WEFT_HAS_RAPIDCHECK
RC_GTEST_PROP(TransposeProperty, AgreesWithTheNaiveWay, (unsigned seed)) {
  const Index rows = *rc::gen::inRange<Index>(1, 50), cols = *rc::gen::inRange<Index>(1, 3000);
  const std::size_t count = *rc::gen::inRange<std::size_t>(0, 400);
  expect_transposed(to_csr(coo_of(rows, cols, testing::random_entries<float>(rows, cols, count, seed, 3))));
}
#endif

}  // namespace
}  // namespace weft
