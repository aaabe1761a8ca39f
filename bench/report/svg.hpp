#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The pieces the pictures of draw.hpp are made of: text, numbers, axes, the document around them.
namespace weft::bench::svg {

/// How many bytes the UTF-8 sequence at the front of `text` has, 0 when there is none or XML cannot hold it.
inline std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 && lead < 0xf5 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (lead >= 0xf5 || length == 0 || text.size() < length) return 0;
  std::uint32_t point = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool forbidden = (point >= 0xd800 && point < 0xe000) || point == 0xfffe || point == 0xffff || point > 0x10ffff;
  return overlong || forbidden || point < 0xa0 ? 0 : length;
}

/// `text` as XML content; bytes XML cannot hold become '?'.
inline std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    switch (text[0]) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (length == 0)
          result += '?';
        else
          result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

/// At most `limit` characters; a longer text keeps its end, where a path has the name of the file.
inline std::string shorten(std::string_view text, std::size_t limit) {
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at += std::max<std::size_t>(character_length(text.substr(at)), 1))
    starts.push_back(at);
  if (starts.size() <= limit) return std::string(text);
  return "\u2026" + std::string(text.substr(starts[starts.size() - limit + 1]));
}

/// Independent of the locale, without trailing zeros.
inline std::string number(double value, int decimals = 2) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  if (end.ec != std::errc()) return "0";
  std::string result(text, end.ptr);
  if (result.find('.') != std::string::npos) {
    while (result.back() == '0') result.pop_back();
    if (result.back() == '.') result.pop_back();
  }
  return result == "-0" ? "0" : result;
}

/// A number short enough for an axis: 250k, 1.5M, 0.02, 1e-6.
inline std::string compact(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e12 || size < 1e-3) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, 0);
    std::string result(text, end.ptr);
    const std::size_t sign = result.find('e') + 1;
    while (result.size() > sign + 2 && result[sign + 1] == '0') result.erase(sign + 1, 1);
    if (result[sign] == '+') result.erase(sign, 1);
    return result;
  }
  if (size >= 1e9) return number(value / 1e9) + "G";
  if (size >= 1e6) return number(value / 1e6) + "M";
  if (size >= 1e4) return number(value / 1e3) + "k";
  return number(value, 3);
}

