#include "io/coordinates_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "order/partition/testing.hpp"

namespace weft {
namespace {

using io::parse_coordinates;
using ordering::error_of;

std::string refusal(const std::string& text) {
  return error_of([&] { parse_coordinates(text, "p"); }, ErrorCode::parse);
}

TEST(CoordinatesFile, IsAPointPerLine) {
  for (const char* text :
       {"1 2.5 -3\n0 1e2 +4\n", "1 2.5 -3\n0 1e2 4", "% points\r\n\t1  2.5 -3 \r\n\r\n # the other\n0\t100 4\r\n%\n"}) {
    const Coordinates found = parse_coordinates(text, "p");
    EXPECT_EQ(found.dimensions, 3);
    EXPECT_TRUE(std::ranges::equal(found.points, std::vector<double>{1, 2.5, -3, 0, 100, 4})) << text;
  }
  EXPECT_EQ(parse_coordinates("1\n2\n3\n", "p").dimensions, 1);
  EXPECT_EQ(parse_coordinates("1 2\n", "p").dimensions, 2);
}

TEST(CoordinatesFile, SaysInWhichLineItIsWrong) {
  EXPECT_EQ(refusal("0\nx\n"), "p:2: expected a point of 1 to 3 finite numbers, found 'x'");
  EXPECT_EQ(refusal("1 2 3 4\n"), "p:1: expected a point of 1 to 3 finite numbers, found '1 2 3 4'");
  EXPECT_EQ(refusal("1 2 nan\n"), "p:1: expected a point of 1 to 3 finite numbers, found '1 2 nan'");
  EXPECT_EQ(refusal("%\n1 inf\n"), "p:2: expected a point of 1 to 3 finite numbers, found '1 inf'");
  EXPECT_EQ(refusal("1e999\n"), "p:1: expected a point of 1 to 3 finite numbers, found '1e999'");
  EXPECT_EQ(refusal("1,2\n"), "p:1: expected a point of 1 to 3 finite numbers, found '1,2'");
  EXPECT_EQ(refusal("+-1\n"), "p:1: expected a point of 1 to 3 finite numbers, found '+-1'");
  EXPECT_EQ(refusal("1 2\n\n3\n"), "p:3: this point has 1 coordinate, but those before have 2");
  EXPECT_EQ(refusal("1 2\n3 4 5\n"), "p:2: this point has 3 coordinates, but those before have 2");
  EXPECT_EQ(refusal(""), "p:1: the file ends without a point");
  EXPECT_EQ(refusal("# none\n"), "p:2: the file ends without a point");
}

TEST(CoordinatesFile, IsReadFromDisk) {
  const std::string path = ::testing::TempDir() + "weft_points_" + std::to_string(getpid());
  std::ofstream(path) << "0 1\n2 3\n";
  EXPECT_EQ(read_coordinates(path).points.size(), 4u);
  std::filesystem::remove(path);
  EXPECT_NE(error_of([&] { read_coordinates(path); }, ErrorCode::io).find(path), std::string::npos);
}

}  // namespace
}  // namespace weft
