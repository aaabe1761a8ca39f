#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/harness/names.hpp"
#include "chart_marks.hpp"
#include "chart_points.hpp"
#include "numbers.hpp"

namespace weft::bench {
namespace {

using svg::Scale;

constexpr double width = Plot::width, left = Plot::left, right = Plot::right, plot_height = Plot::height;

}  // namespace

Figure profile_figure(const Cases& cases, const std::vector<Entrant>& entrants) {
  constexpr double limit = 4;
  Figure figure{"Performance profile", {width, 0, {}, {}}, {}};
  const Key key = draw_key(entrants, left, right, true);
  const double top = key.height + 12, bottom = top + plot_height;
  const Scale x{1, limit, left, right}, y{0, 1, bottom, top};
  std::string lines;
  const Entrant* leader = nullptr;
  double most = 0;
  for (const Entrant& entrant : entrants) {
    const auto steps = profile_steps(cases, entrant.name, limit);
    if (steps.empty()) continue;
    // Names that are equally fast would hide each other: each stands a little lower than the one before.
    const double shift = 1.2 * entrant.style;
    std::string points, marks;
    double height = 0;
    const auto add = [&](double at, double share) {
      points += (points.empty() ? "" : " ") + svg::number(x(at), 1) + "," +
                svg::number(y(share) + (share > 0 ? shift : 0), 1);
    };
    add(1, 0);
    for (const auto& [factor, share] : steps) {
      add(factor, height);
      add(factor, share);
      height = share;
    }
    add(limit, height);
    // Near the end, where most lines lie apart, each mark at a place of its own.
    const double at = limit - 0.12 - 0.16 * entrant.style;
    marks += draw_mark(entrant, x(at), y(profile_share(cases, entrant.name, at)) + shift);
    lines += draw_line(entrant, points) + marks;
    const double tied = profile_share(cases, entrant.name, tie);
    if (tied > most) {
      most = tied;
      leader = &entrant;
    }
  }
  if (!leader) return figure;
  const Scale percent{0, 100, bottom, top};
  figure.panel.body = key.body + svg::y_axis(percent, left, right, "% of the matrices", true, 5) +
                      svg::x_axis(x, top, bottom, "times as long as the fastest", true, 6) +
                      svg::line(left, bottom, right, bottom, "axis") + lines;
  figure.panel.height = bottom + 46;
  figure.panel.description =
      "For each name the share of the matrices on which it takes at most so many times as long "
      "as the fastest. Higher is better.";
  figure.sentence =
      fmt::format("{} is within {} of the fastest on {:.0f} % of the matrices", leader->name, tie_text, 100 * most);
  for (const Entrant& entrant : entrants)
    if (&entrant != leader && profile_share(cases, entrant.name, 2) > 0)
      figure.sentence +=
          fmt::format(", {} on {:.0f} % (within twice: {:.0f} %)", entrant.name,
                      100 * profile_share(cases, entrant.name, tie), 100 * profile_share(cases, entrant.name, 2));
  figure.sentence += ".";
  return figure;
}

Figure traffic_figure(const Cases& cases, const std::vector<Entrant>& entrants, double bandwidth) {
  Figure figure{"Bytes a nonzero against time", {width, 0, {}, {}}, {}};
  std::vector<Point> points = points_of(cases, entrants, [](const Case& one, const Measurement& m) {
    return std::pair(m.bytes_per_nonzero, one.nonzeros > 0 ? m.timing.median / static_cast<double>(one.nonzeros) : 0);
  });
  if (points.empty()) return figure;
  // GPUs want picoseconds.
  const bool tiny = std::ranges::max(points, {}, &Point::y).y < 0.1e-9;
  const double second = tiny ? 1e12 : 1e9;
  const char* unit = tiny ? "ps" : "ns";
  for (Point& point : points) point.y *= second;
  Range across, up;
  for (const Point& point : points) {
    across.add(point.x);
    up.add(point.y);
    if (bandwidth > 0) up.add(point.x / bandwidth * second);
  }
  const Key key = draw_key(seen_in(points, entrants), left, right, false);
  const double top = key.height + 12, bottom = top + plot_height;
  const bool wide = across.high > 8 * across.low;
  const Scale x = wide ? across.logarithmic(left, right) : Scale{0, across.high * 1.08, left, right};
  const Scale y = up.logarithmic(bottom, top);
  std::string body =
      key.body + svg::y_axis(y, left, right, tiny ? "picoseconds a nonzero" : "nanoseconds a nonzero", true, 6) +
      svg::x_axis(x, top, bottom, "stored bytes a nonzero", true, 6) + svg::line(left, bottom, right, bottom, "axis");
  if (bandwidth > 0) {
    std::string roof;
    for (int i = 0; i <= 24; ++i) {
      const double bytes = wide ? x.low * std::pow(x.high / x.low, i / 24.0) : x.high * (i + 1) / 25;
      const double time = bytes / bandwidth * second;
      if (time < y.low || time > y.high) continue;
      roof += (roof.empty() ? "" : " ") + svg::number(x(bytes), 1) + "," + svg::number(y(time), 1);
    }
    body += "<polyline class=\"roof\" points=\"" + roof + "\"/>\n";
  }
  for (const Point& point : points)
    body += draw_point(point, x, y, fmt::format("{:.3g} bytes and {:.3g} {} a nonzero", point.x, point.y, unit));
  figure.panel = {
      width, bottom + 46, body,
      "Time over stored bytes, each for one nonzero. The line is what reading the matrix alone takes at the "
      "measured bandwidth."};
  const auto [small, large] = std::ranges::minmax_element(points, {}, &Point::x);
  const auto fast = std::ranges::min_element(points, {}, &Point::y);
  figure.sentence = fmt::format(
      "From {:.3g} bytes a nonzero ({}) to {:.3g} ({}). The least time a nonzero, {:.3g} {}, is that of {} with {:.3g} "
      "bytes. {}",
      small->x, small->entrant->name, large->x, large->entrant->name, fast->y, unit, fast->entrant->name, fast->x,
      bandwidth > 0 ? "The line: the stored bytes at the measured bandwidth." : "");
  return figure;
}

std::vector<Entrant> entrants_on(const Case& one, const std::vector<Entrant>& entrants) {
  std::vector<Entrant> present;
  std::vector<Cost> costs;
  for (const Entrant& entrant : entrants)
    if (find_counting(one, entrant.name)) present.push_back(entrant);
  for (const Measurement& m : one.measurements)
    if (m.counts()) costs.push_back(cost_of(m));
  for (const Lead& lead : leads(costs))
    if (std::ranges::none_of(present, [&](const Entrant& entrant) { return entrant.name == lead.name; }))
      present.push_back({lead.name, find_counting(one, lead.name)->peer, -1});
  return present;
}

Figure cost_figure(const Case& one, const std::vector<Entrant>& entrants) {
  Figure figure{"Set-up against number of products", {width, 0, {}, {}}, {}};
  std::vector<Cost> costs;
  for (const Entrant& entrant : entrants) costs.push_back(cost_of(*find_counting(one, entrant.name)));
  const std::vector<Lead> leaders = leads(costs);
  if (leaders.empty()) return figure;
  const double last = std::clamp(std::ceil(std::log10(leaders.back().from)) + 1, 4.0, 12.0);
  const double products = std::pow(10, last);
  Range up;
  for (const Cost& cost : costs) {
    up.add(cost.total(1));
    up.add(cost.total(products));
  }
  const Key key = draw_key(entrants, left, right, true);
  const double top = key.height + 12, bottom = top + plot_height;
  const Scale x{1, products, left, right, true};
  const Scale y = up.logarithmic(bottom, top);
  std::string body = key.body + svg::y_axis(y, left, right, "seconds in all", true, 6) +
                     svg::x_axis(x, top, bottom, "products", true, 6) + svg::line(left, bottom, right, bottom, "axis");
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::string points;
    const int steps = static_cast<int>(last) * 5;
    for (int step = 0; step <= steps; ++step) {
      const double count = std::pow(10, last * step / steps);
      points += (step == 0 ? "" : " ") + svg::number(x(count), 1) + "," + svg::number(y(costs[i].total(count)), 1);
    }
    body += draw_line(entrants[i], points);
    // Marks of two names that start alike stand at different places.
    const double at = std::pow(10, last * (0.06 + 0.11 * static_cast<double>(i % 8)));
    body += draw_mark(entrants[i], x(at), y(costs[i].total(at)));
  }
  for (std::size_t i = 1; i < leaders.size(); ++i)
    body += svg::line(x(leaders[i].from), top, x(leaders[i].from), bottom, "marker");
  figure.panel = {
      width, bottom + 46, body,
      "Seconds for set-up and so many products, a line a name, both axes logarithmic; dashed verticals where "
      "another becomes the fastest."};
  figure.sentence = leaders.size() == 1 ? fmt::format("{} is the fastest for any number of products", leaders[0].name)
                                        : fmt::format("For a single product {} is the fastest", leaders[0].name);
  for (std::size_t i = 1; i < leaders.size(); ++i)
    figure.sentence +=
        fmt::format(", from {} products on {}", count_text(std::llround(leaders[i].from)), leaders[i].name);
  figure.sentence += ".";
  return figure;
}

