#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::app {
namespace {

bool wanted = true;

bool terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && !(kind && std::strcmp(kind, "dumb") == 0);
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

constexpr auto interval = std::chrono::milliseconds(100);

}  // namespace

void show_progress(bool shown) { wanted = shown; }

ProgressBar::ProgressBar(std::string label) : label_(std::move(label)), next_(Clock::now() + interval) {}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

void ProgressBar::show(double fraction) {
  if (Clock::now() < next_) return;
  const int columns = terminal_columns();
  const double share = std::clamp(fraction, 0.0, 1.0);
  const int room = std::clamp(columns - 10, 10, 200);  // "  100 %" and brackets
  const int label_room = std::min(static_cast<int>(label_.size()), room / 2);
  const int width = std::clamp(room - label_room, 5, 40);
  const int filled = static_cast<int>(share * width);
  draw(fmt::format("{} [{:#<{}}{:.<{}}] {:3.0f} %", std::string_view(label_).substr(0, label_room), "", filled, "",
                   width - filled, share * 100));
}

void ProgressBar::draw(const std::string& line) {
  next_ = Clock::now() + interval;
  std::fputs(("\r\033[K" + line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

bool ProgressBar::due() const { return wanted && Clock::now() >= next_ && terminal(); }

void ProgressBar::write(std::string_view text) {
  if (!due()) return;
  const std::string line = label_ + ": " + std::string(text);
  draw(line.substr(0, static_cast<std::size_t>(std::max(10, terminal_columns() - 1))));
}

Progress ProgressBar::callback() {
  if (!wanted || !terminal()) return {};
  return [this](double fraction) {
    show(fraction);
    return true;
  };
}

}  // namespace weft::app
