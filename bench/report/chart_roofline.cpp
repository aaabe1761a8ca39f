#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "chart_labels.hpp"
#include "chart_points.hpp"
#include "charts.hpp"
#include "numbers.hpp"

namespace weft::bench {
namespace {

using svg::Scale;

constexpr double mark_size = 6;  // half of it, with what keeps letters off

/// The axis of bytes per nonzero and, above the plot, of flops per byte, as the literature has it.
std::string both_axes(const Scale& x, double top, double bottom) {
  std::string result = svg::text((x.from + x.to) / 2, bottom + 36, "middle", "label",
                                 "bytes per nonzero: matrix, x and y (fewer to the right)") +
                       svg::text((x.from + x.to) / 2, top - 24, "middle", "label", "flops per byte");
  double last = x.to + 100;
  for (const double bytes : byte_ticks) {
    const double at = x(2 / bytes);
    if (at < x.from - 1 || at > x.to + 1 || last - at < 24) continue;
    last = at;
    result += svg::line(at, top, at, bottom, "grid") + svg::text(at, bottom + 17, "middle", "tick", svg::number(bytes));
  }
  last = x.from - 100;
  for (const double intensity :
       {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0}) {
    const double at = x(intensity);
    if (at < x.from || at > x.to || at - last < 30) continue;
    last = at;
    result +=
        svg::line(at, top - 4, at, top, "axis") + svg::text(at, top - 8, "middle", "tick", svg::number(intensity, 3));
  }
  return result;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What cannot be drawn, since libraries do not report what they store.
std::string left_out(const Cases& cases, const std::vector<Entrant>& entrants) {
  std::set<std::string> names;
  for (const Entrant& entrant : entrants)
    for (const Case* one : cases)
      if (const Measurement* m = find_counting(*one, entrant.name); m && m->bytes_estimated) names.insert(m->name);
  return names.empty() ? "" : fmt::format(" Not drawn, since their bytes are unknown: {}.", joined(names));
}

/// Those on which something was clearly faster than the memory allows.
std::string above_the_memory(const std::vector<Point>& points, const std::vector<Roof>& roofs) {
  std::set<std::string> sources;
  for (const Point& point : points)
    if (point.y > tie * roofs[0].bandwidth / 1e9 * point.x) sources.insert(svg::shorten(point.one->source, 40));
  if (sources.empty()) return "";
  return fmt::format(
      " Clearly above the memory's line, which caches explain, or others that used the memory while it was "
      "measured: {}.",
      sources.size() > 4 ? fmt::format("{} matrices", sources.size()) : joined(sources));
}

/// The roofs of caches that explain a point: of a matrix that fits, or above the roof before it.
bool explains(const Roof& roof, const Roof& before, const std::vector<Point>& points) {
  return std::ranges::any_of(points, [&](const Point& point) {
    const Measurement* m = find_counting(*point.one, point.entrant->name);
    return bytes_moved(*m) <= static_cast<double>(roof.bytes) || point.y > tie * before.bandwidth / 1e9 * point.x;
  });
}

}  // namespace

// Both axes are logarithmic, so that a bandwidth is a straight line. The horizontal one is the intensity, as in every
// roofline, and is labelled twice: intensities of sparse products are all between 0.1 and 0.3 and mean little to
// anybody, while their reciprocal, bytes per nonzero, is what formats are made to lower.
Figure roofline_figure(const Cases& cases, const std::vector<Entrant>& entrants, const std::vector<Roof>& roofs) {
  constexpr double left = Plot::left, right = Plot::right, height = 300, axis_above = 42;
  Figure figure{"Roofline", {Plot::width, 0, {}, {}}, {}};
  const std::vector<Point> points = points_of(cases, entrants, [](const Case&, const Measurement& m) {
    return std::pair(m.gigabytes > 0 && !m.bytes_estimated ? m.gflops / m.gigabytes : 0, m.gflops);
  });
  if (points.empty()) return figure;
  Range across{0.09, 0.3}, up, floor;
  for (const Point& point : points) {
    across.add(point.x);
    up.add(point.y);
  }
  for (const Case* one : cases)
    if (one->nonzeros > 0) floor.add(csr_intensity(*one));
  if (!floor.empty()) {
    across.add(floor.low);
    across.add(floor.high);
  }
  const Scale x = across.logarithmic(left, right);
  up.add(1.4 * up.high);  // for the name of the highest
  if (!roofs.empty())
    for (double at : {x.low * 1.15, x.high}) up.add(roofs[0].bandwidth / 1e9 * at);
  const Key key = draw_key(seen_in(points, entrants), left, right, false);
  const double top = key.height + axis_above, bottom = top + height;
  const Scale y = up.logarithmic(bottom, top);

  Labels labels(left, top, right, bottom);
  for (const Point& point : points) labels.keep_clear(x(point.x), y(point.y), mark_size);
  std::string body = key.body + svg::y_axis(y, left, right, "GFLOP/s", true, 6) + both_axes(x, top, bottom);
  if (!floor.empty()) {
    const double from = x(floor.low), to = x(floor.high);
    body += to - from > 1 ? svg::rect(from, top, to - from, bottom - top, "band")
                          : svg::line(to, top, to, bottom, "marker");
    std::string name = labels.at(to + 5, bottom - 7, false, "csr floor");
    if (name.empty()) name = labels.at(to + 5, top + 11, false, "csr floor");
    body += name.empty() ? svg::text(to + 5, bottom - 7, "start", "caption", "csr floor") : name;
  }
  body += svg::line(left, bottom, right, bottom, "axis");
  std::vector<svg::Segment> lines;
  const Roof* before = nullptr;
  for (const Roof& roof : roofs) {
    if (before && !explains(roof, *before, points)) break;
    before = &roof;
    const auto at = [&](double intensity) { return roof.bandwidth / 1e9 * intensity; };
    if (const auto line = svg::rising(x, y, {x.low, at(x.low)}, {x.high, at(x.high)})) {
      body += svg::line(line->x1, line->y1, line->x2, line->y2, roof.bytes == 0 ? "roof memory" : "roof");
      body += labels.along(line->x1, line->y1, line->x2, line->y2, roof.name());
      lines.push_back(*line);
    }
  }
  for (const svg::Segment& line : lines) labels.keep_clear(line);
  for (const Point& point : points) {
    const Roof* roof = roof_of(*point.one, roofs);
    body += draw_point(
        point, x, y,
        fmt::format(
            "{} GFLOP/s with {} bytes per nonzero, {} GB/s{}", svg::rounded(point.y), svg::rounded(2 / point.x),
            svg::rounded(point.y / point.x),
            roof ? fmt::format(", {:.0f} % of {}", 100e9 * point.y / point.x / roof->bandwidth, roof->name()) : ""));
  }
  // The name of a matrix is at its fastest point, as far as there is room: the more matrices the fewer names.
  std::vector<const Point*> fastest;
  for (const Case* one : cases) {
    const Point* best = nullptr;
    for (const Point& point : points)
      if (point.one == one && (!best || point.y > best->y)) best = &point;
    if (best && cases.size() > 1) fastest.push_back(best);
  }
  std::ranges::stable_sort(fastest, std::greater(), [](const Point* point) { return point->y; });
  for (const Point* best : fastest) body += labels.beside(x(best->x), y(best->y), svg::shorten(best->one->source, 24));
  figure.panel = {
      Plot::width, bottom + 46, body,
      "Speed over what a product moves per nonzero, both logarithmic; no product that reads its matrix from "
      "memory is above the line of the memory's measured bandwidth."};
  if (roofs.empty() || floor.empty()) {
    figure.sentence = "The bandwidth of this device is not in the file, so there is no roof.";
    return figure;
  }
  const auto best = std::ranges::max_element(points, {}, &Point::y);
  const double reach = roofs[0].bandwidth / 1e9 * csr_intensity(*best->one);
  figure.sentence = fmt::format(
      "At the memory's measured {} GB/s csr with 32-bit columns could reach {} GFLOP/s on {}; {} reaches {} there{}.",
      svg::rounded(roofs[0].bandwidth / 1e9), svg::rounded(reach), svg::shorten(best->one->source, 50),
      best->entrant->name, svg::rounded(best->y), best->y > reach ? ": with fewer bytes, or from caches" : "");
  figure.sentence += above_the_memory(points, roofs) + left_out(cases, entrants);
  return figure;
}

}  // namespace weft::bench
