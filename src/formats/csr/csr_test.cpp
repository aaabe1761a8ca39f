#include "formats/csr/csr.hpp"

#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <vector>

#include "huge_matrix.hpp"

namespace weft {
namespace {

Csr<double> three_by_four() {
  // 1 0 2 0
  // 0 0 0 0
  // 3 4 0 5
  return make_csr<double>(3, 4, {0, 2, 2, 5}, {0, 2, 0, 1, 3}, {1, 2, 3, 4, 5});
}

TEST(CsrFormat, MultipliesAHandMadeMatrix) {
  auto p = plan(three_by_four(), {.format = "csr", .transpose = true});
  std::vector<double> x{1, 10, 100, 1000}, y{7, 7, 7};
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{201, 0, 5043}));
  p.apply(2.0, x, 1.0, y);
  EXPECT_EQ(y, (std::vector<double>{603, 0, 15129}));
  std::vector<double> z{1, 10, 100}, w(4, 1.0);
  p.apply(Op::transpose, 1.0, z, -1.0, w);
  EXPECT_EQ(w, (std::vector<double>{300, 399, 1, 499}));
}

TEST(CsrFormat, EmptyRowsKeepBetaTimesY) {
  auto p = plan(three_by_four(), {.format = "csr"});
  std::vector<double> x(4, 0.0), y{2, 3, 4};
  p.apply(1.0, x, 0.5, y);
  EXPECT_EQ(y, (std::vector<double>{1, 1.5, 2}));
}

TEST(CsrFormat, NewNumbersInTheCallersOwnArrayAreNotCopied) {
  const std::vector<std::int32_t> offsets{0, 2, 3};
  const std::vector<Index> columns{0, 1, 1};
  std::vector<double> values{1, 2, 3}, x{1, 10}, y(2);
  auto p = plan(csr_view(2, 2, offsets, columns, values), {.device = Device::cpu(), .format = "csr"});
  values = {4, 5, 6};
  p.update_values(values);
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{54, 60}));
  values[2] = 7;  // seen without an update: the plan still multiplies with the caller's array
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{54, 70}));
}

void expect_valid(const Array<csr::Chunk>& chunks, Index rows, const Array<Offset>& offsets) {
  EXPECT_EQ(chunks[0].row, 0);
  EXPECT_EQ(chunks[0].entry, 0);
  EXPECT_EQ(chunks.back().row, rows);
  EXPECT_EQ(chunks.back().entry, offsets.back());
  for (std::size_t c = 0; c + 1 < chunks.size(); ++c) {
    EXPECT_LE(chunks[c].row, chunks[c + 1].row);
    EXPECT_LE(chunks[c].entry, chunks[c + 1].entry);
    if (chunks[c].row < rows) {
      EXPECT_GE(chunks[c].entry, offsets[chunks[c].row]);
      EXPECT_LE(chunks[c].entry, offsets[chunks[c].row + 1]);
    }
  }
}

TEST(CsrFormat, ChunksBeginAtRowsUnlessARowIsLongerThanAChunk) {
  const Array<Offset> offsets{0, 3, 3, 5, 105, 106, 106};
  const auto chunks = csr::cut_into_chunks(6, offsets, 10);
  expect_valid(chunks, 6, offsets);
  EXPECT_EQ(chunks.size(), 13u);  // 6 rows + 106 entries in tens, and the end
  for (std::size_t c = 0; c + 1 < chunks.size(); ++c)
    if (chunks[c].row != 3 && chunks[c].row < 6) {
      EXPECT_EQ(chunks[c].entry, offsets[chunks[c].row]);
    }
  int inside_the_long_row = 0;
  for (const auto& chunk : chunks) inside_the_long_row += chunk.row == 3 && chunk.entry > 5;
  EXPECT_GE(inside_the_long_row, 9);
}

TEST(CsrFormat, ChunksOfAnEmptyMatrix) {
  expect_valid(csr::cut_into_chunks(0, Array<Offset>{0}, 10), 0, Array<Offset>{0});
  const Array<Offset> empty_rows(31, 0);
  expect_valid(csr::cut_into_chunks(30, empty_rows, 10), 30, empty_rows);
}

TEST(CsrFormat, MoreThanTwoToTheThirtyTwoEntries) {
  const Csr<float> matrix = test::huge_matrix();
  ASSERT_GT(matrix.nonzeros(), Offset(1) << 32);
  auto p = plan(matrix, {.format = "csr"});
  EXPECT_NE(p.info().details.find("64-bit"), std::string::npos);
  std::vector<float> x(static_cast<std::size_t>(matrix.cols), 1.0f), y(static_cast<std::size_t>(matrix.rows), -1.0f);
  x[5] = 10.0f;
  p.apply(x, y);
  for (Index row = 0; row < matrix.rows; ++row) ASSERT_EQ(y[row], test::huge_matrix_product(row, matrix.rows)) << row;
}

}  // namespace
}  // namespace weft
