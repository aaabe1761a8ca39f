#include "bro.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <algorithm>
#include <cmath>

namespace weft::bench {
namespace {

TEST(PaperBro, KnowsTheThirtyMatricesOfThePaper) {
  const auto& all = bro_matrices();
  EXPECT_EQ(all.size(), 30u);
  EXPECT_EQ(std::ranges::count(all, 1, &PaperMatrix::set), 16);
  for (const PaperMatrix& matrix : all) {
    EXPECT_EQ(matrix.eta_bar.has_value(), matrix.set == 1) << matrix.name;
    EXPECT_EQ(matrix.ell_share.has_value(), matrix.set == 2) << matrix.name;
  }
}

TEST(PaperBro, KnowsAMatrixByItsFileOrGenerator) {
  EXPECT_STREQ(find_bro_matrix("somewhere/webbase-1M.mtx.gz")->name, "webbase-1M");
  EXPECT_STREQ(find_bro_matrix("qcd5_4.weft")->name, "qcd5_4");
  EXPECT_STREQ(find_bro_matrix("gen:epidemic2d:2050:257")->name, "mc2depi");
  EXPECT_EQ(find_bro_matrix("gen:epidemic2d:2050:258"), nullptr);
  EXPECT_EQ(find_bro_matrix("cage10.mtx"), nullptr);
  EXPECT_EQ(find_bro_matrix("rim:1"), nullptr);
}

// Where a generator makes a matrix of the paper, the savings are the paper's within two points.
TEST(PaperBro, SavingsAreThePapers) {
  for (const PaperMatrix& matrix : bro_matrices()) {
    if (!*matrix.source) continue;
    const BroSavings savings = bro_savings(generate<double>(matrix.source));
    EXPECT_NEAR(savings.ell, matrix.eta, 2) << matrix.name;
    EXPECT_EQ(savings.ell_share, 100) << matrix.name;
    EXPECT_EQ(savings.hyb, savings.ell) << matrix.name;
  }
}

TEST(PaperBro, SavingsOfAHybridCountRowsAndColumnsOfCoo) {
  // 600 rows of one entry, of which one has 400 more: k = 1.
  Csr<double> matrix;
  matrix.rows = matrix.cols = 600;
  matrix.offsets = Array<Offset>(601);
  matrix.columns = Array<Index>(1000);
  matrix.values = Array<double>(1000, 1.0);
  for (Index row = 0; row <= 600; ++row) matrix.offsets[row] = row > 10 ? row + 400 : row;
  for (Index row = 0; row < 600; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      matrix.columns[k] = row == 10 ? static_cast<Index>(k - matrix.offsets[row]) : row;
  ASSERT_EQ(check(matrix), "");
  const BroSavings savings = bro_savings(matrix);
  EXPECT_DOUBLE_EQ(savings.ell_share, 60);
  // hyb: 600 columns, and 400 rows and columns, of 4 bytes. bro-hyb: three slices of a symbol a row (256, 256 and 96
  // rows), with a width and a num_col each; 400 columns; and rows of coo, packed.
  const double packed = 608 * 4 + 3 * 5 + 400 * 4;
  EXPECT_LT(savings.hyb, 100 * (1 - packed / (600 * 4 + 800 * 4)));
  EXPECT_GT(savings.hyb, 100 * (1 - (packed + 0.2 * 1600) / (600 * 4 + 800 * 4)));
}

}  // namespace
}  // namespace weft::bench
