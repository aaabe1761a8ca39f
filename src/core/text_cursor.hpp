#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace weft::io {

/// What separates words inside a line. A carriage return is one, so that CRLF ends lines as LF does.
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
constexpr bool is_space(char c) { return is_blank(c) || c == '\n'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes the next word off the front of `line`; empty when there is none.
std::string_view take_word(std::string_view& line);

/// A word of a file for a sentence: quoted, shortened, without characters that could upset a terminal.
std::string quoted(std::string_view word);

/// Walks over a text line by line and knows the line's number.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : text_(text) {}

  /// Moves to the next line; false at the end.
  bool next();
  /// Moves to the next line that is neither blank nor a comment (begins with %); false at the end.
  bool next_content();

  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }      ///< counted from 1
  std::size_t position() const { return position_; }  ///< where the next line begins

 private:
  std::string_view text_, line_;
  std::size_t number_ = 0, position_ = 0;
};

}  // namespace weft::io
