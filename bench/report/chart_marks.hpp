#pragma once
#include <array>
#include <string>
#include <vector>

#include "chart_data.hpp"
#include "svg.hpp"

/// How an entrant looks in the charts of `weft report`: a colour, a mark of its own, and for peers dashes and a hollow
/// mark, so that nothing hangs on colours alone.
namespace weft::bench {

inline std::string style_class(char kind, const Entrant& entrant) {
  return entrant.style < 0 ? (kind == 's' ? "other-line" : "other") : kind + std::to_string(entrant.style);
}

/// A mark about 9 units wide around (x, y).
inline std::string draw_mark(const Entrant& entrant, double x, double y) {
  static constexpr std::array<const char*, Entrant::styles> shapes = {
      "m-4.2 0a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0-8.4 0z",             // circle
      "m-3.8-3.8h7.6v7.6h-7.6z",                                      // square
      "m0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",                            // diamond
      "m0-4.8l5 8.6h-10z",                                            // triangle
      "m0 4.8l5-8.6h-10z",                                            // triangle, point down
      "m-1.6-4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z",  // plus
      "m-2.4-4.6h4.8l2.4 4.6l-2.4 4.6h-4.8l-2.4-4.6z",                // hexagon
      "m-4.6-4.6h9.2l-9.2 9.2h9.2z",                                  // hourglass
  };
  const std::string css = entrant.peer ? "hollow " + style_class('s', entrant) : "dot " + style_class('p', entrant);
  return "<path class=\"" + css + "\" d=\"M" + svg::number(x, 1) + " " + svg::number(y, 1) +
         shapes[static_cast<std::size_t>(entrant.style < 0 ? 0 : entrant.style)] + "\"/>\n";
}

inline std::string draw_line(const Entrant& entrant, const std::string& points) {
  return "<polyline class=\"line " + style_class('s', entrant) + (entrant.peer ? " dashed" : "") + "\" points=\"" +
         points + "\"/>\n";
}

/// The names with their marks and lines; `height` is what they take.
struct Key {
  std::string body;
  double height = 0;
};

inline Key draw_key(const std::vector<Entrant>& entrants, double left, double right, bool lines) {
  std::vector<std::string> names;
  for (const Entrant& entrant : entrants) names.push_back(svg::shorten(entrant.name, 26));
  const std::vector<svg::KeyPlace> places = svg::key_places(names, left, right);
  Key key;
  for (std::size_t i = 0; i < entrants.size(); ++i) {
    const double x = places[i].x, y = 10 + places[i].y;
    if (lines)
      key.body += draw_line(entrants[i],
                            svg::number(x) + "," + svg::number(y) + " " + svg::number(x + 22) + "," + svg::number(y));
    key.body += draw_mark(entrants[i], x + 11, y) + svg::text(x + 27, y + 4, "start", "caption", names[i]);
    key.height = places[i].y + 26;
  }
  return key;
}

}  // namespace weft::bench
