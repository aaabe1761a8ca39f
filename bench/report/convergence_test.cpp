#include "convergence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace weft::bench {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Convergence, HasALineForEachRightSideAndOneForTheTolerance) {
  const std::string svg = convergence_svg(
      {.title = "cg <&>", .tolerance = 1e-3, .lines = {{"b 1", {1, 0.1, 1e-4}}, {"b 2", {1, 0.5, 0.01, 1e-4}}}});
  EXPECT_EQ(count(svg, "<polyline"), 2U);
  EXPECT_THAT(svg, testing::HasSubstr("tolerance 1.0e-03"));
  EXPECT_THAT(svg, testing::HasSubstr("cg &lt;&amp;&gt;"));
  EXPECT_THAT(svg, testing::HasSubstr("b 2 from 1.0e+00 to 1.0e-04 in 3 iterations"));
}

TEST(Convergence, ZeroAndInfinityLeaveAGap) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::string svg = convergence_svg({.lines = {{"", {1, infinity, 0.5, 0.1, 0, 0.01}}}});
  EXPECT_EQ(count(svg, "<polyline"), 3U);
  EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0U);
}

TEST(Convergence, NothingToDrawIsStillAPicture) {
  for (const ConvergencePicture& picture :
       {ConvergencePicture{}, ConvergencePicture{.tolerance = 1e-5, .lines = {{"", {}}}},
        ConvergencePicture{.lines = {{"", {0}}}}, ConvergencePicture{.tolerance = 1, .lines = {{"", {1}}}}}) {
    const std::string svg = convergence_svg(picture);
    EXPECT_THAT(svg, testing::StartsWith("<svg"));
    EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0U);
  }
}

TEST(Convergence, ALongHistoryIsThinnedButKeepsItsPeaksAndItsEnd) {
  std::vector<double> residuals(100000, 0.5);
  residuals[54321] = 1000;
  residuals.back() = 1e-3;
  const std::string svg = convergence_svg({.lines = {{"", residuals}}});
  EXPECT_LT(svg.size(), 40000U);
  const std::size_t begin = svg.find("points=\"") + 8;
  const std::string points = svg.substr(begin, svg.find('"', begin) - begin);
  EXPECT_THAT(points, testing::HasSubstr(",64 ")) << "the peak, at the top of the plot";
  EXPECT_THAT(points, testing::EndsWith("690,404")) << "the end, at the bottom right";
}

}  // namespace
}  // namespace weft::bench