/// To three significant digits, for sentences.
inline std::string rounded(double value) {
  const double size = std::abs(value);
  return size >= 1e4 || size < 1 ? compact(value) : number(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

struct Tick {
  double value;
  std::string label;
};

/// Maps values low..high to places from..to, linearly or by logarithm.
struct Scale {
  double low, high, from, to;
  bool logarithmic = false;
  bool whole = false;  // ticks at whole numbers only

  double operator()(double value) const {
    const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }

  std::vector<Tick> ticks(int wanted) const {
    std::vector<Tick> result;
    const double slack = 1e-9;
    if (!logarithmic) {
      const double raw = (high - low) / wanted;
      double step = std::pow(10, std::floor(std::log10(raw)));
      for (double factor : {1.0, 2.0, 5.0, 10.0})
        if (step * factor >= raw * (1 - slack)) {
          step *= factor;
          break;
        }
      if (whole) step = std::max(step, 1.0);
      // Counted, so that it ends where a step is too small to change a number of this size.
      const double first = std::ceil(low / step - slack);
      for (int i = 0; i <= 4 * wanted; ++i) {
        const double value = (first + i) * step;
        if (!(value <= high + slack * step) || (!result.empty() && value <= result.back().value)) break;
        result.push_back({value, compact(value)});
      }
      return result;
    }
    const double decades = std::log10(high) - std::log10(low);  // the quotient may be infinite
    if (!std::isfinite(decades)) return result;
    const int stride = std::max(1, static_cast<int>(std::ceil(decades / wanted)));
    for (double e = std::floor(std::log10(low)); e <= std::log10(high) + slack; e += stride)
      for (double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && decades > 2.5) continue;
        const double value = factor * std::pow(10, e);
        if (whole && value < 1) continue;
        if (value >= low * (1 - slack) && value <= high * (1 + slack)) result.push_back({value, compact(value)});
      }
    return result;
  }
};

inline std::string line(double x1, double y1, double x2, double y2, std::string_view css) {
  return "<line class=\"" + std::string(css) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

/// `anchor`: start, middle or end.
inline std::string text(double x, double y, std::string_view anchor, std::string_view css, std::string_view content) {
  return "<text class=\"" + std::string(css) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escape(content) + "</text>\n";
}

inline std::string rect(double x, double y, double width, double height, std::string_view css) {
  return "<rect class=\"" + std::string(css) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
         number(width) + "\" height=\"" + number(height) + "\"/>\n";
}

struct Segment {
  double x1, y1, x2, y2;
};

/// The straight line between two pairs of values as far as it is inside the plot; none when nothing of it is. It must
/// rise from the first to the second, and both must be within the horizontal scale.
inline std::optional<Segment> rising(const Scale& x, const Scale& y, std::pair<double, double> from,
                                     std::pair<double, double> to) {
  Segment line{x(from.first), y(from.second), x(to.first), y(to.second)};
  const double bottom = y.from, top = y.to;  // vertical places grow downwards
  if (!(line.y2 < line.y1) || line.y1 <= top || line.y2 >= bottom) return std::nullopt;
  const double slope = (line.x2 - line.x1) / (line.y2 - line.y1);
  if (line.y1 > bottom) line = {line.x1 + (bottom - line.y1) * slope, bottom, line.x2, line.y2};
  if (line.y2 < top) line = {line.x1, line.y1, line.x2 + (top - line.y2) * slope, top};
  return line;
}

/// Grid lines, tick labels and the axis' name; the horizontal axis runs below `bottom`.
inline std::string x_axis(const Scale& scale, double top, double bottom, std::string_view label, bool grid, int ticks) {
  std::string result;
  for (const Tick& tick : scale.ticks(ticks)) {
    const double x = scale(tick.value);
    result += grid ? line(x, top, x, bottom, "grid") : line(x, bottom, x, bottom + 4, "axis");
    result += text(x, bottom + 17, "middle", "tick", tick.label);
  }
  return result + text((scale.from + scale.to) / 2, bottom + 36, "middle", "label", label);
}

inline std::string y_axis(const Scale& scale, double left, double right, std::string_view label, bool grid, int ticks) {
  std::string result;
  for (const Tick& tick : scale.ticks(ticks)) {
    const double y = scale(tick.value);
    result += grid ? line(left, y, right, y, "grid") : line(left - 4, y, left, y, "axis");
    result += text(left - 8, y + 4, "end", "tick", tick.label);
  }
  const std::string place = number(left - 48) + " " + number((scale.from + scale.to) / 2);
  return result + "<g transform=\"translate(" + place + ") rotate(-90)\">" + text(0, 0, "middle", "label", label) +
         "</g>\n";
}

/// Where the name of a series stands in a key; y counts from its first line.
struct KeyPlace {
  double x, y;
};

inline std::vector<KeyPlace> key_places(const std::vector<std::string>& names, double left, double right) {
  std::vector<KeyPlace> places;
  double x = left, y = 0;
  for (const std::string& name : names) {
    const double width = 36 + 7.2 * static_cast<double>(name.size());
    if (x > left && x + width > right) {
      x = left;
      y += 18;
    }
    places.push_back({x, y});
    x += width;
  }
  return places;
}

/// A raster as one path for each of `levels` levels, in units of a cell; level(row, col) is negative where nothing is
/// drawn. Neighbours in a row that share a level are one rectangle.
template <class Level>
std::string cells(int rows, int cols, int levels, Level&& level) {
  std::vector<std::string> paths(static_cast<std::size_t>(levels));
  for (int row = 0; row < rows; ++row) {
    for (int begin = 0, end; begin < cols; begin = end) {
      const int here = level(row, begin);
      for (end = begin + 1; end < cols && level(row, end) == here;) ++end;
      if (here < 0) continue;
      paths[here] += "M" + std::to_string(begin) + " " + std::to_string(row) + "h" + std::to_string(end - begin) +
                     "v1H" + std::to_string(begin) + "z";
    }
  }
  std::string result;
  for (int i = 0; i < levels; ++i)
    if (!paths[i].empty()) result += "<path class=\"d" + std::to_string(i) + "\" d=\"" + paths[i] + "\"/>\n";
  return result;
}

/// A part of a picture with its size.
struct Panel {
  double width = 0;
  double height = 0;
  std::string body;
  std::string description;
};

/// Colours by class. The ramp d0..d5 goes from sparse to dense, away from the page's colour; s0..s7 tell series apart.
inline std::string style() {
  const auto ramp = [](const std::vector<std::string_view>& colours, char name, std::string_view property) {
    std::string rules;
    for (std::size_t i = 0; i < colours.size(); ++i)
      rules += std::string(".") + name + std::to_string(i) + "{" + std::string(property) + ":" +
               std::string(colours[i]) + "}";
    return rules + "\n";
  };
  const auto theme = [&](std::string_view page, std::string_view ink, std::string_view muted, std::string_view grid,
                         const std::vector<std::string_view>& density, const std::vector<std::string_view>& series) {
    std::string rules = ".page{fill:" + std::string(page) + "}.heading,.mark{fill:" + std::string(ink) +
                        "}.label,.tick,.caption{fill:" + std::string(muted) + "}\n.grid{stroke:" + std::string(grid) +
                        "}.axis,.frame{stroke:" + std::string(muted) + "}.marker{stroke:" + std::string(ink) +
                        "}.dot{stroke:" + std::string(page) + "}.bar{fill:" + std::string(series[0]) +
                        "}.band{fill:" + std::string(grid) + ";fill-opacity:.6}\n";
    return rules + ramp(density, 'd', "fill") + ramp(series, 's', "stroke") + ramp(series, 'p', "fill");
  };
  return "<style>\ntext{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px}\n"
         ".heading{font-size:15px;font-weight:600}.label{font-size:12px}.tick{font-size:11px}.mark{font-size:11px}\n"
         ".grid,.axis,.frame{fill:none;stroke-width:1}.marker{stroke-width:1.25;stroke-dasharray:4 3}\n"
         ".line{fill:none;stroke-width:2;stroke-linejoin:round}.dot{stroke-width:1.5}.cells{shape-rendering:crispEdges}"
         "\n" +
         theme("#ffffff", "#14181f", "#545b66", "#e3e6ea",
               {"#a9ccf5", "#78aeee", "#4389e2", "#2868be", "#184f95", "#0c3468"},
               {"#2a78d6", "#d9531e", "#138a5e", "#a86f00", "#c2457f", "#6a55c8", "#0d7d8c", "#6d6f12"}) +
         "@media screen and (prefers-color-scheme: dark){\n"  // paper is light
         + theme("#15181d", "#eef1f5", "#a4acb8", "#2c323b",
                 {"#1d4c8a", "#2666b8", "#3d87e3", "#6fa9ee", "#a3caf6", "#d6e8fc"},
                 {"#4a95ee", "#f07a45", "#2bb583", "#d89c22", "#e274a6", "#9a88ee", "#35b3c4", "#b5b842"}) +
         "}\n</style>\n";
}

/// The element itself; ids in it begin with `prefix`, so that one page can hold several. `before` goes in front of the
/// body.
inline std::string element(const Panel& panel, std::string_view title, const std::string& prefix,
                           const std::string& attributes, const std::string& before) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attributes + " viewBox=\"0 0 " + number(panel.width) + " " +
         number(panel.height) + "\" role=\"img\" aria-labelledby=\"" + prefix + "title " + prefix +
         "description\">\n<title id=\"" + prefix + "title\">" + escape(title) + "</title>\n<desc id=\"" + prefix +
         "description\">" + escape(panel.description) + "</desc>\n" + before + panel.body + "</svg>\n";
}

/// A picture for a page that has style() once and a background of its own.
inline std::string embedded(const Panel& panel, std::string_view title, const std::string& prefix) {
  return element(panel, title, prefix, "", "");
}

inline std::string document(const Panel& panel, const std::string& title) {
  return element(panel, title, "", " width=\"" + number(panel.width) + "\" height=\"" + number(panel.height) + "\"",
                 style() + rect(0, 0, panel.width, panel.height, "page"));
}

}  // namespace weft::bench::svg
