#include "draw.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "numbers.hpp"
#include "sparse/testing.hpp"
#include "svg.hpp"

namespace weft::app {
namespace {

using weft::testing::coo_of;
using weft::testing::Entry;

bool starts_with_reference(std::string_view text) {
  for (std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
    if (text.starts_with(known)) return true;
  return false;
}

/// Empty when `document` is one well-formed element: tags nest, attributes are quoted, references are known.
std::string xml_fault(const std::string& document) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < document.size(); ++at) {
    if (document[at] == '&' && !starts_with_reference(std::string_view(document).substr(at))) return "a bare ampersand";
    if (document[at] != '<') continue;
    std::size_t end = at + 1;
    for (bool quoted = false; end < document.size() && (quoted || document[end] != '>'); ++end) {
      if (document[end] == '<') return "a bare < after " + document.substr(at, 40);
      if (document[end] == '"') quoted = !quoted;
      if (document[end] == '=' && !quoted && document[end + 1] != '"') return "an attribute without quotes";
    }
    if (end == document.size()) return "a tag without an end: " + document.substr(at, 40);
    const std::string tag = document.substr(at + 1, end - at - 1);
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes, tag.find_first_of(" \n", closes) - closes);
    if (closes) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (tag.back() != '/') {
      roots += open.empty();
      open.push_back(name);
    }
    at = end;
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return roots == 1 ? "" : std::to_string(roots) + " roots";
}

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

bool has(const std::string& picture, const std::string& text) { return picture.find(text) != std::string::npos; }

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
          partition_svg(structure, bce::optimal_partition(structure.row_lengths), bce::default_rows_to_fill, title),
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

std::size_t count(const std::string& picture, const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = picture.find(text); at != std::string::npos; at = picture.find(text, at + 1)) ++found;
  return found;
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

/// 100 rows for each length but one row for the longest.
RowLengths lengths_up_to(Offset longest, Offset step = 1) {
  RowLengths lengths;
  for (Offset length = 1; length <= longest; length += step)
    lengths.row_lengths.push_back({length, length + step > longest ? 1 : 100});
  for (const LengthCount& one : lengths.row_lengths) {
    lengths.rows += one.rows;
    lengths.nonzeros += one.length * one.rows;
  }
  return lengths;
}

std::string draw_partition(const RowLengths& lengths, const std::vector<Offset>& boundaries, Index rows_to_fill = 32) {
  return partition_svg(lengths, bce::partition_at(lengths.row_lengths, boundaries, rows_to_fill), rows_to_fill,
                       "title");
}

TEST(PartitionPicture, HasABarForEachLengthAndANamedLineForEachBlock) {
  const std::string picture = draw_partition(lengths_up_to(9), {3, 6});
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_EQ(count(picture, "class=\"bar\""), 9u);
  EXPECT_EQ(count(picture, "class=\"marker\""), 3u);
  EXPECT_EQ(count(picture, "class=\"band\""), 1u);
  for (const char* name : {"≤ 3: 300 rows", "≤ 6: 300 rows", "≤ 9: 201 rows"}) EXPECT_TRUE(has(picture, name)) << name;
  EXPECT_TRUE(has(picture, "3 blocks by row length: padding 24.9 %"));
  EXPECT_TRUE(has(picture, "The blocks end at row lengths 3, 6, 9."));
  EXPECT_TRUE(has(picture, "32 rows fill a multiprocessor"));
}

TEST(PartitionPicture, OfThousandsOfBlocksIsStillAPicture) {
  std::vector<Offset> each;
  for (Offset length = 1; length <= 100'000; ++length) each.push_back(length);
  const std::string picture = draw_partition(lengths_up_to(100'000), each);
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_LT(count(picture, "class=\"bar\""), 700u);
  EXPECT_LT(count(picture, "class=\"marker\""), 700u);
  EXPECT_LT(picture.size(), 400'000u);
  EXPECT_TRUE(has(picture, "and so on to 100,000."));
}

TEST(PartitionPicture, ShowsTheHighestOfTheBarsInAPixel) {
  RowLengths lengths = lengths_up_to(100'000);
  lengths.row_lengths[50'000].rows = 5000;
  const std::string picture = draw_partition(lengths, {});
  double highest = 0;
  for (std::size_t at = picture.find("<rect class=\"bar\""); at != std::string::npos;
       at = picture.find("<rect class=\"bar\"", at + 1))
    highest = std::max(highest, std::stod(picture.substr(picture.find(" height=\"", at) + 9)));
  EXPECT_GT(highest, 280);
}

/// Left and right end of each text of this class, about, by the line it stands on.
std::map<double, std::vector<std::pair<double, double>>> names_by_line(const std::string& picture) {
  std::map<double, std::vector<std::pair<double, double>>> lines;
  const std::string opening = "<text class=\"mark\" x=\"";
  for (std::size_t at = picture.find(opening); at != std::string::npos; at = picture.find(opening, at + 1)) {
    const double right = std::stod(picture.substr(at + opening.size()));
    const std::size_t begin = picture.find('>', at) + 1, end = picture.find('<', begin);
    const double characters = static_cast<double>(end - begin) - 2;  // the first one has three bytes
    lines[std::stod(picture.substr(picture.find(" y=\"", at) + 4))].push_back({right - 5.5 * characters, right});
  }
  return lines;
}

TEST(PartitionPicture, NamesDoNotStandInEachOthersWay) {
  const std::string picture = draw_partition(lengths_up_to(60), {1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25, 40});
  const auto lines = names_by_line(picture);
  EXPECT_GT(lines.size(), 1u);
  for (const auto& [y, names] : lines)
    for (std::size_t i = 1; i < names.size(); ++i) EXPECT_LT(names[i - 1].second, names[i].first) << "at height " << y;
  for (const auto& [y, names] : lines) EXPECT_GT(names.front().first, 0);
}

TEST(PartitionPicture, AxisOfTheLengthsIsLogarithmicPastTwoDecades) {
  EXPECT_TRUE(has(draw_partition(lengths_up_to(100), {}), ">20</text>"));
  const std::string wide = draw_partition(lengths_up_to(20'001, 1000), {});
  EXPECT_TRUE(has(wide, ">10k</text>"));
  EXPECT_FALSE(has(wide, ">5000</text>")) << "a linear axis has it";
}

TEST(PartitionPicture, OfNoBlockAtAll) {
  RowLengths lengths;
  lengths.rows = lengths.empty_rows = 7;
  lengths.row_lengths = {{0, 7}};
  const std::string picture = draw_partition(lengths, {});
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_TRUE(has(picture, "no rows with entries"));
  EXPECT_TRUE(has(picture, "7 empty rows in no block"));
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

}  // namespace
}  // namespace weft::app
