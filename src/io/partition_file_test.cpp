#include "io/partition_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "order/partition/testing.hpp"

namespace weft {
namespace {

using ordering::error_of;
using ordering::parse_partition;

std::string refusal(const std::string& text, Index rows) {
  return error_of([&] { parse_partition(text, "p", rows); }, ErrorCode::parse);
}

TEST(PartitionFile, IsANumberALine) {
  for (const char* text : {"0\n2\n1\n", "0\n2\n1", "% from METIS\r\n0\r\n\r\n # half\n  2 \n1\r\n\n%\n"}) {
    const Partition found = parse_partition(text, "p", 3);
    EXPECT_TRUE(ordering::same(found, {3, {0, 2, 1}})) << text;
  }
  EXPECT_EQ(parse_partition("", "p", 0).parts, 0);
}

TEST(PartitionFile, SaysInWhichLineItIsWrong) {
  EXPECT_EQ(refusal("0\nx\n", 2), "p:2: expected one part number from 0, found 'x'");
  EXPECT_EQ(refusal("0\n-1\n", 2), "p:2: expected one part number from 0, found '-1'");
  EXPECT_EQ(refusal("%\n0 1\n", 2), "p:2: expected one part number from 0, found '0 1'");
  EXPECT_EQ(refusal("0\n1.5\n", 2), "p:2: expected one part number from 0, found '1.5'");
  EXPECT_EQ(refusal("0\n+1\n", 2), "p:2: expected one part number from 0, found '+1'");
  EXPECT_EQ(refusal("0\n2\n", 2), "p:2: part 2 is too large: 2 rows are in parts 0 to 1 at most");
  EXPECT_EQ(refusal("99999999999999999999\n", 2),
            "p:1: part 99999999999999999999 is too large: 2 rows are in parts 0 to 1 at most");
  EXPECT_EQ(refusal("0\n", 2), "p:2: the file ends after 1 number, but the matrix has 2 rows");
  EXPECT_EQ(refusal("", 2), "p:1: the file ends after 0 numbers, but the matrix has 2 rows");
  EXPECT_EQ(refusal("0\n1\n\n0\n", 2), "p:4: here is another number, but the matrix has only 2 rows");
  EXPECT_EQ(refusal("0\n", 2000000000), "p:2: the file ends after 1 number, but the matrix has 2000000000 rows");
}

TEST(PartitionFile, ReadsBackWhatWasWritten) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:40");
  const Partition found = partition(matrix, {.parts = 6});
  for (const std::string ending : {".part", ".part.gz"}) {
    const std::string path = ::testing::TempDir() + "weft_partition_" + std::to_string(getpid()) + ending;
    write_partition(path, found);
    EXPECT_TRUE(ordering::same(read_partition(path, matrix.rows), found)) << ending;
    std::filesystem::remove(path);
  }
  EXPECT_NE(error_of([] { read_partition("/nowhere/a.part", 3); }, ErrorCode::io).find("/nowhere/a.part"),
            std::string::npos);
}

}  // namespace
}  // namespace weft
