#include "draw.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "numbers.hpp"
#include "svg.hpp"

namespace weft::app {
namespace {

using svg::Panel;
using svg::Scale;

constexpr double panel_width = 472, panel_height = 520;
constexpr double plot_left = 70, plot_top = 70, plot_size = 384;
constexpr std::size_t heading_length = 42;
constexpr int density_levels = 6;

std::string size_sentence(Index rows, Index cols, Offset nonzeros) {
  return count_text(rows) + " \u00d7 " + count_text(cols) + ", " + with_noun(nonzeros, "nonzero");
}

/// The matrix cut into cells; cell (r, c) holds the share of its places with an entry.
struct Raster {
  Index rows = 0;
  Index cols = 0;
  std::vector<double> density;

  double sparsest = std::numeric_limits<double>::infinity();  // among the cells with entries
  double densest = 0;

  /// 0..density_levels-1, or -1 for a cell without entries.
  int level(Index row, Index col) const {
    const double here = density[static_cast<std::size_t>(row) * cols + col];
    if (here == 0) return -1;
    if (densest <= sparsest * 1.01) return density_levels - 2;
    const double share = std::log(here / sparsest) / std::log(densest / sparsest);
    return std::min(density_levels - 1, static_cast<int>(share * density_levels));
  }
};

/// The first of `size` rows or columns that lies in `cell`; the cells share them out as evenly as whole numbers allow.
Offset cell_begin(Offset cell, Offset cells, Offset size) { return (cell * size + cells - 1) / cells; }

template <Value V>
Raster rasterize(const Csr<V>& matrix) {
  Raster raster;
  raster.rows = std::min(matrix.rows, spy_cells);
  raster.cols = std::min(matrix.cols, spy_cells);
  raster.density.resize(static_cast<std::size_t>(raster.rows) * raster.cols);
  // A raster row is a stretch of consecutive entries, counted by one thread.
  parallel_for(raster.rows, 1, [&](Offset r) {
    std::array<Offset, spy_cells> counts{};
    const Offset begin = cell_begin(r, raster.rows, matrix.rows), end = cell_begin(r + 1, raster.rows, matrix.rows);
    for (Offset i = matrix.offsets[begin]; i < matrix.offsets[end]; ++i)
      ++counts[Offset(matrix.columns[i]) * raster.cols / matrix.cols];
    for (Index c = 0; c < raster.cols; ++c) {
      const Offset width = cell_begin(c + 1, raster.cols, matrix.cols) - cell_begin(c, raster.cols, matrix.cols);
      raster.density[r * raster.cols + c] = static_cast<double>(counts[c]) / static_cast<double>((end - begin) * width);
    }
  });
  for (double density : raster.density) {
    if (density > 0) raster.sparsest = std::min(raster.sparsest, density);
    raster.densest = std::max(raster.densest, density);
  }
  return raster;
}

/// One path a level; neighbours in a row that share a level are one rectangle.
std::string draw_cells(const Raster& raster) {
  std::array<std::string, density_levels> paths;
  for (Index row = 0; row < raster.rows; ++row) {
    for (Index begin = 0, end; begin < raster.cols; begin = end) {
      const int level = raster.level(row, begin);
      for (end = begin + 1; end < raster.cols && raster.level(row, end) == level;) ++end;
      if (level < 0) continue;
      paths[level] += "M" + std::to_string(begin) + " " + std::to_string(row) + "h" + std::to_string(end - begin) +
                      "v1H" + std::to_string(begin) + "z";
    }
  }
  std::string result;
  for (int level = 0; level < density_levels; ++level)
    if (!paths[level].empty())
      result += "<path class=\"d" + std::to_string(level) + "\" d=\"" + paths[level] + "\"/>\n";
  return result;
}

std::string percent(double share) { return svg::rounded(100 * share) + " %"; }

/// What the colours mean: a bar from the sparsest to the densest cell.
std::string draw_density_key(const Raster& raster, double left, double top) {
  if (raster.densest == 0 || raster.densest <= raster.sparsest * 1.01) return {};
  constexpr double step = 22;
  const std::string from = percent(raster.sparsest), to = percent(raster.densest);
  std::string result = svg::text(left, top + 10, "start", "tick", "filled");
  const double bar = left + 96;
  result += svg::text(bar - 6, top + 10, "end", "tick", from);
  for (int level = 0; level < density_levels; ++level)
    result += svg::rect(bar + step * level, top, step, 12, "d" + std::to_string(level));
  return result + svg::text(bar + step * density_levels + 6, top + 10, "start", "tick", to);
}

template <Value V>
Panel spy_panel(const Csr<V>& matrix, const std::string& heading) {
  // Very tall or wide matrices are drawn no narrower than a third of the plot.
  const double rows = std::max(matrix.rows, 1), cols = std::max(matrix.cols, 1);
  const double width = plot_size * std::clamp(cols / rows, 1.0 / 3, 1.0);
  const double height = plot_size * std::clamp(rows / cols, 1.0 / 3, 1.0);
  const double right = plot_left + width, bottom = plot_top + height;
  const std::string size = size_sentence(matrix.rows, matrix.cols, matrix.nonzeros());
  const Raster raster = rasterize(matrix);

  Panel panel{panel_width, panel_height, {}, "Spy plot: where a matrix of " + size + " has its entries."};
  panel.body += svg::text(plot_left, 30, "start", "heading", svg::shorten(heading, heading_length));
  panel.body += svg::text(plot_left, 50, "start", "caption", size);
  if (raster.rows > 0 && raster.cols > 0)
    panel.body += "<g class=\"cells\" transform=\"translate(" + svg::number(plot_left) + " " + svg::number(plot_top) +
                  ") scale(" + svg::number(width / raster.cols, 6) + " " + svg::number(height / raster.rows, 6) +
                  ")\">\n" + draw_cells(raster) + "</g>\n";
  panel.body += svg::rect(plot_left, plot_top, width, height, "frame");
  panel.body += svg::x_axis(Scale{0, cols, plot_left, right, false, true}, plot_top, bottom, "column", false,
                            width > 200 ? 5 : 2);
  panel.body +=
      svg::y_axis(Scale{0, rows, plot_top, bottom, false, true}, plot_left, right, "row", false, height > 200 ? 5 : 2);
  panel.body += draw_density_key(raster, plot_left, bottom + 46);
  return panel;
}

/// The rows with lengths in from..to-1.
struct Bin {
  double from, to;
  double rows = 0;
};

/// One bin a length where there are few; else equal widths, or widths that grow by a fifth on a logarithmic axis.
std::vector<Bin> bins_of(const Structure& structure, bool logarithmic) {
  constexpr Offset most_bins = 64;
  std::vector<Bin> bins;
  const Offset shortest = structure.shortest_row, longest = structure.longest_row;
  if (logarithmic) {
    if (structure.empty_rows > 0) bins.push_back({0.5, 1, double(structure.empty_rows)});
    for (double from = 1; from <= double(longest);) {
      const double to = std::max(from + 1, std::floor(from * 1.2));
      bins.push_back({from, to});
      from = to;
    }
  } else {
    const Offset width = (longest - shortest) / most_bins + 1;
    for (Offset from = shortest; from <= longest; from += width) bins.push_back({double(from), double(from + width)});
  }
  std::size_t at = 0;
  for (const LengthCount& count : structure.row_lengths) {
    if (logarithmic && count.length == 0) continue;
    while (at + 1 < bins.size() && double(count.length) >= bins[at].to) ++at;
    bins[at].rows += count.rows;
  }
  return bins;
}

/// A dashed line at a row length with its name beside its upper end; `step` keeps the names of two marks apart.
std::string draw_mark(double x, double bottom, int step, const std::string& name) {
  const double top = plot_top + 15 * step;
  const bool to_the_left = x > plot_left + 0.7 * plot_size;
  return svg::line(x, top, x, bottom, "marker") +
         svg::text(x + (to_the_left ? -5 : 5), top + 10, to_the_left ? "end" : "start", "mark", name);
}

Panel row_length_panel(const Structure& structure, const std::string& heading) {
  const double right = plot_left + plot_size, bottom = plot_top + plot_size;
  const std::string facts = "mean " + svg::rounded(structure.mean_row) + ", deviation " +
                            svg::rounded(structure.row_deviation) + ", shortest " + count_text(structure.shortest_row) +
                            ", longest " + count_text(structure.longest_row);
  Panel panel{panel_width, panel_height, {}, "Distribution of the row lengths: " + facts + "."};
  panel.body += svg::text(plot_left, 30, "start", "heading", svg::shorten(heading, heading_length));
  panel.body += svg::text(plot_left, 50, "start", "caption", facts);
  if (structure.rows == 0) {
    panel.body += svg::rect(plot_left, plot_top, plot_size, plot_size, "frame");
    panel.body += svg::text((plot_left + right) / 2, (plot_top + bottom) / 2, "middle", "caption", "no rows");
    return panel;
  }

  const bool logarithmic =
      structure.longest_row >= 64 && structure.longest_row >= 8 * std::max<Offset>(1, structure.shortest_row);
  const std::vector<Bin> bins = bins_of(structure, logarithmic);
  double most = 1, fewest = std::numeric_limits<double>::infinity();
  for (const Bin& bin : bins) {
    most = std::max(most, bin.rows);
    if (bin.rows > 0) fewest = std::min(fewest, bin.rows);
  }
  const bool log_rows = logarithmic || most > 200 * fewest;

  // On the linear axis a bar stands centred over its length.
  const double shift = logarithmic ? 0 : -0.5;
  double low = bins.front().from + shift, high = bins.back().to + shift;
  if (!logarithmic && bins.size() < 8) {
    const double room = (8 - static_cast<double>(bins.size())) / 2 * (bins[0].to - bins[0].from);
    low = std::max(-0.5, low - room);
    high += room;
  }
  const Scale x{low, high, plot_left, right, logarithmic, true};
  constexpr double marks_height = 36;  // above the tallest bar, for the names of the marks
  const Scale y{log_rows ? 0.7 : 0, most, bottom, plot_top + marks_height, log_rows, true};
  panel.body += svg::y_axis(y, plot_left, right, "rows", true, 5);
  for (const Bin& bin : bins) {
    if (bin.rows == 0) continue;
    const double from = x(bin.from + shift), to = x(bin.to + shift), top = y(bin.rows);
    const double gap = std::min(2.0, (to - from) / 5);
    panel.body += svg::rect(from + gap / 2, top, to - from - gap, bottom - top, "bar");
  }
  panel.body += svg::line(plot_left, bottom, right, bottom, "axis");
  panel.body += svg::x_axis(x, plot_top, bottom, "entries in a row", false, 6);
  if (logarithmic && structure.empty_rows > 0)
    panel.body += svg::text(x(std::sqrt(0.5)), bottom + 17, "middle", "tick", "0");

  const double mean_at = std::clamp(x(std::max(structure.mean_row, low)), plot_left, right);
  const double max_at = x(static_cast<double>(structure.longest_row));
  panel.body += draw_mark(mean_at, bottom, 0, "mean " + svg::rounded(structure.mean_row));
  panel.body += draw_mark(max_at, bottom, 1, "max " + count_text(structure.longest_row));
  return panel;
}

bool drawable(const std::pair<double, double>& point, const LineChart& chart) {
  const auto fits = [](double value, bool logarithmic) { return std::isfinite(value) && (!logarithmic || value > 0); };
  return fits(point.first, chart.log_x) && fits(point.second, chart.log_y);
}

/// Low and high of what an axis shows, with a little room; never empty.
std::pair<double, double> axis_range(double low, double high, bool logarithmic) {
  if (low > high) return logarithmic ? std::pair{1.0, 10.0} : std::pair{0.0, 1.0};
  if (logarithmic) return low == high ? std::pair{low / 2, high * 2} : std::pair{low / 1.15, high * 1.15};
  if (low >= 0) low = 0;
  if (high == low) return {low, low + 1};
  return {low, high + 0.05 * (high - low)};
}

/// Where the name of a series stands below the title; y counts from the first line of names.
struct KeyPlace {
  double x, y;
};

std::vector<KeyPlace> key_places(const std::vector<Series>& series, double left, double right) {
  std::vector<KeyPlace> places;
  double x = left, y = 0;
  for (const Series& one : series) {
    const double width = 36 + 7.2 * static_cast<double>(one.name.size());
    if (x > left && x + width > right) {
      x = left;
      y += 18;
    }
    places.push_back({x, y});
    x += width;
  }
  return places;
}

Panel line_chart_panel(const std::vector<Series>& series, const LineChart& chart) {
  constexpr double width = 720, left = 76, right = 700, infinity = std::numeric_limits<double>::infinity();
  const std::vector<KeyPlace> keys = key_places(series, left, right);
  const double top = 64 + (keys.empty() ? 0 : keys.back().y), bottom = top + 336;
  std::array<double, 4> ends{infinity, -infinity, infinity, -infinity};
  for (const Series& one : series)
    for (const auto& point : one.points) {
      if (!drawable(point, chart)) continue;
      ends = {std::min(ends[0], point.first), std::max(ends[1], point.first), std::min(ends[2], point.second),
              std::max(ends[3], point.second)};
    }
  const auto [x_low, x_high] = axis_range(ends[0], ends[1], chart.log_x);
  const auto [y_low, y_high] = axis_range(ends[2], ends[3], chart.log_y);
  const Scale x{x_low, x_high, left, right, chart.log_x}, y{y_low, y_high, bottom, top, chart.log_y};

  Panel panel{width, bottom + 52, {}, chart.y_label + " over " + chart.x_label + ":"};
  panel.body += svg::text(left, 26, "start", "heading", svg::shorten(chart.title, 80));
  panel.body += svg::y_axis(y, left, right, chart.y_label, true, 6);
  panel.body += svg::x_axis(x, top, bottom, chart.x_label, true, 8);
  panel.body += svg::line(left, bottom, right, bottom, "axis");
  for (std::size_t s = 0; s < series.size(); ++s) {
    const std::string colour = std::to_string(s % 6);
    std::string line, dots;
    for (const auto& point : series[s].points) {
      if (!drawable(point, chart)) continue;
      const std::string px = svg::number(x(point.first)), py = svg::number(y(point.second));
      line += (line.empty() ? "" : " ") + px + "," + py;
      dots += "<circle class=\"dot p" + colour + "\" cx=\"" + px + "\" cy=\"" + py + "\" r=\"4\"/>\n";
    }
    // A second round of the same colours is dashed.
    const std::string dashes = s >= 6 ? " stroke-dasharray=\"6 4\"" : "";
    panel.body += "<polyline class=\"line s" + colour + "\"" + dashes + " points=\"" + line + "\"/>\n" + dots;
    panel.body += svg::rect(keys[s].x, 41 + keys[s].y, 14, 4, "p" + colour) +
                  svg::text(keys[s].x + 19, 47 + keys[s].y, "start", "caption", series[s].name);
    panel.description += (s == 0 ? " " : ", ") + series[s].name;
  }
  panel.description += ".";
  return panel;
}

}  // namespace

template <Value V>
std::string spy_svg(const Csr<V>& matrix, const std::string& title) {
  return svg::document(spy_panel(matrix, title), title);
}

std::string row_length_svg(const Structure& structure, const std::string& title) {
  return svg::document(row_length_panel(structure, title), title);
}

template <Value V>
std::string structure_svg(const Csr<V>& matrix, const Structure& structure, const std::string& title) {
  const Panel spy = spy_panel(matrix, title), lengths = row_length_panel(structure, "Row lengths");
  return svg::document(
      {spy.width + lengths.width, std::max(spy.height, lengths.height),
       spy.body + "<g transform=\"translate(" + svg::number(spy.width) + " 0)\">\n" + lengths.body + "</g>\n",
       spy.description + " " + lengths.description},
      title);
}

std::string line_chart_svg(const std::vector<Series>& series, const LineChart& chart) {
  return svg::document(line_chart_panel(series, chart), chart.title);
}

std::string line_charts_svg(const std::vector<std::pair<std::vector<Series>, LineChart>>& charts,
                            const std::string& title) {
  Panel page;
  for (const auto& [series, chart] : charts) {
    const Panel panel = line_chart_panel(series, chart);
    page.body += "<g transform=\"translate(0 " + svg::number(page.height) + ")\">\n" + panel.body + "</g>\n";
    page.description += (page.description.empty() ? "" : " ") + panel.description;
    page.width = std::max(page.width, panel.width);
    page.height += panel.height;
  }
  return svg::document(page, title);
}

#define WEFT_INSTANTIATE(V)                                        \
  template std::string spy_svg(const Csr<V>&, const std::string&); \
  template std::string structure_svg(const Csr<V>&, const Structure&, const std::string&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::app
