#include "formats/coo/coo.hpp"

#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <vector>

#include "formats/coo/row_walker.hpp"
#include "formats/testing.hpp"

namespace weft {
namespace {

TEST(CooFormat, MultipliesAHandMadeMatrix) {
  // 0 1
  // 0 0
  // 2 3
  auto p = plan(make_csr<double>(3, 2, {0, 1, 1, 3}, {1, 0, 1}, {1, 2, 3}), {.format = "coo", .transpose = true});
  std::vector<double> x{10, 100}, y{-1, -1, -1};
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{100, 0, 320}));
  p.apply(1.0, x, 2.0, y);
  EXPECT_EQ(y, (std::vector<double>{300, 0, 960}));
  std::vector<double> z{1, 5, 10}, w(2, 1.0);
  p.apply(Op::transpose, 1.0, z, 1.0, w);
  EXPECT_EQ(w, (std::vector<double>{21, 32}));
}

// A row may begin, end or lie across any border between chunks (16384 entries on the CPU).
TEST(CooFormat, ARowOfAnyLengthAcrossChunkBorders) {
  for (const Index before : {16382, 16383, 16384, 16385})
    for (const Index length : {1, 2, 3, 16384, 16385, 40000}) {
      const Index entries = before + length + 2;
      Array<Offset> offsets{0, before, before + length, entries};
      Array<Index> columns(static_cast<std::size_t>(entries));
      Index k = 0;
      for (const Index count : {before, length, 2})
        for (Index column = 0; column < count; ++column) columns[k++] = column;
      auto p = plan(make_csr<double>(3, 50000, offsets, columns, Array<double>(static_cast<std::size_t>(entries), 1.0)),
                    {.format = "coo"});
      std::vector<double> x(50000, 1.0), y(3, -1.0);
      p.apply(x, y);
      EXPECT_EQ(y, (std::vector<double>{double(before), double(length), 2.0})) << before << " " << length;
    }
}

TEST(CooFormat, TheRowOfAnEntryIsFoundPastAnyNumberOfEmptyRows) {
  for (const int gap : {0, 1, 2, 3, 7, 64, 5000}) {
    const std::vector<Offset> offsets =
        test::RowWriter().empty(gap).row(3).empty(gap).row(1).row(200).empty(gap).offsets();
    std::vector<Index> expected;
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
      expected.insert(expected.end(), static_cast<std::size_t>(offsets[row + 1] - offsets[row]),
                      static_cast<Index>(row));
    const auto rows = static_cast<Index>(offsets.size()) - 1;
    for (const std::size_t stride : {1u, 2u, 32u, 150u})
      for (std::size_t first = 0; first < expected.size(); first += 5) {
        coo::RowWalker walker(offsets.data(), rows, static_cast<Offset>(first));
        for (std::size_t k = first; k < expected.size(); k += stride)
          ASSERT_EQ(walker.row_of(static_cast<Offset>(k)), expected[k]) << gap << " empty rows, entry " << k;
      }
  }
}

// More than 256 * 512 entries make carries of carries.
TEST(CooFormat, AMatrixOnADeviceStaysThere) {
  using test::RowWriter;
  for (const Device device : test::devices_with_kernels())
    for (const RowWriter& rows : {RowWriter().rows_up_to(5000, 7).empty(600).row(3000).row(1),
                                  RowWriter().empty(1).row(140000).rows_up_to(150000, 3)}) {
      const auto matrix = test::integer_matrix<double>(rows.offsets());
      test::expect_same_from_device<Offset>("coo", device, matrix);
      test::expect_same_from_device<std::int32_t>("coo", device, matrix);
    }
}

}  // namespace
}  // namespace weft
