#include <array>
#include <cmath>

#include "bench/report/numbers.hpp"
#include "bench/report/svg.hpp"
#include "row_blocks.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::padding_text;
using bench::with_noun;
namespace svg = bench::svg;
using svg::Panel;
using svg::Scale;

constexpr double width = 720, left = 76, right = 700;
constexpr double plot_height = 300;
constexpr double names_top = 76;  // below the captions; the blocks' names stand there, on up to most_floors floors
constexpr int most_floors = 4;
constexpr double floor_height = 14;
constexpr std::size_t rows_named = 8;  // of so many blocks the names tell the rows too

/// The lengths of rows that are not empty, with room at both ends. Lengths n stand from n - 0.5 to n + 0.5.
Scale lengths_scale(const RowBlocks& partition, Offset shortest) {
  const double longest = static_cast<double>(partition.widths.back());
  double low = static_cast<double>(shortest) - 0.5, high = longest + 0.5;
  const bool logarithmic = longest > 100 * static_cast<double>(shortest);
  if (!logarithmic && high - low < 8) {
    const double room = (8 - (high - low)) / 2;
    high += room;
    low = std::max(0.5, low - room);
  }
  return {low, high, left, right, logarithmic, true};
}

/// A bar for each length; where several stand in the same pixel, the highest.
std::string draw_bars(const RowLengths& lengths, const Scale& x, const Scale& y) {
  const double bottom = y.from;
  std::string bars;
  double last_pixel = -1, rows_there = 0;
  std::string bar;
  for (const auto [length, rows] : lengths.row_lengths) {
    if (length == 0 || rows == 0) continue;
    const double from = x(static_cast<double>(length) - 0.5), to = x(static_cast<double>(length) + 0.5);
    const double thickness = std::clamp(0.8 * (to - from), 1.0, 24.0), middle = (from + to) / 2;
    const double pixel = std::floor(middle);
    if (pixel == last_pixel && rows <= rows_there) continue;
    if (pixel != last_pixel) bars += bar;
    last_pixel = pixel;
    rows_there = rows;
    bar = svg::rect(middle - thickness / 2, y(rows), thickness, bottom - y(rows), "bar");
  }
  return bars + bar;
}

/// A block's end, and its name left of it; floor 0 is the lowest, -1 stands for no name.
struct BlockEnd {
  double x = 0;
  int floor = -1;
  std::string name;
};

/// Of two names that would stand in each other's way the right one goes a floor higher; where no floor is left, a block
/// has no name. Of ends in the same pixel only the first one and the last of all are kept.
std::vector<BlockEnd> place_names(const RowBlocks& partition, const Scale& x) {
  std::vector<BlockEnd> ends;
  std::array<double, most_floors> line_on;  // the last line that reaches this floor
  line_on.fill(0);
  const auto room = [](const std::string& name) { return 6.6 * static_cast<double>(name.size()) - 4; };
  for (std::size_t b = 0; b < partition.widths.size(); ++b) {
    BlockEnd end{x(static_cast<double>(partition.widths[b]) + 0.5), -1, "\u2264 " + count_text(partition.widths[b])};
    if (!ends.empty() && end.x < ends.back().x + 1 && b + 1 < partition.widths.size()) continue;
    const std::string with_rows = end.name + ": " + with_noun(partition.rows[b], "row");
    if (partition.widths.size() <= rows_named && room(with_rows) < end.x) end.name = with_rows;
    const double begin = end.x - room(end.name);
    int floor = 0;
    while (floor < most_floors && line_on[static_cast<std::size_t>(floor)] > begin) ++floor;
    if (floor < most_floors) {
      end.floor = floor;
      std::fill_n(line_on.begin(), floor + 1, end.x);
    }
    ends.push_back(std::move(end));
  }
  return ends;
}

std::string draw_blocks(const std::vector<BlockEnd>& ends, double top, double bottom) {
  std::string bands, lines, names;
  double begin = left;
  for (std::size_t b = 0; b < ends.size(); ++b) {
    const BlockEnd& end = ends[b];
    if (b % 2 == 1) bands += svg::rect(begin, top, end.x - begin, bottom - top, "band");
    begin = end.x;
    const double height = floor_height * (end.floor + 1);
    lines += svg::line(end.x, top - height, end.x, bottom, "marker");
    if (end.floor >= 0) names += svg::text(end.x - 4, top - height + 11, "end", "mark", end.name);
  }
  return bands + lines + names;
}

std::string blocks_sentence(const RowBlocks& partition) {
  std::string sentence = "The blocks end at row lengths";
  constexpr std::size_t most_told = 40;
  for (std::size_t b = 0; b < partition.widths.size() && b < most_told; ++b)
    sentence += (b == 0 ? " " : ", ") + count_text(partition.widths[b]);
  if (partition.widths.size() > most_told) sentence += " and so on to " + count_text(partition.widths.back());
  return sentence + ".";
}

}  // namespace

std::string row_blocks_svg(const RowLengths& lengths, const RowBlocks& partition, Index rows_to_fill,
                           const std::string& title) {
  const std::size_t count = partition.widths.size();
  const std::string blocks = with_noun(static_cast<Offset>(count), "block") + " by row length: padding " +
                             padding_text(partition.padding, lengths.nonzeros) + ", modelled cost " +
                             count_text(partition.cost);
  std::string rows = with_noun(rows_to_fill, "row") + (rows_to_fill == 1 ? " fills" : " fill") + " a multiprocessor";
  if (lengths.empty_rows > 0) rows += "; " + with_noun(lengths.empty_rows, "empty row") + " in no block";
  Panel panel{
      width, 0, {}, "How many rows have how many entries, and how they are grouped. " + blocks + "; " + rows + "."};
  panel.body += svg::text(left, 26, "start", "heading", svg::shorten(title, 76));
  panel.body += svg::text(left, 46, "start", "caption", blocks);
  panel.body += svg::text(left, 63, "start", "caption", rows);
  if (count == 0) {
    panel.height = names_top + plot_height + 20;
    panel.body += svg::rect(left, names_top, right - left, plot_height, "frame");
    panel.body +=
        svg::text((left + right) / 2, names_top + plot_height / 2, "middle", "caption", "no rows with entries");
    return svg::document(panel, title);
  }
  panel.description += " " + blocks_sentence(partition);

  Index most = 1;
  Offset shortest = 0;
  for (const LengthCount& one : lengths.row_lengths) {
    if (one.length == 0 || one.rows == 0) continue;
    if (shortest == 0) shortest = one.length;
    most = std::max(most, one.rows);
  }
  const Scale x = lengths_scale(partition, shortest);
  const std::vector<BlockEnd> ends = place_names(partition, x);
  int floors = 0;
  for (const BlockEnd& end : ends) floors = std::max(floors, end.floor + 1);
  const double top = names_top + floor_height * floors, bottom = top + plot_height;
  const Scale y{0.7, 1.2 * most, bottom, top, true, true};
  panel.height = bottom + 52;
  panel.body += draw_blocks(ends, top, bottom);
  panel.body += svg::y_axis(y, left, right, "rows of this length", true, 5);
  panel.body += draw_bars(lengths, x, y);
  panel.body += svg::line(left, bottom, right, bottom, "axis");
  panel.body += svg::x_axis(x, top, bottom, "entries in a row", false, 8);
  return svg::document(panel, title);
}

}  // namespace weft::app
