#include "core/text_cursor.hpp"

#include <algorithm>

namespace weft::io {

std::string_view take_word(std::string_view& line) {
  const auto begin = std::find_if_not(line.begin(), line.end(), is_space);
  const auto end = std::find_if(begin, line.end(), is_space);
  const std::string_view word = line.substr(begin - line.begin(), end - begin);
  line.remove_prefix(end - line.begin());
  return word;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t longest = 32;
  std::string result = "'";
  for (const char c : word.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  if (word.size() > longest) result += "...";
  return result + "'";
}

bool LineCursor::next() {
  if (position_ >= text_.size()) {
    line_ = {};
    return false;
  }
  const std::size_t end = std::min(text_.find('\n', position_), text_.size());
  line_ = text_.substr(position_, end - position_);
  position_ = std::min(end + 1, text_.size());
  ++number_;
  return true;
}

bool LineCursor::next_content() {
  while (next()) {
    const std::string_view content = trim(line_);
    if (!content.empty() && content.front() != '%') return true;
  }
  return false;
}

}  // namespace weft::io
