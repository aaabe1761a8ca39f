#include "draw.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "bench/harness/raster.hpp"
#include "numbers.hpp"

namespace weft::bench {
namespace {

using svg::Panel;
using svg::Scale;

constexpr double panel_width = 472, panel_height = 520;
constexpr double plot_left = 70, plot_top = 70, plot_size = 384;
constexpr std::size_t heading_length = 42;
constexpr int density_levels = Raster::levels;

std::string size_sentence(std::int64_t rows, std::int64_t cols, std::int64_t nonzeros) {
  return count_text(rows) + " \u00d7 " + count_text(cols) + ", " + with_noun(nonzeros, "nonzero");
}

std::string percent(double share) { return svg::rounded(100 * share) + " %"; }

/// What the colours mean: a bar from the sparsest to the densest cell.
std::string draw_density_key(const SpyPicture& picture, double left, double top) {
  if (picture.densest == 0 || picture.densest <= picture.sparsest * 1.01) return {};
  constexpr double step = 22;
  const std::string from = percent(picture.sparsest), to = percent(picture.densest);
  std::string result = svg::text(left, top + 10, "start", "tick", "filled");
  const double bar = left + 96;
  result += svg::text(bar - 6, top + 10, "end", "tick", from);
  for (int level = 0; level < density_levels; ++level)
    result += svg::rect(bar + step * level, top, step, 12, "d" + std::to_string(level));
  return result + svg::text(bar + step * density_levels + 6, top + 10, "start", "tick", to);
}

template <Value V>
Panel spy_panel(const Csr<V>& matrix, const std::string& heading) {
  const Raster raster = rasterize(matrix, spy_cells);
  return spy_panel(SpyPicture{.rows = matrix.rows,
                              .cols = matrix.cols,
                              .nonzeros = matrix.nonzeros(),
                              .raster_rows = raster.rows,
                              .raster_cols = raster.cols,
                              .level = [&](Index row, Index col) { return raster.level(row, col); },
                              .sparsest = raster.sparsest,
                              .densest = raster.densest},
                   heading);
}

Panel row_length_panel(const Structure& structure, const std::string& heading) {
  return row_length_panel(
      LengthPicture{.bins = length_bins(structure), .mean = structure.mean_row, .deviation = structure.row_deviation},
      heading);
}

/// A dashed line at a row length with its name beside its upper end; `step` keeps the names of two marks apart.
std::string draw_mark(double x, double bottom, int step, const std::string& name) {
  const double top = plot_top + 15 * step;
  const bool to_the_left = x > plot_left + 0.7 * plot_size;
  return svg::line(x, top, x, bottom, "marker") +
         svg::text(x + (to_the_left ? -5 : 5), top + 10, to_the_left ? "end" : "start", "mark", name);
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

Panel line_chart_panel(const std::vector<Series>& series, const LineChart& chart) {
  constexpr double width = 720, left = 76, right = 700, infinity = std::numeric_limits<double>::infinity();
  std::vector<std::string> names;
  for (const Series& one : series) names.push_back(one.name);
  const std::vector<svg::KeyPlace> keys = svg::key_places(names, left, right);
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

Panel spy_panel(const SpyPicture& picture, const std::string& heading) {
  // Very tall or wide matrices are drawn no narrower than a third of the plot.
  const double rows = std::max<double>(1, static_cast<double>(picture.rows));
  const double cols = std::max<double>(1, static_cast<double>(picture.cols));
  const double width = plot_size * std::clamp(cols / rows, 1.0 / 3, 1.0);
  const double height = plot_size * std::clamp(rows / cols, 1.0 / 3, 1.0);
  const double right = plot_left + width, bottom = plot_top + height;
  const std::string size = size_sentence(picture.rows, picture.cols, picture.nonzeros);

  Panel panel{panel_width, panel_height, {}, "Spy plot: where a matrix of " + size + " has its entries."};
  panel.body += svg::text(plot_left, 30, "start", "heading", svg::shorten(heading, heading_length));
  panel.body += svg::text(plot_left, 50, "start", "caption", size);
  if (picture.raster_rows > 0 && picture.raster_cols > 0)
    panel.body += "<g class=\"cells\" transform=\"translate(" + svg::number(plot_left) + " " + svg::number(plot_top) +
                  ") scale(" + svg::number(width / picture.raster_cols, 6) + " " +
                  svg::number(height / picture.raster_rows, 6) + ")\">\n" +
                  svg::cells(picture.raster_rows, picture.raster_cols, density_levels, picture.level) + "</g>\n";
  panel.body += svg::rect(plot_left, plot_top, width, height, "frame");
  panel.body += svg::x_axis(Scale{0, cols, plot_left, right, false, true}, plot_top, bottom, "column", false,
                            width > 200 ? 5 : 2);
  panel.body +=
      svg::y_axis(Scale{0, rows, plot_top, bottom, false, true}, plot_left, right, "row", false, height > 200 ? 5 : 2);
  panel.body += draw_density_key(picture, plot_left, bottom + 46);
  return panel;
}

Panel row_length_panel(const LengthPicture& picture, const std::string& heading) {
  const double right = plot_left + plot_size, bottom = plot_top + plot_size;
  const std::vector<LengthBin>& bins = picture.bins;
  const Offset shortest = bins.empty() ? 0 : bins.front().first, longest = bins.empty() ? 0 : bins.back().last;
  const std::string deviation = picture.deviation ? ", deviation " + svg::rounded(*picture.deviation) : "";
  const std::string facts = "mean " + svg::rounded(picture.mean) + deviation + ", shortest " + count_text(shortest) +
                            ", longest " + count_text(longest);
  Panel panel{panel_width, panel_height, {}, "Distribution of the row lengths: " + facts + "."};
  panel.body += svg::text(plot_left, 30, "start", "heading", svg::shorten(heading, heading_length));
  panel.body += svg::text(plot_left, 50, "start", "caption", facts);
  if (bins.empty()) {
    panel.body += svg::rect(plot_left, plot_top, plot_size, plot_size, "frame");
    panel.body += svg::text((plot_left + right) / 2, (plot_top + bottom) / 2, "middle", "caption", "no rows");
    return panel;
  }

  const bool logarithmic = lengths_differ_widely(shortest, longest);
  double most = 1, fewest = std::numeric_limits<double>::infinity();
  for (const LengthBin& bin : bins) {
    most = std::max(most, static_cast<double>(bin.rows));
    fewest = std::min(fewest, static_cast<double>(bin.rows));
  }
  const bool log_rows = logarithmic || most > 200 * fewest;

  // On the linear axis a bar stands centred over its length; on the logarithmic one 0 stands at a half.
  const auto from = [&](const LengthBin& bin) {
    return logarithmic ? std::max(0.5, static_cast<double>(bin.first)) : static_cast<double>(bin.first) - 0.5;
  };
  const auto to = [&](const LengthBin& bin) { return static_cast<double>(bin.last) + (logarithmic ? 1 : 0.5); };
  double low = from(bins.front()), high = to(bins.back());
  if (!logarithmic && high - low < 8) {
    const double room = (8 - (high - low)) / 2;
    low = std::max(-0.5, low - room);
    high += room;
  }
  const Scale x{low, high, plot_left, right, logarithmic, true};
  constexpr double marks_height = 36;  // above the tallest bar, for the names of the marks
  const Scale y{log_rows ? 0.7 : 0, most, bottom, plot_top + marks_height, log_rows, true};
  panel.body += svg::y_axis(y, plot_left, right, "rows", true, 5);
  for (const LengthBin& bin : bins) {
    const double begin = x(from(bin)), end = x(to(bin)), top = y(static_cast<double>(bin.rows));
    const double gap = std::min(2.0, (end - begin) / 5);
    panel.body += svg::rect(begin + gap / 2, top, end - begin - gap, bottom - top, "bar");
  }
  panel.body += svg::line(plot_left, bottom, right, bottom, "axis");
  panel.body += svg::x_axis(x, plot_top, bottom, "entries in a row", false, 6);
  if (logarithmic && shortest == 0) panel.body += svg::text(x(std::sqrt(0.5)), bottom + 17, "middle", "tick", "0");

  const double mean_at = std::clamp(x(std::max(picture.mean, low)), plot_left, right);
  panel.body += draw_mark(mean_at, bottom, 0, "mean " + svg::rounded(picture.mean));
  panel.body += draw_mark(x(static_cast<double>(longest)), bottom, 1, "max " + count_text(longest));
  return panel;
}

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

}  // namespace weft::bench
