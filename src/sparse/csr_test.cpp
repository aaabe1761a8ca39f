#include <cmath>
#include <limits>

#include "sparse/testing.hpp"

namespace weft {
namespace {

using testing::expect_error;

//  1 0 2
//  0 0 0
//  3 4 0
Csr<double> small() { return {3, 3, Array<Offset>{0, 2, 2, 4}, Array<Index>{0, 2, 0, 1}, Array<double>{1, 2, 3, 4}}; }

TEST(CsrCheck, AcceptsCanonicalAndEmptyMatrices) {
  EXPECT_EQ(check(small()), "");
  EXPECT_EQ(check(Csr<float>{}), "");
  EXPECT_EQ(check(Csr<float>{0, 5, Array<Offset>{0}, {}, {}}), "");
  EXPECT_EQ(check(Csr<float>{2, 0, Array<Offset>{0, 0, 0}, {}, {}}), "");
}

TEST(CsrCheck, NamesTheFirstFault) {
  const auto fault = [](auto&& damage) {
    Csr<double> matrix = small();
    damage(matrix);
    return check(matrix);
  };
  using M = Csr<double>;
  EXPECT_EQ(fault([](M& m) { m.rows = -1; }), "a matrix of -1 x 3 cannot be");
  EXPECT_EQ(fault([](M& m) { m.rows = 4; }), "the matrix has 4 rows and so needs 5 offsets, not 4");
  EXPECT_EQ(fault([](M& m) { m.values = {1, 2, 3}; }), "there are 4 columns but 3 values");
  EXPECT_EQ(fault([](M& m) { m.offsets[0] = 1; }), "the first offset is 1 instead of 0");
  EXPECT_EQ(fault([](M& m) { m.offsets[1] = 3; }), "the offsets fall from 3 to 2 at row 1");
  EXPECT_EQ(fault([](M& m) { m.offsets[3] = 3; }), "the last offset is 3 but there are 4 entries");
  EXPECT_EQ(fault([](M& m) { m.columns[1] = 3; }),
            "entry 1 (row 0) is in column 3, but the matrix has 3 columns, counted from 0");
  EXPECT_EQ(fault([](M& m) { m.columns[2] = -1; }),
            "entry 2 (row 2) is in column -1, but the matrix has 3 columns, counted from 0");
  EXPECT_EQ(fault([](M& m) { m.columns[3] = 0; }),
            "entry 3 (row 2, column 0) repeats the column of the entry before it");
  EXPECT_EQ(fault([](M& m) { m.columns[2] = 2; }),
            "entry 3 (row 2, column 1) comes after column 2; columns must ascend inside a row");
}

TEST(MakeCsr, SharesCanonicalArrays) {
  const Csr<double> given = small();
  const Csr<double> made = make_csr<double>(3, 3, given.offsets, given.columns, given.values);
  EXPECT_EQ(made.offsets.data(), given.offsets.data());
  EXPECT_EQ(made.columns.data(), given.columns.data());
  EXPECT_EQ(made.values.data(), given.values.data());
}

TEST(MakeCsr, SortsAndSumsWithoutTouchingTheCallersArrays) {
  const Array<Offset> offsets{0, 4, 4, 5};
  const Array<Index> columns{2, 0, 2, 1, 1};
  const Array<double> values{1, 2, 4, 8, 16};
  const Csr<double> made = make_csr<double>(3, 3, offsets, columns, values);
  EXPECT_EQ(check(made), "");
  EXPECT_TRUE(testing::same_bits(
      made, Csr<double>{3, 3, Array<Offset>{0, 3, 3, 4}, Array<Index>{0, 1, 2, 1}, Array<double>{2, 8, 5, 16}}));
  EXPECT_TRUE(testing::same_bits(columns, Array<Index>{2, 0, 2, 1, 1}));
  EXPECT_TRUE(testing::same_bits(values, Array<double>{1, 2, 4, 8, 16}));
}

TEST(MakeCsr, SumsDuplicatesInTheOrderTheyStand) {
  // (1 + -1) + e is e, any other order of adding gives 0.
  const float e = 1e-8f;
  const Csr<float> made =
      make_csr<float>(1, 2, Array<Offset>{0, 4}, Array<Index>{1, 1, 0, 1}, Array<float>{1, -1, 7, e});
  ASSERT_EQ(made.nonzeros(), 2);
  EXPECT_EQ(made.values[1], e);
}

TEST(MakeCsr, RefusesDuplicatesWhenAsked) {
  expect_error(ErrorCode::invalid_matrix, {"entries 1 and 3", "row 0", "column 2"}, [] {
    make_csr<double>(2, 3, Array<Offset>{0, 4, 5}, Array<Index>{1, 2, 0, 2, 0}, Array<double>{1, 2, 3, 4, 5},
                     Duplicates::refuse);
  });
}

TEST(MakeCsr, RefusesWhatIsNoMatrix) {
  const auto make = [](std::int64_t rows, std::int64_t cols, Array<Index> columns) {
    return [=] { make_csr<float>(rows, cols, Array<Offset>{0, 1, 2}, columns, Array<float>{1, 2}); };
  };
  expect_error(ErrorCode::invalid_matrix, {"-2 x 2"}, make(-2, 2, {0, 1}));
  expect_error(ErrorCode::unsupported, {"2 x 2147483648", "too large"}, make(2, 2147483648, {0, 1}));
  expect_error(ErrorCode::unsupported, {"2147483648 x 2"}, make(2147483648, 2, {0, 1}));
  expect_error(ErrorCode::invalid_matrix, {"needs 4 offsets, not 3"}, make(3, 2, {0, 1}));
  expect_error(ErrorCode::invalid_matrix, {"entry 1", "row 1", "column 2", "2 columns"}, make(2, 2, {0, 2}));
  expect_error(ErrorCode::invalid_matrix, {"3 columns but 2 values"},
               [] { make_csr<float>(2, 2, Array<Offset>{0, 1, 2}, Array<Index>{0, 1, 1}, Array<float>{1, 2}); });
}

TEST(CsrConvert, RoundsValuesAndSharesThePattern) {
  Csr<double> matrix = small();
  matrix.values[0] = 0.1;
  const Csr<float> rounded = convert<float>(matrix);
  EXPECT_EQ(rounded.values[0], 0.1f);
  EXPECT_EQ(rounded.values[3], 4.0f);
  EXPECT_EQ(rounded.columns.data(), matrix.columns.data());
  EXPECT_EQ(rounded.offsets.data(), matrix.offsets.data());
  EXPECT_EQ(convert<double>(matrix).values.data(), matrix.values.data());
}

TEST(ReferenceApply, MultipliesPlainAndTransposed) {
  const std::vector<double> x{1, 10, 100};
  std::vector<double> y{1, 2, 3};
  reference_apply<double>(Op::none, 2, small(), x, 10, y);
  EXPECT_EQ(y, (std::vector<double>{2 * 201 + 10, 20, 2 * 43 + 30}));
  y = {1, 2, 3};
  reference_apply<double>(Op::transpose, 2, small(), x, 10, y);
  EXPECT_EQ(y, (std::vector<double>{2 * 301 + 10, 2 * 400 + 20, 2 * 2 + 30}));
}

TEST(ReferenceApply, BetaZeroNeverReadsYAndAlphaZeroNeverReadsXOrA) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Op op : {Op::none, Op::transpose}) {
    std::vector<double> y(3, nan);
    reference_apply<double>(op, 1, small(), std::vector<double>{1, 1, 1}, 0, y);
    for (double element : y) EXPECT_FALSE(std::isnan(element));

    Csr<double> matrix = small();
    matrix.values = Array<double>(4, nan);
    y = {1, 2, 3};
    reference_apply<double>(op, 0, matrix, std::vector<double>(3, nan), 2, y);
    EXPECT_EQ(y, (std::vector<double>{2, 4, 6}));
    reference_apply<double>(op, 0, matrix, std::vector<double>(3, nan), 0, y);
    EXPECT_EQ(y, (std::vector<double>{0, 0, 0}));
  }
}

TEST(ReferenceApply, AccumulatesF32InF64) {
  const Csr<float> matrix{1, 3, Array<Offset>{0, 3}, Array<Index>{0, 1, 2}, Array<float>{1e8f, 1, -1e8f}};
  std::vector<float> y{0};
  reference_apply<float>(Op::none, 1, matrix, std::vector<float>{1, 1, 1}, 0, y);
  EXPECT_EQ(y[0], 1.0f);
}

TEST(ReferenceApply, RefusesVectorsOfTheWrongLength) {
  const Csr<double> wide{1, 3, Array<Offset>{0, 1}, Array<Index>{0}, Array<double>{1}};
  std::vector<double> one(1), three(3);
  expect_error(ErrorCode::invalid_argument, {"x of length 3", "y of length 1", "1 and 1"},
               [&] { reference_apply<double>(Op::none, 1, wide, one, 0, one); });
  expect_error(ErrorCode::invalid_argument, {"x of length 1", "y of length 3"},
               [&] { reference_apply<double>(Op::transpose, 1, wide, three, 0, one); });
}

}  // namespace
}  // namespace weft
