#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "chart_marks.hpp"
#include "charts.hpp"
#include "svg.hpp"

/// What charts share that draw a point for each entrant on each matrix.
namespace weft::bench {

/// Where a chart is drawn in its picture.
struct Plot {
  static constexpr double width = 440, left = 62, right = 420, height = 260;
};

/// Bytes per nonzero that an axis may name: 12 is what csr stores in f64.
inline constexpr std::array byte_ticks = {1.0,  1.5,  2.0,  3.0,  4.0,  5.0,  6.0,   8.0,   10.0,  12.0,   16.0,
                                          20.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 256.0, 512.0, 1024.0, 4096.0};

/// Low and high of values as they come.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }

  /// A logarithmic axis with some room and at least two ticks.
  svg::Scale logarithmic(double from, double to) const {
    svg::Scale scale{low / 1.15, high * 1.15, from, to, true};
    for (int i = 0; i < 40 && scale.ticks(6).size() < 2; ++i) {
      scale.low /= 1.2;
      scale.high *= 1.2;
    }
    return scale;
  }
};

struct Point {
  const Entrant* entrant;
  const Case* one;
  double x, y;
};

/// Points for every entrant on every case it was measured on.
template <class Coordinates>
std::vector<Point> points_of(const Cases& cases, const std::vector<Entrant>& entrants, Coordinates&& coordinates) {
  std::vector<Point> points;
  for (const Entrant& entrant : entrants)
    for (const Case* one : cases)
      if (const Measurement* m = find_counting(*one, entrant.name)) {
        const auto [x, y] = coordinates(*one, *m);
        if (x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y)) points.push_back({&entrant, one, x, y});
      }
  return points;
}

/// A point with its name and numbers for those who hover.
inline std::string draw_point(const Point& point, const svg::Scale& x, const svg::Scale& y,
                              const std::string& numbers) {
  return "<g><title>" +
         svg::escape(point.entrant->name + " on " + svg::shorten(point.one->source, 60) + ": " + numbers) + "</title>" +
         draw_mark(*point.entrant, x(point.x), y(point.y)) + "</g>\n";
}

inline std::vector<Entrant> seen_in(const std::vector<Point>& points, const std::vector<Entrant>& entrants) {
  std::vector<Entrant> seen;
  for (const Entrant& entrant : entrants)
    if (std::ranges::any_of(points, [&](const Point& point) { return point.entrant == &entrant; }))
      seen.push_back(entrant);
  return seen;
}

}  // namespace weft::bench
