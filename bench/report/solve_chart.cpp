#include <fmt/format.h>

#include <algorithm>

#include "numbers.hpp"
#include "solve_report.hpp"
#include "svg.hpp"

namespace weft::bench {
namespace {

constexpr double width = 720, left = 210, right = 600, bar_height = 13, step = 18;

struct Piece {
  const char* name;
  double (*seconds)(const SolveMeasurement&);
  const char* css;  // shades, from light to dark
};
constexpr Piece pieces[] = {
    {"plan", [](const SolveMeasurement& m) { return m.plan_seconds; }, "d0"},
    {"preconditioner", [](const SolveMeasurement& m) { return m.preconditioner_seconds; }, "d2"},
    {"solve", [](const SolveMeasurement& m) { return m.solve.median; }, "d4"},
};

std::string key(double y) {
  std::vector<std::string> names;
  for (const Piece& piece : pieces) names.emplace_back(piece.name);
  const std::vector<svg::KeyPlace> places = svg::key_places(names, left, right);
  std::string body;
  for (std::size_t i = 0; i < names.size(); ++i)
    body += svg::rect(places[i].x, y - 10, 14, 12, pieces[i].css) +
            svg::text(places[i].x + 20, y, "start", "caption", names[i]);
  return body;
}

/// The bars of one matrix below `y`, which moves down.
std::string bars_of(const SolveCase& one, double& y) {
  double longest = 0;
  for (const SolveMeasurement& m : one.measurements)
    if (m.counts()) longest = std::max(longest, m.total_seconds());
  std::string body =
      svg::text(12, y + 14, "start", "heading", svg::shorten(one.source, 60)) +
      svg::text(right + 108, y + 14, "end", "caption", fmt::format("{}, to {:.0e} |b|", to_string(one.type), one.rtol));
  y += 26;
  for (const SolveMeasurement& m : one.measurements) {
    const double text_y = y + bar_height - 2.5;
    body += svg::text(left - 8, text_y, "end", "caption", svg::shorten(m.name + " " + m.solver(), 30));
    if (!m.counts()) {
      body += svg::text(left + 6, text_y, "start", "caption",
                        m.measured() ? "not within the tolerance: " + m.status : svg::shorten(m.failure, 60));
    } else {
      double x = left;
      for (const Piece& piece : pieces) {
        const double wide = (right - left) * piece.seconds(m) / longest;
        if (wide > 0) body += svg::rect(x, y, wide, bar_height, piece.css);
        x += wide;
      }
      body += svg::text(x + 6, text_y, "start", "caption",
                        seconds_text(m.total_seconds()) + (m.rank == 1 ? " \u2605" : ""));
    }
    y += step;
  }
  y += 14;
  return body;
}

std::string sentence_of(const SolveCase& one) {
  std::string text;
  for (const SolveMeasurement& m : one.measurements)
    if (m.rank == 1)
      text += fmt::format("{}{} {} in {}", text.empty() ? "The soonest on " + one.source + ": " : ", ", m.name,
                          m.solver(), seconds_text(m.total_seconds()));
  return (text.empty() ? "Nothing was solved on " + one.source : text) + ".";
}

}  // namespace

svg::Panel solve_panel(const SolveCase& one) {
  svg::Panel panel{width, 0, {}, sentence_of(one)};
  double y = 28;
  panel.body = key(14) + bars_of(one, y);
  panel.height = y;
  return panel;
}

std::string solve_chart_svg(const SolveBenchReport& report) {
  const std::string title = "Time to the answer, set-up included";
  svg::Panel panel{width, 0, {}, {}};
  panel.body += svg::text(12, 28, "start", "heading", title);
  panel.body += svg::text(12, 48, "start", "caption", svg::shorten(report.device_name, 90)) + key(72);
  double y = 92;
  for (const SolveCase& one : report.cases) {
    panel.body += bars_of(one, y);
    panel.description += (panel.description.empty() ? "" : " ") + sentence_of(one);
  }
  panel.height = y;
  return svg::document(panel, title);
}

}  // namespace weft::bench
