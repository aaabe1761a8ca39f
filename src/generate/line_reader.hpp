#pragma once
#include <weft/error.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/text_cursor.hpp"

namespace weft::generation {

/// Reads words and numbers line by line and never past the end of a line, so that an error names the line it is in.
/// Lines end with \n or \r\n; blank lines are passed over.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& name) : text_(text), lines_(text), name_(name) {}

  /// Goes to the next line that is not blank; false at the end of the text.
  bool next_line() {
    while (lines_.next()) {
      current_ = lines_.line();
      skip_blanks();
      if (!current_.empty()) return true;
    }
    current_ = {};
    return false;
  }

  /// Goes to the next line, in which `what` should be.
  void require_line(const char* what) {
    if (!next_line()) fail(std::string("the file ends where ") + what + " should be");
  }

  std::string_view word(const char* what) {
    const std::string_view result = io::take_word(current_);
    if (result.empty()) fail(std::string("the line ends where ") + what + " should be");
    return result;
  }

  template <class T>
  T number(const char* what) {
    const std::string_view text = word(what);
    T value{};
    // from_chars knows no leading plus.
    const char* begin = text.data() + (text.size() > 1 && text[0] == '+' && text[1] != '-' ? 1 : 0);
    const auto [end, problem] = std::from_chars(begin, text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size()) return value;
    if (problem == std::errc::result_out_of_range)
      fail(std::string(what) + " is " + io::quoted(text) + ", which is outside the range of numbers");
    fail(std::string(what) + " should be a " + (std::is_floating_point_v<T> ? "" : "whole ") + "number, but is " +
         io::quoted(text));
  }

  void skip_line() { current_ = {}; }

  void end_of_line() {
    skip_blanks();
    if (!current_.empty()) fail("the line should end before " + io::quoted(current_));
  }

  /// The next line must be `wanted` alone.
  void expect_line(const std::string& wanted) {
    require_line(wanted.c_str());
    if (word(wanted.c_str()) != wanted) fail("here " + wanted + " should be");
    end_of_line();
  }

  /// Goes past the next line that is `wanted` alone; false when there is none.
  bool skip_past(const std::string& wanted) {
    while (next_line()) {
      const bool found = word(wanted.c_str()) == wanted;
      skip_blanks();
      if (found && current_.empty()) return true;
    }
    return false;
  }

  std::uint64_t remaining() const { return text_.size() - lines_.position(); }
  std::uint64_t line() const { return lines_.number(); }

  [[noreturn]] void fail(const std::string& sentence) const { fail_at(line(), sentence); }
  [[noreturn]] void fail_at(std::uint64_t line, const std::string& sentence) const {
    throw Error(ErrorCode::parse, place(line) + sentence);
  }
  [[noreturn]] void fail_unsupported(const std::string& sentence) const {
    throw Error(ErrorCode::unsupported, place(line()) + sentence);
  }

 private:
  void skip_blanks() {
    while (!current_.empty() && io::is_blank(current_.front())) current_.remove_prefix(1);
  }
  std::string place(std::uint64_t line) const { return name_ + ":" + std::to_string(line == 0 ? 1 : line) + ": "; }

  std::string_view text_;
  io::LineCursor lines_;
  std::string_view current_;  // what is left of the line
  std::string name_;
};

}  // namespace weft::generation
