#pragma once
#include <weft/csr.hpp>
#include <weft/error.hpp>

#include <string>
#include <string_view>

namespace weft::io {

/// The first line and the size line of a Matrix Market file, checked.
struct MatrixMarketHeader {
  enum class Layout { coordinate, array };
  enum class Field { real, integer, pattern };

  Layout layout = Layout::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;  ///< hermitian is symmetric, as values are real
  Index rows = 0;
  Index cols = 0;
  Offset entries = 0;         ///< lines with an entry or a value that must follow
  std::size_t body = 0;       ///< where the line after the size line begins
  std::size_t body_line = 1;  ///< that line's number
};

/// Throws Error with a sentence that starts with "name:line:".
[[noreturn]] void refuse_line(ErrorCode code, const std::string& name, std::size_t line, const std::string& sentence);

/// True when the text begins as a Matrix Market file does, well formed or not.
bool is_matrix_market(std::string_view text);

/// Reads the first line, the comments and the size line. Throws Error(parse), or Error(unsupported) for complex values,
/// `vector` files, more than 2^31-1 rows or columns and more than 2^63-1 entries.
MatrixMarketHeader parse_matrix_market_header(std::string_view text, const std::string& name);

}  // namespace weft::io
