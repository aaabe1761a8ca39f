#pragma once
#include <weft/runtime.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace weft::app {

/// A line on standard error that fills up while something long is done; it shows after a moment only, is redrawn ten
/// times a second at most and disappears at the end. Nothing is drawn unless standard error is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(double fraction);

  /// Whether `write` would draw now; so a text nobody sees need not be made.
  bool due() const;
  /// Draws the label with a text in the place of a bar: for work that knows how far it is, but not how far it will go.
  void write(std::string_view text);

  /// For the library; valid as long as the bar. Empty when nothing would be drawn.
  Progress callback();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(const std::string& line);

  std::string label_;
  Clock::time_point next_;
  bool drawn_ = false;
};

void show_progress(bool shown);  ///< false: no bar anywhere

}  // namespace weft::app
