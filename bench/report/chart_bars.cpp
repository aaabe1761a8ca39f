#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart_marks.hpp"
#include "charts.hpp"
#include "numbers.hpp"

namespace weft::bench {
namespace {

constexpr double width = 440, left = 152, right = 366, bar_height = 13, step = 18;

std::string label(double y, const std::string& name) {
  return svg::text(left - 8, y + bar_height - 2.5, "end", "caption", svg::shorten(name, 22));
}
std::string value(double x, double y, const std::string& text) {
  return svg::text(x + 6, y + bar_height - 2.5, "start", "caption", text);
}

/// A part of a bar, with its meaning for those who hover.
std::string part(double from, double to, double y, double height, const std::string& css, const std::string& meaning) {
  return "<rect class=\"" + css + "\" x=\"" + svg::number(from) + "\" y=\"" + svg::number(y) + "\" width=\"" +
         svg::number(std::max(0.0, to - from)) + "\" height=\"" + svg::number(height) + "\"><title>" +
         svg::escape(meaning) + "</title></rect>\n";
}

std::string fill_of(const Entrant& entrant) { return style_class('p', entrant) + (entrant.peer ? " theirs" : ""); }

struct Piece {
  const char* name;
  double Setup::* seconds;
  const char* css;  // shades, from light to dark: colours stand for names
};
constexpr Piece pieces[] = {{"analysis", &Setup::facts, "d0"},
                            {"order", &Setup::order, "d1"},
                            {"partition", &Setup::partition, "d2"},
                            {"encode", &Setup::encode, "d3"},
                            {"upload", &Setup::upload, "d5"}};

}  // namespace

Figure speed_figure(std::span<const Case* const> cases, const std::vector<Entrant>& entrants, double most) {
  Figure figure{"", {width, 0, {}, {}}, {}};
  double y = 0;
  for (const Case* one : cases) {
    std::vector<Entrant> present;
    for (const Entrant& entrant : entrants)
      if (find_counting(*one, entrant.name)) present.push_back(entrant);
    const Measurement* best = fastest_of(*one);
    if (best && std::ranges::none_of(present, [&](const Entrant& entrant) { return entrant.name == best->name; }))
      present.push_back({best->name, best->peer, -1});
    figure.panel.body += svg::text(4, y + 16, "start", "heading", svg::shorten(one->source, 52));
    y += 26;
    if (!best) {
      figure.panel.body += svg::text(4, y + 10, "start", "caption", "nothing could be measured");
      y += step;
    }
    for (const Entrant& entrant : present) {
      const Measurement& m = *find_counting(*one, entrant.name);
      const double end = left + (right - left) * m.gflops / most;
      figure.panel.body += label(y, entrant.name);
      figure.panel.body += part(left, end, y, bar_height, fill_of(entrant), entrant.name);
      figure.panel.body += value(end, y, svg::rounded(m.gflops) + (m.rank == 1 ? " \u2605" : ""));
      y += step;
    }
    y += 12;
    if (best)
      figure.sentence += fmt::format("{}{}: {} {} GFLOP/s", figure.sentence.empty() ? "The fastest: " : "; ",
                                     svg::shorten(one->source, 40), best->name, svg::rounded(best->gflops));
  }
  if (!figure.sentence.empty()) figure.sentence += ".";
  figure.panel.height = y;
  figure.panel.description =
      fmt::format("GFLOP/s as bars, by matrix; a star is on the fastest and all within {} of it.", tie_text);
  return figure;
}

Figure setup_figure(const Case& one, const std::vector<Entrant>& entrants) {
  Figure figure{"Set-up by its parts", {width, 0, {}, {}}, {}};
  double longest = 0;
  const Measurement *shortest_setup = nullptr, *longest_setup = nullptr;
  for (const Entrant& entrant : entrants) {
    const Measurement* m = find_counting(one, entrant.name);
    if (!shortest_setup || m->setup.total() < shortest_setup->setup.total()) shortest_setup = m;
    if (!longest_setup || m->setup.total() > longest_setup->setup.total()) longest_setup = m;
    longest = std::max(longest, m->setup.total());
  }
  if (!(longest > 0)) return figure;

  // Only parts that took time are explained; their order in the bar is the order of the key.
  std::vector<std::string> names;
  std::vector<std::size_t> used;
  for (std::size_t p = 0; p < std::size(pieces); ++p)
    if (std::ranges::any_of(entrants, [&](const Entrant& entrant) {
          return find_counting(one, entrant.name)->setup.*pieces[p].seconds > 0;
        })) {
      names.emplace_back(pieces[p].name);
      used.push_back(p);
    }
  const std::vector<svg::KeyPlace> keys = svg::key_places(names, 8, 432);
  for (std::size_t i = 0; i < used.size(); ++i)
    figure.panel.body += svg::rect(keys[i].x, 3 + keys[i].y, 14, 12, pieces[used[i]].css) +
                         svg::text(keys[i].x + 20, 13 + keys[i].y, "start", "caption", names[i]);
  double y = 30 + (keys.empty() ? 0 : keys.back().y);
  for (const Entrant& entrant : entrants) {
    const Setup& setup = find_counting(one, entrant.name)->setup;
    double x = left;
    figure.panel.body += label(y, entrant.name);
    for (std::size_t p : used) {
      const double seconds = setup.*pieces[p].seconds, end = x + (right - left) * seconds / longest;
      if (seconds > 0)
        figure.panel.body += part(x, end - (end - x > 3 ? 1 : 0), y, bar_height, pieces[p].css,
                                  fmt::format("{}: {} {}", entrant.name, pieces[p].name, seconds_text(seconds)));
      x = end;
    }
    figure.panel.body += value(x, y, seconds_text(setup.total()));
    y += step;
  }
  figure.panel.height = y + 4;
  figure.panel.description = "Seconds of set-up as bars whose parts are, from left to right:";
  for (const std::string& name : names) figure.panel.description += " " + name;
  figure.sentence = fmt::format("{} is set up in {}, {} in {}, {} of its products.", shortest_setup->name,
                                seconds_text(shortest_setup->setup.total()), longest_setup->name,
                                seconds_text(longest_setup->setup.total()),
                                count_text(std::llround(longest_setup->setup.total() / longest_setup->timing.median)));
  return figure;
}

Figure cold_figure(const Case& one, const std::vector<Entrant>& entrants) {
  Figure figure{"Warm and cold caches", {width, 0, {}, {}}, {}};
  double longest = 0;
  for (const Entrant& entrant : entrants)
    if (const Measurement* m = find_counting(one, entrant.name); m->timing.cold)
      longest = std::max({longest, m->timing.cold->median, m->timing.median});
  if (!(longest > 0)) return figure;
  figure.panel.body = svg::rect(8, 3, 14, 12, "p0") + svg::text(28, 13, "start", "caption", "warm") +
                      svg::rect(88, 3, 14, 6, "p1") + svg::text(108, 13, "start", "caption", "cold (thin)");
  double y = 30;
  double most = 0;
  for (const Entrant& entrant : entrants) {
    const Measurement* m = find_counting(one, entrant.name);
    if (!m->timing.cold) continue;
    const double warm_seconds = m->timing.median, cold_seconds = m->timing.cold->median;
    const double warm = left + (right - left) * warm_seconds / longest;
    const double cold = left + (right - left) * cold_seconds / longest;
    figure.panel.body += label(y + 3, entrant.name);
    figure.panel.body += part(left, warm, y, 10, "p0", "warm " + seconds_text(warm_seconds));
    figure.panel.body += part(left, cold, y + 12, 6, "p1", "cold " + seconds_text(cold_seconds));
    figure.panel.body += value(std::max(warm, cold), y + 3, fmt::format("{:.2f}x", cold_seconds / warm_seconds));
    y += step + 8;
    if (cold_seconds / warm_seconds <= most) continue;
    most = cold_seconds / warm_seconds;
    figure.sentence = fmt::format("{} loses most with cold caches: {} instead of {}.", m->name,
                                  seconds_text(cold_seconds), seconds_text(warm_seconds));
  }
  figure.panel.height = y + 2;
  figure.panel.description = "Time of a product with warm caches and right after they were emptied, as bars.";
  return figure;
}

}  // namespace weft::bench
