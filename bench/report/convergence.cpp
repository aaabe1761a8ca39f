#include "convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "numbers.hpp"
#include "svg.hpp"

namespace weft::bench {
namespace {

constexpr double width = 720, left = 78, right = 690, plot_height = 340;
constexpr std::size_t max_points = 800;  // of a line: more than there are dots across
constexpr std::size_t colours = 8;

bool drawn(double residual) { return std::isfinite(residual) && residual > 0; }

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  std::size_t iterations = 1;

  void include(double residual) {
    if (!drawn(residual)) return;
    low = std::min(low, residual);
    high = std::max(high, residual);
  }
};

/// Whole decades, with room around the lines.
Range range_of(const ConvergencePicture& picture) {
  Range range;
  for (const ConvergenceLine& line : picture.lines) {
    for (const double residual : line.residuals) range.include(residual);
    if (!line.residuals.empty()) range.iterations = std::max(range.iterations, line.residuals.size() - 1);
  }
  range.include(picture.tolerance);
  if (range.high == 0) range = {0.1, 1, range.iterations};
  range.low = std::pow(10, std::floor(std::log10(range.low)));
  range.high = std::pow(10, std::ceil(std::log10(range.high)));
  if (range.high <= range.low) range.high = 10 * range.low;
  return range;
}

/// The largest of each group of neighbours, so that no peak is lost.
std::string polylines(const std::vector<double>& residuals, const svg::Scale& x, const svg::Scale& y,
                      const std::string& css) {
  const std::size_t group = (residuals.size() + max_points - 1) / max_points;
  std::string body, points;
  const auto finish = [&] {
    if (!points.empty()) body += "<polyline class=\"" + css + "\" points=\"" + points + "\"/>\n";
    points.clear();
  };
  for (std::size_t begin = 0; begin < residuals.size(); begin += group) {
    const std::size_t end = std::min(begin + group, residuals.size());
    const auto largest = std::max_element(residuals.begin() + begin, residuals.begin() + end);
    // The last point is where it ended, whatever was before it.
    const std::size_t at = end == residuals.size() ? end - 1 : static_cast<std::size_t>(largest - residuals.begin());
    if (!drawn(residuals[at])) {
      finish();
      continue;
    }
    points +=
        (points.empty() ? "" : " ") + svg::number(x(static_cast<double>(at))) + "," + svg::number(y(residuals[at]));
  }
  finish();
  return body;
}

std::string sentence_of(const ConvergencePicture& picture) {
  std::string text;
  for (const ConvergenceLine& line : picture.lines) {
    if (line.residuals.empty()) continue;
    text += fmt::format("{}{}from {:.1e} to {:.1e} in {}", text.empty() ? "Relative residual: " : "; ",
                        line.name.empty() ? "" : line.name + " ", line.residuals.front(), line.residuals.back(),
                        with_noun(static_cast<std::int64_t>(line.residuals.size() - 1), "iteration"));
  }
  return text.empty() ? "No residuals." : text + ".";
}

}  // namespace

std::string convergence_svg(const ConvergencePicture& picture) {
  const Range range = range_of(picture);
  std::vector<std::string> names;
  for (const ConvergenceLine& line : picture.lines)
    if (!line.name.empty()) names.push_back(line.name);
  const std::vector<svg::KeyPlace> places = svg::key_places(names, left, right);
  const double top = 64 + (places.empty() ? 0 : places.back().y + 24), bottom = top + plot_height;
  const svg::Scale x{0, static_cast<double>(range.iterations), left, right, false, true};
  const svg::Scale y{range.low, range.high, bottom, top, true};

  svg::Panel panel{width, bottom + 52, {}, sentence_of(picture)};
  panel.body += svg::text(left, 30, "start", "heading", svg::shorten(picture.title, 80));
  panel.body += svg::text(left, 50, "start", "caption", svg::shorten(picture.subtitle, 90));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double at = 66 + places[i].y;
    panel.body += svg::line(places[i].x, at, places[i].x + 22, at, fmt::format("line s{}", i % colours));
    panel.body += svg::text(places[i].x + 27, at + 4, "start", "caption", names[i]);
  }
  panel.body += svg::y_axis(y, left, right, "|b - A x| / |b|", true, 8);
  panel.body += svg::x_axis(x, top, bottom, "iteration", false, 8);
  panel.body += svg::line(left, bottom, right, bottom, "axis");
  if (drawn(picture.tolerance)) {
    const double at = y(picture.tolerance);
    panel.body += svg::line(left, at, right, at, "marker");
    panel.body += svg::text(left + 4, at - 5, "start", "mark", fmt::format("tolerance {:.1e}", picture.tolerance));
  }
  for (std::size_t i = 0; i < picture.lines.size(); ++i)
    panel.body += polylines(picture.lines[i].residuals, x, y, fmt::format("line s{}", i % colours));
  return svg::document(panel, picture.title);
}

}  // namespace weft::bench
