#include "row_blocks.hpp"

#include <gtest/gtest.h>

#include <map>

#include "bench/report/testing.hpp"

namespace weft::app {
namespace {

using bench::count;
using bench::has;
using bench::xml_fault;

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

/// The blocks that end at these lengths, and at the longest row.
RowBlocks blocks_at(const RowLengths& lengths, const std::vector<Offset>& boundaries, Index rows_to_fill) {
  RowBlocks blocks;
  std::size_t boundary = 0;
  bool open = false;
  for (const auto [length, rows] : lengths.row_lengths) {
    if (length == 0) continue;
    while (boundary < boundaries.size() && boundaries[boundary] < length) {
      ++boundary;
      open = false;
    }
    if (!open) {
      blocks.widths.push_back(0);
      blocks.rows.push_back(0);
      blocks.entries.push_back(0);
      open = true;
    }
    blocks.widths.back() = length;
    blocks.rows.back() += rows;
    blocks.entries.back() += length * rows;
  }
  for (std::size_t b = 0; b < blocks.widths.size(); ++b) {
    blocks.padding += blocks.widths[b] * blocks.rows[b] - blocks.entries[b];
    blocks.cost += blocks.widths[b] * std::max(blocks.rows[b], rows_to_fill);
  }
  return blocks;
}

std::string draw(const RowLengths& lengths, const std::vector<Offset>& boundaries, const std::string& title = "title") {
  constexpr Index rows_to_fill = 32;
  return row_blocks_svg(lengths, blocks_at(lengths, boundaries, rows_to_fill), rows_to_fill, title);
}

TEST(RowBlocksPicture, HasABarForEachLengthAndANamedLineForEachBlock) {
  const std::string picture = draw(lengths_up_to(9), {3, 6});
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_EQ(count(picture, "class=\"bar\""), 9u);
  EXPECT_EQ(count(picture, "class=\"marker\""), 3u);
  EXPECT_EQ(count(picture, "class=\"band\""), 1u);
  for (const char* name : {"≤ 3: 300 rows", "≤ 6: 300 rows", "≤ 9: 201 rows"}) EXPECT_TRUE(has(picture, name)) << name;
  EXPECT_TRUE(has(picture, "3 blocks by row length: padding 24.9 %"));
  EXPECT_TRUE(has(picture, "The blocks end at row lengths 3, 6, 9."));
  EXPECT_TRUE(has(picture, "32 rows fill a multiprocessor"));
}

TEST(RowBlocksPicture, OfThousandsOfBlocksIsStillAPicture) {
  std::vector<Offset> each;
  for (Offset length = 1; length <= 100'000; ++length) each.push_back(length);
  const std::string picture = draw(lengths_up_to(100'000), each);
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_LT(count(picture, "class=\"bar\""), 700u);
  EXPECT_LT(count(picture, "class=\"marker\""), 700u);
  EXPECT_LT(picture.size(), 400'000u);
  EXPECT_TRUE(has(picture, "and so on to 100,000."));
}

TEST(RowBlocksPicture, ShowsTheHighestOfTheBarsInAPixel) {
  RowLengths lengths = lengths_up_to(100'000);
  lengths.row_lengths[50'000].rows = 5000;
  const std::string picture = draw(lengths, {});
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

TEST(RowBlocksPicture, NamesDoNotStandInEachOthersWay) {
  const std::string picture = draw(lengths_up_to(60), {1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25, 40});
  const auto lines = names_by_line(picture);
  EXPECT_GT(lines.size(), 1u);
  for (const auto& [y, names] : lines)
    for (std::size_t i = 1; i < names.size(); ++i) EXPECT_LT(names[i - 1].second, names[i].first) << "at height " << y;
  for (const auto& [y, names] : lines) EXPECT_GT(names.front().first, 0);
}

TEST(RowBlocksPicture, AxisOfTheLengthsIsLogarithmicPastTwoDecades) {
  EXPECT_TRUE(has(draw(lengths_up_to(100), {}), ">20</text>"));
  const std::string wide = draw(lengths_up_to(20'001, 1000), {});
  EXPECT_TRUE(has(wide, ">10k</text>"));
  EXPECT_FALSE(has(wide, ">5000</text>")) << "a linear axis has it";
}

TEST(RowBlocksPicture, OfNoBlockAtAll) {
  RowLengths lengths;
  lengths.rows = lengths.empty_rows = 7;
  lengths.row_lengths = {{0, 7}};
  const std::string picture = draw(lengths, {});
  EXPECT_EQ(xml_fault(picture), "");
  EXPECT_TRUE(has(picture, "no rows with entries"));
  EXPECT_TRUE(has(picture, "7 empty rows in no block"));
}

TEST(RowBlocksPicture, IsWellFormedWhateverTheTitleHolds) {
  for (const std::string title : {"a<b> & \"c\" 'd' ]]>", "bad utf8 \xff\xc3", "</title><script>"}) {
    const std::string picture = draw(lengths_up_to(3), {1}, title);
    EXPECT_EQ(xml_fault(picture), "") << title;
    EXPECT_FALSE(has(picture, "<script"));
    EXPECT_FALSE(has(picture, "\xff"));
  }
}

}  // namespace
}  // namespace weft::app
