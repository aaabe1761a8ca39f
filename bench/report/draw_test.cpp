#include "draw.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "numbers.hpp"
#include "sparse/testing.hpp"
#include "svg.hpp"
#include "testing.hpp"

namespace weft::bench {
namespace {

using weft::testing::coo_of;
using weft::testing::Entry;

struct Cells {
  std::size_t rectangles = 0;
  Index cells = 0;
  std::size_t levels = 0;
};

/// Each path is one level, each of its rectangles M x y h WIDTH v1 H x z.
Cells cells_of(const std::string& picture) {
  const std::string opening = "<path class=\"d";
  Cells result;
  for (std::size_t path = picture.find(opening); path != std::string::npos; path = picture.find(opening, path + 1)) {
    ++result.levels;
    const std::size_t begin = picture.find(" d=\"", path) + 4, end = picture.find('"', begin);
    for (std::size_t at = picture.find('h', begin); at < end; at = picture.find('h', at + 1)) {
      ++result.rectangles;
      result.cells += std::stoi(picture.substr(at + 1));
    }
  }
  return result;
}

Csr<double> matrix_of(Index rows, Index cols, const std::vector<Entry<double>>& entries) {
  return to_csr(coo_of(rows, cols, entries));
}

TEST(SpyPlot, DrawsOneCellAnEntryOfASmallMatrix) {
  const Cells cells =
      cells_of(spy_svg(matrix_of(4, 7, {{0, 0, 1}, {0, 6, 2}, {1, 1, 3}, {3, 3, 4}, {3, 4, 5}}), "tiny"));
  EXPECT_EQ(cells.cells, 5);
  EXPECT_EQ(cells.rectangles, 4u);  // (3, 3) and (3, 4) are one
  EXPECT_EQ(cells.levels, 1u);
}

TEST(SpyPlot, HasAtMost256CellsASide) {
  std::vector<Entry<double>> diagonal;
  for (Index i = 0; i < 1000; ++i) diagonal.push_back({i, i, 1});
  EXPECT_EQ(cells_of(spy_svg(matrix_of(1000, 1000, diagonal), "")).cells, 256);
  std::vector<Entry<double>> last{{99999, 2, 1}, {0, 0, 1}};
  EXPECT_EQ(cells_of(spy_svg(matrix_of(100000, 3, last), "")).cells, 2);
}

TEST(SpyPlot, ColoursByDensity) {
  // A full block of 4 x 4 places a cell, and a single entry far away.
  std::vector<Entry<double>> entries{{1023, 0, 1}};
  for (Index row = 0; row < 4; ++row)
    for (Index column = 0; column < 4; ++column) entries.push_back({row, column, 1});
  const std::string picture = spy_svg(matrix_of(1024, 1024, entries), "");
  EXPECT_TRUE(has(picture, "<path class=\"d5\" d=\"M0 0h1v1H0z\"/>"));
  EXPECT_TRUE(has(picture, "<path class=\"d0\" d=\"M0 255h1v1H0z\"/>"));
  EXPECT_TRUE(has(picture, "6.25 %"));
  EXPECT_TRUE(has(picture, "100 %"));
}

TEST(SpyPlot, SaysTheSize) {
  const std::string picture = spy_svg(matrix_of(1234567, 3, {{0, 0, 1}}), "big");
  EXPECT_TRUE(has(picture, "1,234,567 × 3, 1 nonzero<"));
}

TEST(Pictures, AreWellFormedWhateverTheTitleHolds) {
  const Csr<double> matrix = matrix_of(3, 3, {{0, 0, 1}, {1, 2, 1}});
  const Structure structure = analyze(matrix);
  for (const std::string title : {"plain", "a<b> & \"c\" 'd' ]]>", "bell \a zero-byte next\x01", "bad utf8 \xff\xc3",
                                  "größe — 行列", "</title><script>"}) {
    for (const std::string& picture :
         {spy_svg(matrix, title), row_length_svg(structure, title), structure_svg(matrix, structure, title),
          line_chart_svg({}, {title, "x", "y"})}) {
      EXPECT_EQ(xml_fault(picture), "") << title;
      EXPECT_TRUE(has(picture, "<title id=\"title\">"));
      EXPECT_TRUE(has(picture, "<desc id=\"description\">"));
      EXPECT_TRUE(has(picture, "prefers-color-scheme: dark"));
      EXPECT_FALSE(has(picture, "<script"));
      EXPECT_FALSE(has(picture, "\a"));
      EXPECT_FALSE(has(picture, "\xff"));
      EXPECT_FALSE(has(picture, "nan"));
      EXPECT_FALSE(has(picture, "inf"));
    }
  }
}

TEST(Pictures, KeepTheEndOfALongTitle) {
  const std::string title = std::string(300, 'x') + "ü/name.mtx";
  const std::string picture = spy_svg(matrix_of(1, 1, {{0, 0, 1}}), title);
  EXPECT_TRUE(has(picture, "ü/name.mtx</text>"));
  EXPECT_FALSE(has(picture, std::string(100, 'x') + "ü/name.mtx</text>"));
  EXPECT_TRUE(has(picture, title + "</title>"));
}

TEST(Pictures, TakeEmptyMatrices) {
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 5}, {5, 0}, {5, 5}}) {
    const Csr<double> matrix = matrix_of(rows, cols, {});
    const std::string picture = structure_svg(matrix, analyze(matrix), "empty");
    EXPECT_EQ(xml_fault(picture), "");
    EXPECT_EQ(cells_of(picture).cells, 0);
    EXPECT_FALSE(has(picture, "nan"));
  }
}

