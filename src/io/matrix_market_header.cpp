#include "io/matrix_market_header.hpp"

#include <charconv>
#include <limits>

#include "core/text_cursor.hpp"

namespace weft::io {
namespace {

using Header = MatrixMarketHeader;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_banner(std::string_view word) {
  const std::string banner = lower(word);
  return banner == "%%matrixmarket" || banner == "%matrixmarket";
}

struct Context {
  const std::string& name;
  std::size_t line;
  [[noreturn]] void refuse(const std::string& sentence, ErrorCode code = ErrorCode::parse) const {
    refuse_line(code, name, line, sentence);
  }
};

std::string take_header_word(std::string_view& line, const Context& at, const char* what) {
  const std::string word = lower(take_word(line));
  if (word.empty()) at.refuse(std::string("the first line does not name the ") + what);
  return word;
}

void parse_banner(std::string_view line, const Context& at, Header& header) {
  take_word(line);
  const std::string object = take_header_word(line, at, "object (matrix)");
  if (object == "vector")
    at.refuse("vector files are not supported; write 'matrix array real general' with one column",
              ErrorCode::unsupported);
  if (object != "matrix") at.refuse(quoted(object) + " stands where 'matrix' belongs");

  const std::string layout = take_header_word(line, at, "format (coordinate or array)");
  if (layout == "coordinate")
    header.layout = Header::Layout::coordinate;
  else if (layout == "array")
    header.layout = Header::Layout::array;
  else
    at.refuse("the format " + quoted(layout) + " is neither coordinate nor array");

  const std::string field = take_header_word(line, at, "field (real, integer or pattern)");
  if (field == "complex") at.refuse("complex matrices are not supported", ErrorCode::unsupported);
  if (field == "real" || field == "double")
    header.field = Header::Field::real;
  else if (field == "integer" || field == "unsigned-integer")
    header.field = Header::Field::integer;
  else if (field == "pattern")
    header.field = Header::Field::pattern;
  else
    at.refuse("the field " + quoted(field) + " is none of real, integer, pattern");
  if (header.layout == Header::Layout::array && header.field == Header::Field::pattern)
    at.refuse("an array file cannot hold a pattern");

  const std::string symmetry = take_header_word(line, at, "symmetry (general, symmetric, skew-symmetric or hermitian)");
  if (symmetry == "general")
    header.symmetry = Symmetry::general;
  else if (symmetry == "symmetric" || symmetry == "hermitian")
    header.symmetry = Symmetry::symmetric;
  else if (symmetry == "skew-symmetric")
    header.symmetry = Symmetry::skew;
  else
    at.refuse("the symmetry " + quoted(symmetry) + " is none of general, symmetric, skew-symmetric, hermitian");
}

template <class Size>
Size take_size(std::string_view& line, const Context& at, const std::string& what) {
  const std::string_view word = take_word(line);
  if (word.empty()) at.refuse("the size line does not say the number of " + what);
  Size size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (end != word.data() + word.size() || error == std::errc::invalid_argument)
    at.refuse("the number of " + what + ", " + quoted(word) + ", is not a whole number");
  if (word.front() == '-') at.refuse("the number of " + what + " is negative");
  if (error == std::errc::result_out_of_range)
    at.refuse("the number of " + what + ", " + quoted(word) + ", is past the " +
                  std::to_string(std::numeric_limits<Size>::max()) + " that are supported",
              ErrorCode::unsupported);
  return size;
}

/// How many values an array file stores: all, or the triangle below (skew: strictly below) the diagonal.
Offset stored_values(const Header& header) {
  const Offset rows = header.rows;
  switch (header.symmetry) {
    case Symmetry::general:
      return rows * header.cols;
    case Symmetry::symmetric:
      return rows * (rows + 1) / 2;
    case Symmetry::skew:
      return rows * (rows - 1) / 2;
  }
  return 0;
}

void parse_sizes(std::string_view line, const Context& at, Header& header) {
  header.rows = take_size<Index>(line, at, "rows");
  header.cols = take_size<Index>(line, at, "columns");
  const bool coordinate = header.layout == Header::Layout::coordinate;
  if (coordinate) header.entries = take_size<Offset>(line, at, "entries");
  const std::string_view rest = take_word(line);
  if (!rest.empty() && rest.front() != '%')
    at.refuse(quoted(rest) + " stands after the " + (coordinate ? "3" : "2") + " numbers of the size line");
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    at.refuse("a " + std::string(header.symmetry == Symmetry::skew ? "skew-symmetric" : "symmetric") +
              " matrix must be square, but this one has " + std::to_string(header.rows) + " rows and " +
              std::to_string(header.cols) + " columns");
  if (!coordinate) header.entries = stored_values(header);
}

}  // namespace

void refuse_line(ErrorCode code, const std::string& name, std::size_t line, const std::string& sentence) {
  throw Error(code, name + ":" + std::to_string(line) + ": " + sentence);
}

bool is_matrix_market(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  text = text.substr(0, 4096);
  return is_banner(take_word(text));
}

MatrixMarketHeader parse_matrix_market_header(std::string_view text, const std::string& name) {
  if (trim(text).empty()) refuse_line(ErrorCode::parse, name, 1, "the file is empty");
  const std::size_t mark = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  LineCursor cursor(text.substr(mark));
  while (cursor.next() && trim(cursor.line()).empty()) {
  }
  const Context banner{name, cursor.number()};
  std::string_view first = cursor.line();
  if (!is_banner(take_word(first)))
    banner.refuse("this is no Matrix Market file: it does not begin with %%MatrixMarket");
  if (const std::size_t end = cursor.line().find('\r'); end < trim(cursor.line()).size())
    banner.refuse("the lines end with carriage returns alone; convert them, say with tr '\\r' '\\n'");

  Header header;
  parse_banner(cursor.line(), banner, header);
  if (!cursor.next_content())
    refuse_line(ErrorCode::parse, name, cursor.number(), "the file ends before its size line");
  parse_sizes(cursor.line(), {name, cursor.number()}, header);
  header.body = mark + cursor.position();
  header.body_line = cursor.number() + 1;
  return header;
}

}  // namespace weft::io
