#pragma once
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "svg.hpp"

namespace weft::bench {

/// Places texts in a plot where they hide neither a mark nor each other; a text without such a place is left out.
class Labels {
 public:
  Labels(double left, double top, double right, double bottom)
      : left_(left), top_(top), right_(right), bottom_(bottom) {}

  /// Nothing may be written within `half` units of this place.
  void keep_clear(double x, double y, double half) { taken_.push_back({x - half, y - half, x + half, y + half}); }

  /// Nor on this line.
  void keep_clear(const svg::Segment& line) {
    const double length = std::hypot(line.x2 - line.x1, line.y2 - line.y1);
    for (double at = 0; at <= length; at += 4)
      keep_clear(line.x1 + (line.x2 - line.x1) * at / length, line.y1 + (line.y2 - line.y1) * at / length, 2);
  }

  /// Beside a mark: on its right or left, above or below it.
  std::string beside(double x, double y, const std::string& text) {
    constexpr double gap = 8;
    const double width = width_of(text);
    for (const auto& [at, base] : std::array<std::pair<double, double>, 6>{{{x + gap, y + 4},
                                                                            {x - gap - width, y + 4},
                                                                            {x - width / 2, y - gap - 2},
                                                                            {x - width / 2, y + gap + 10},
                                                                            {x + gap - 2, y - gap},
                                                                            {x - gap + 2 - width, y - gap}}}) {
      const Box box{at, base - ascent, at + width, base + descent};
      if (!free(box)) continue;
      taken_.push_back(box);
      return svg::text(at, base, "start", "mark", text);
    }
    return {};
  }

  /// At a place of its own; `flush_right`: the text ends there.
  std::string at(double x, double y, bool flush_right, const std::string& text) {
    const double begin = flush_right ? x - width_of(text) : x;
    const Box box{begin, y - ascent, begin + width_of(text), y + descent};
    if (!free(box)) return {};
    taken_.push_back(box);
    return svg::text(x, y, flush_right ? "end" : "start", "caption", text);
  }

  /// Above a straight line, or else below it, at the first free place from its beginning on; where nothing is free, at
  /// its beginning: a line without a name means nothing. Only a line that is too short has none.
  std::string along(double x1, double y1, double x2, double y2, const std::string& text) {
    const double length = std::hypot(x2 - x1, y2 - y1), width = width_of(text);
    if (!(length > width + 8)) return {};
    const double across = (x2 - x1) / length, down = (y2 - y1) / length;
    const auto draw = [&](double begin, double off) {
      return "<g transform=\"translate(" + svg::number(x1 + across * begin - down * off) + " " +
             svg::number(y1 + down * begin + across * off) + ") rotate(" +
             svg::number(std::atan2(down, across) * 57.29577951308232) + ")\">" +
             svg::text(0, 0, "start", "mark", text) + "</g>\n";
    };
    for (const double off : {-4.0, 13.0})
      for (double begin = 4; begin + width + 4 <= length; begin += 6) {
        // A turned text is as many small boxes as it has letters, around the middle of their height.
        std::vector<Box> boxes;
        for (double at = begin; at <= begin + width; at += letter) {
          const double x = x1 + across * at - down * (off - 4), y = y1 + down * at + across * (off - 4);
          boxes.push_back({x - 5, y - 5, x + 5, y + 5});
        }
        bool fits = true;
        for (const Box& box : boxes) fits = fits && free(box);
        if (!fits) continue;
        taken_.insert(taken_.end(), boxes.begin(), boxes.end());
        return draw(begin, off);
      }
    return draw(4, -4);
  }

 private:
  struct Box {
    double left, top, right, bottom;
  };
  static constexpr double ascent = 11, descent = 3.5;
  static constexpr double letter = 6.2;  // units, of 11 pixel letters in the widest of the page's fonts
  static double width_of(const std::string& text) { return letter * static_cast<double>(text.size()); }

  bool free(const Box& box) const {
    if (box.left < left_ || box.right > right_ || box.top < top_ || box.bottom > bottom_) return false;
    for (const Box& other : taken_)
      if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
        return false;
    return true;
  }

  double left_, top_, right_, bottom_;
  std::vector<Box> taken_;
};

}  // namespace weft::bench