TEST(RowLengths, HaveABarForEachLength) {
  const std::string picture =
      row_length_svg(analyze(matrix_of(4, 4, {{0, 0, 1}, {0, 1, 1}, {0, 3, 1}, {1, 1, 1}, {2, 2, 1}})), "lengths");
  EXPECT_EQ(count(picture, "class=\"bar\""), 3u);  // 0, 1 and 3
  EXPECT_TRUE(has(picture, "mean 1.25"));
  EXPECT_TRUE(has(picture, "max 3"));
}

TEST(RowLengths, AreDrawnByLogarithmWhenTheyDifferWidely) {
  std::vector<Entry<double>> entries;
  for (Index row = 1; row < 1000; ++row) entries.push_back({row, row, 1});
  for (Index column = 0; column < 20000; ++column) entries.push_back({0, column, 1});
  const std::string picture = row_length_svg(analyze(matrix_of(1001, 20000, entries)), "one long row");
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_EQ(count(picture, "class=\"bar\""), 3u);  // 0, 1 and 20000
  EXPECT_TRUE(has(picture, "max 20,000"));
  // A decade is as wide as the next, and no row has half an entry.
  const auto place = [&](const std::string& label) {
    const std::size_t end = picture.find("\" text-anchor=\"middle\">" + label + "</text>");
    EXPECT_NE(end, std::string::npos) << label;
    const std::size_t begin = picture.rfind(" x=\"", end);
    return end == std::string::npos ? 0.0 : std::stod(picture.substr(begin + 4));
  };
  EXPECT_NEAR(place("100") - place("10"), place("10k") - place("1000"), 0.05);
  EXPECT_GT(place("100"), place("10") + 20);
  EXPECT_FALSE(has(picture, ">0.5</text>"));
}

TEST(LineCharts, LeaveOutWhatCannotBeDrawn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Series> series{{"one", {{1, 1}, {10, 2}, {100, 4}}}, {"two & more", {{1, nan}, {10, 0}, {100, 3}}}};
  const std::string logarithmic = line_chart_svg(series, {"t", "nonzeros", "seconds", true, true});
  EXPECT_EQ(xml_fault(logarithmic), "");
  EXPECT_EQ(count(logarithmic, "<circle"), 4u);
  EXPECT_EQ(count(logarithmic, "<polyline"), 2u);
  const std::string linear = line_chart_svg(series, {"t", "nonzeros", "seconds"});
  EXPECT_EQ(count(linear, "<circle"), 5u);
  EXPECT_TRUE(has(linear, "two &amp; more"));
}

