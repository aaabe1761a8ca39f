#include "portrait.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include "run.hpp"

namespace weft::bench {
namespace {

TEST(Portrait, SmallMatrixHasACellForEachPlace) {
  const auto matrix =
      make_csr<double>(3, 4, Array<Offset>{0, 2, 2, 4}, Array<Index>{0, 3, 1, 2}, Array<double>{1, 2, 3, 4});
  const Portrait portrait = portrait_of(matrix);
  EXPECT_EQ(portrait.cells, (std::vector<std::string>{"4..4", "....", ".44."}));
  EXPECT_EQ(portrait.lengths, (std::vector<LengthBin>{{0, 0, 1}, {2, 2, 2}}));
}

TEST(Portrait, MatrixWithoutRowsOrColumnsIsEmpty) {
  const Portrait portrait = portrait_of(make_csr<float>(0, 0, Array<Offset>{0}, Array<Index>{}, Array<float>{}));
  EXPECT_TRUE(portrait.cells.empty());
  EXPECT_TRUE(portrait.lengths.empty());
}

/// The cell of an entry is the one whose rows and columns hold it, whatever rounding does.
TEST(Portrait, DiagonalOfAnySizeStaysOnTheDiagonal) {
  for (Index size : {63, 64, 65, 98, 127, 129, 206, 474, 640, 1000, 12345}) {
    Array<Offset> offsets(static_cast<std::size_t>(size) + 1);
    Array<Index> columns(static_cast<std::size_t>(size));
    Array<double> values(static_cast<std::size_t>(size));
    offsets[0] = 0;
    for (Index i = 0; i < size; ++i) {
      offsets[i + 1] = i + 1;
      columns[i] = i;
      values[i] = 1;
    }
    const Portrait portrait =
        portrait_of(make_csr<double>(size, size, std::move(offsets), std::move(columns), std::move(values)));
    const std::size_t cells = std::min<std::size_t>(64, static_cast<std::size_t>(size));
    ASSERT_EQ(portrait.cells.size(), cells);
    for (std::size_t r = 0; r < cells; ++r)
      for (std::size_t c = 0; c < cells; ++c)
        ASSERT_EQ(portrait.cells[r][c] != '.', r == c) << size << " " << r << " " << c;
  }
}

TEST(Portrait, LengthsThatDifferWidelyFitIntoFewBinsThatCountEveryRow) {
  const Csr<double> matrix = generate<double>("gen:circuit:30000");
  const std::vector<LengthBin> bins = portrait_of(matrix).lengths;
  ASSERT_LE(bins.size(), 64u);
  const RowLengths lengths = analyze_rows(matrix);
  EXPECT_EQ(bins.front().first, lengths.shortest_row);
  EXPECT_EQ(bins.back().last, lengths.longest_row);
  Offset rows = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    EXPECT_GT(bins[i].rows, 0);
    if (i > 0) {
      EXPECT_GT(bins[i].first, bins[i - 1].last);
    }
    rows += bins[i].rows;
  }
  EXPECT_EQ(rows, matrix.rows);
}

TEST(Portrait, TwoThousandMillionEntriesInARowStillFitIntoTheBins) {
  RowLengths lengths;
  lengths.longest_row = 2'000'000'000;
  for (Offset length = 1; length <= lengths.longest_row; length = length * 5 / 4 + 1)
    lengths.row_lengths.push_back({length, 1});
  lengths.shortest_row = 1;
  EXPECT_LE(length_bins(lengths).size(), 64u);
}

TEST(Portrait, EveryCaseHasOne) {
  std::vector<std::string> notes;
  const Csr<double> matrix = generate<double>("gen:poisson2d:10");
  const Case one = run_case<double>(
      "p", matrix, {.device = Device::cpu(), .formats = {"csr"}, .seconds = 0.001, .groups = 1}, notes);
  EXPECT_EQ(one.portrait.cells.size(), 64u);
  EXPECT_EQ(one.portrait.lengths, (std::vector<LengthBin>{{3, 3, 4}, {4, 4, 32}, {5, 5, 64}}));
}

}  // namespace
}  // namespace weft::bench