namespace {

/// What some number of products takes in all: by csr, by what `auto` planned for it, and the least by any format.
struct Totals {
  double products = 0;
  double csr = 0, planned = 0, least = 0;
};

std::vector<Totals> totals_of(const Case& one) {
  std::vector<Totals> all;
  const Measurement* const csr = find_counting(one, "csr");
  for (const Measurement& planned : one.measurements) {
    const std::optional<std::int64_t> products = products_in(planned.name);
    if (!products || !planned.counts() || !csr) continue;
    Totals totals{static_cast<double>(*products)};
    totals.csr = cost_of(*csr).total(totals.products);
    totals.planned = cost_of(planned).total(totals.products);
    totals.least = totals.csr;
    for (const Measurement& m : one.measurements)
      if (!m.peer && m.counts() && !products_in(m.name))
        totals.least = std::min(totals.least, cost_of(m).total(totals.products));
    all.push_back(totals);
  }
  std::ranges::sort(all, {}, &Totals::products);
  return all;
}

}  // namespace

Figure envelope_figure(const Case& one) {
  Figure figure{"Time to the answer: auto against the best", {width, 0, {}, {}}, {}};
  const std::vector<Totals> all = totals_of(one);
  if (all.size() < 2) return figure;
  const std::vector<Entrant> entrants = {{"csr", false, 0}, {"auto", false, 1}, {"the least of all formats", false, 2}};
  const Key key = draw_key(entrants, left, right, true);
  const double top = key.height + 12, bottom = top + plot_height;
  double most = 1.2;
  for (const Totals& totals : all) most = std::max({most, totals.csr / totals.least, totals.planned / totals.least});
  const Scale x{all.front().products / 1.5, all.back().products * 1.5, left, right, true};
  const Scale y{0, 1.1 * most, bottom, top, false};
  std::string body = key.body + svg::y_axis(y, left, right, "time over the least", false, 6) +
                     svg::x_axis(x, top, bottom, "products", true, 6) + svg::line(left, bottom, right, bottom, "axis");
  const auto draw = [&](const Entrant& entrant, auto&& of) {
    std::string points, marks;
    for (const Totals& totals : all) {
      const double at = x(totals.products), height = y(of(totals) / totals.least);
      points += (points.empty() ? "" : " ") + svg::number(at, 1) + "," + svg::number(height, 1);
      marks += draw_mark(entrant, at, height);
    }
    body += draw_line(entrant, points) + marks;
  };
  draw(entrants[0], [](const Totals& totals) { return totals.csr; });
  draw(entrants[2], [](const Totals& totals) { return totals.least; });
  draw(entrants[1], [](const Totals& totals) { return totals.planned; });
  figure.panel = {
      width, bottom + 46, body,
      "Seconds for set-up and so many products, over the least that any format takes: csr, what auto planned "
      "for that number, and the least itself."};
  for (const Totals& totals : all)
    figure.sentence += fmt::format("{}{} products: auto {:.2f} times the least, csr {:.2f}",
                                   figure.sentence.empty() ? "" : "; ", count_text(std::llround(totals.products)),
                                   totals.planned / totals.least, totals.csr / totals.least);
  figure.sentence += ".";
  return figure;
}

}  // namespace weft::bench