TEST(LineCharts, WrapTheirKey) {
  std::vector<Series> series;
  for (int i = 0; i < 20; ++i) series.push_back({"format:variant" + std::to_string(i), {{1, 1}, {2, 2}}});
  const std::string picture = line_chart_svg(series, {"t", "x", "y"});
  std::set<std::pair<double, double>> places;
  const std::string key = "<rect class=\"p";
  for (std::size_t at = picture.find(key + "0"); at != std::string::npos; at = picture.find(key, at + 1)) {
    const double x = std::stod(picture.substr(picture.find(" x=\"", at) + 4));
    EXPECT_LT(x, 600);
    places.emplace(x, std::stod(picture.substr(picture.find(" y=\"", at) + 4)));
  }
  EXPECT_EQ(places.size(), series.size());
  EXPECT_EQ(xml_fault(picture), "");
}

TEST(LineCharts, StandBelowEachOther) {
  const std::vector<Series> series{{"one", {{1, 1}, {2, 2}}}};
  const std::string alone = line_chart_svg(series, {"first", "x", "y"});
  const std::string both = line_charts_svg({{series, {"first", "x", "y"}}, {series, {"second", "x", "y"}}}, "two");
  EXPECT_EQ(xml_fault(both), "");
  EXPECT_EQ(count(both, "<polyline"), 2u);
  const auto height = [](const std::string& picture) {
    return std::stod(picture.substr(picture.find(" height=\"") + 9));
  };
  EXPECT_EQ(height(both), 2 * height(alone));
  EXPECT_TRUE(has(both, "translate(0 " + svg::number(height(alone)) + ")"));
}

TEST(Numbers, AreShortAndIndependentOfTheLocale) {
  EXPECT_EQ(svg::compact(0), "0");
  EXPECT_EQ(svg::compact(250000), "250k");
  EXPECT_EQ(svg::compact(1500000), "1.5M");
  EXPECT_EQ(svg::compact(2e9), "2G");
  EXPECT_EQ(svg::compact(1e-6), "1e-6");
  EXPECT_EQ(svg::compact(0.02), "0.02");
  EXPECT_EQ(count_text(-1234), "-1,234");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(svg::number(-0.0001), "0");
  EXPECT_EQ(svg::rounded(10.885), "10.9");
  EXPECT_EQ(padding_text(0, 0), "0 %");
  EXPECT_EQ(padding_text(1, 8), "12.5 %");
  EXPECT_EQ(padding_text(999, 100), "999 %");
  EXPECT_EQ(padding_text(123'456'000, 100), "1,234,560x");
}

TEST(Scale, TicksEndWhateverTheRange) {
  // A result file may hold any numbers: a range smaller than the numbers can tell apart, or none at all.
  const std::pair<double, double> ranges[] = {{1e18, 1e18 + 256}, {5, 5},           {0, 0},
                                              {-1e300, 1e300},    {1e-320, 1e-319}, {1e-310, 1e3}};
  for (const auto& [low, high] : ranges)
    for (const bool logarithmic : {false, true})
      EXPECT_LE((svg::Scale{low, high, 0, 100, logarithmic}.ticks(6).size()), 40U) << low << " " << high;
  EXPECT_GE((svg::Scale{1e-310, 1e3, 0, 100, true}.ticks(6).size()), 2U);
  EXPECT_EQ((svg::Scale{0, 10, 0, 100}.ticks(5).size()), 6U);
  EXPECT_EQ((svg::Scale{1, 1000, 0, 100, true}.ticks(5).size()), 4U);
}

}  // namespace
}  // namespace weft::bench
