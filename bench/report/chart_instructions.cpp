#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "chart_labels.hpp"
#include "chart_points.hpp"
#include "charts.hpp"
#include "numbers.hpp"

namespace weft::bench {
namespace {

using svg::Scale;

double bytes_per_nonzero_moved(const Case& one, const Measurement& m) {
  return bytes_moved(m) / static_cast<double>(one.nonzeros);
}

/// Whoever was counted: the chosen entrants and, in grey under one name, all others.
std::vector<Entrant> counted_names(const Cases& cases, const std::vector<Entrant>& entrants) {
  std::vector<Entrant> counted;
  const auto add = [&](const Entrant& entrant) {
    const bool known = std::ranges::any_of(counted, [&](const Entrant& other) { return other.name == entrant.name; });
    if (!known && std::ranges::any_of(cases, [&](const Case* one) {
          const Measurement* m = find_counting(*one, entrant.name);
          return m && m->instructions_per_nonzero;
        }))
      counted.push_back(entrant);
  };
  for (const Entrant& entrant : entrants) add(entrant);
  for (const Case* one : cases)
    for (const Measurement& m : one->measurements)
      if (m.instructions_per_nonzero) add({m.name, m.peer, -1});
  return counted;
}

std::vector<Entrant> key_names(const std::vector<Entrant>& counted) {
  std::vector<Entrant> names;
  for (const Entrant& entrant : counted)
    if (entrant.style >= 0) names.push_back(entrant);
  if (names.size() < counted.size()) names.push_back({"others", false, -1});
  return names;
}

std::string numbers_of(const Point& point, const std::vector<Roof>& roofs, double most) {
  const Measurement& m = *find_counting(*point.one, point.entrant->name);
  const double rate = instruction_rate(*point.one, m);
  std::string text = fmt::format(
      "{} bytes and {} instructions per nonzero; {} GFLOP/s, {} billion instructions per second, {:.0f} % of "
      "the most",
      svg::rounded(point.x), svg::rounded(point.y), svg::rounded(m.gflops), svg::rounded(rate / 1e9),
      100 * rate / most);
  if (const Roof* roof = roof_of(*point.one, roofs))
    text += fmt::format("; {} GB/s, {:.0f} % of {}", svg::rounded(m.gigabytes), 1e11 * m.gigabytes / roof->bandwidth,
                        roof->name());
  return text;
}

}  // namespace

// Reading and executing overlap, so a product takes at least the longer of the two. Both scales are logarithmic: then
// all kernels for which both take as long are on one straight line for each bandwidth, and how far a kernel is from it
// is by how many times one of them is longer. Fewer of both is better: to the left and down.
Figure instructions_figure(const Cases& cases, const std::vector<Entrant>& entrants, const std::vector<Roof>& roofs,
                           const std::string& counted_by) {
  constexpr double left = Plot::left, right = Plot::right, height = 300;
  Figure figure{"Bytes and instructions per nonzero", {Plot::width, 0, {}, {}}, {}};
  const FastestExecution fastest = fastest_execution(cases);
  if (!fastest.one) return figure;
  const std::vector<Entrant> counted = counted_names(cases, entrants);
  const std::vector<Point> points = points_of(cases, counted, [](const Case& one, const Measurement& m) {
    return std::pair(one.nonzeros > 0 && !m.bytes_estimated ? bytes_per_nonzero_moved(one, m) : 0,
                     m.instructions_per_nonzero.value_or(0));
  });
  if (points.empty()) return figure;
  Range across, up;
  for (const Point& point : points) {
    across.add(point.x);
    up.add(point.y);
  }
  const Key key = draw_key(key_names(counted), left, right, false);
  const double top = key.height + 12, bottom = top + height;
  const Scale x = across.logarithmic(left, right);
  // Where both take as long at the memory's bandwidth is always in the picture.
  if (!roofs.empty()) up.add(x.low * fastest.rate / roofs[0].bandwidth * 1.3);
  const Scale y = up.logarithmic(bottom, top);

  Labels labels(left, top, right, bottom);
  for (const Point& point : points) labels.keep_clear(x(point.x), y(point.y), 6);
  std::string body =
      key.body + svg::y_axis(y, left, right, "instructions per nonzero", true, 6) +
      svg::text((left + right) / 2, bottom + 36, "middle", "label", "bytes per nonzero: matrix, x and y") +
      svg::line(left, bottom, right, bottom, "axis");
  double last = 0;
  for (const double bytes : byte_ticks) {
    const double at = x(bytes);
    if (at < left - 1 || at > right + 1 || at - last < 24) continue;
    last = at;
    body += svg::line(at, top, at, bottom, "grid") + svg::text(at, bottom + 17, "middle", "tick", svg::number(bytes));
  }
  std::vector<svg::Segment> lines;
  for (const Roof& roof : roofs) {
    // instructions / rate = bytes / bandwidth
    const double slope = fastest.rate / roof.bandwidth;
    if (const auto line = svg::rising(x, y, {x.low, slope * x.low}, {x.high, slope * x.high})) {
      body += svg::line(line->x1, line->y1, line->x2, line->y2, roof.bytes == 0 ? "roof memory" : "roof");
      body += labels.along(line->x1, line->y1, line->x2, line->y2, roof.name());
      lines.push_back(*line);
    }
  }
  for (const svg::Segment& line : lines) labels.keep_clear(line);
  if (!roofs.empty())
    body += labels.at(left + 6, top + 14, false, "limited by instructions") +
            labels.at(right - 6, bottom - 8, true, "limited by reading");
  for (const Point& point : points) body += draw_point(point, x, y, numbers_of(point, roofs, fastest.rate));
  for (const Case* one : cases) {
    const Point* least = nullptr;
    for (const Point& point : points)
      if (point.one == one && (!least || point.y < least->y)) least = &point;
    if (least && cases.size() > 1) body += labels.beside(x(least->x), y(least->y), svg::shorten(one->source, 24));
  }
  figure.panel = {Plot::width, bottom + 46, body,
                  "Instructions over bytes, each for one nonzero, both logarithmic. On a line executing takes as long "
                  "as reading at that bandwidth; above it a kernel is limited by its instructions."};
  figure.sentence = fmt::format(
      "Fewer of both is better. {} on {} executes most instructions per second, {} billion. On a line executing at "
      "that "
      "rate takes as long as reading at that bandwidth: a kernel above it is limited by its instructions, one below by "
      "the bandwidth. Counted by {}, with one thread.",
      fastest.measurement->name, svg::shorten(fastest.one->source, 40), svg::rounded(fastest.rate / 1e9), counted_by);
  return figure;
}

}  // namespace weft::bench
