#include <weft/io.hpp>
#include <weft/version.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "io/text_writer.hpp"

namespace weft {
namespace {

/// Longer than any two indices and any shortest value with what separates them.
constexpr std::size_t longest_entry = 64;

/// Appends lines to a string that is kept large enough for the next one.
class LineAppender {
 public:
  explicit LineAppender(std::string& text) : text_(text), used_(text.size()) {}
  ~LineAppender() { text_.resize(used_); }
  LineAppender(const LineAppender&) = delete;
  LineAppender& operator=(const LineAppender&) = delete;

  void begin_line() {
    if (text_.size() - used_ < longest_entry) text_.resize(std::max<std::size_t>(text_.size() * 2, 4096));
  }
  template <class Number>
  void add(Number number, char after) {
    char* const end = std::to_chars(text_.data() + used_, text_.data() + text_.size(), number).ptr;
    *end = after;
    used_ = static_cast<std::size_t>(end + 1 - text_.data());
  }

 private:
  std::string& text_;
  std::size_t used_;
};

std::string banner(const char* layout) {
  return std::string("%%MatrixMarket matrix ") + layout + " real general\n% written by weft " WEFT_VERSION "\n";
}

[[noreturn]] void refuse_value(const std::string& path, const std::string& place) {
  throw Error(ErrorCode::invalid_argument, "cannot write " + path + ": the value at " + place +
                                               " is not a finite number, which Matrix Market has no text for");
}

}  // namespace

template <Value V>
void write_matrix_market(const std::string& path, const Csr<V>& matrix, Progress progress) {
  const std::string header = banner("coordinate") + std::to_string(matrix.rows) + " " + std::to_string(matrix.cols) +
                             " " + std::to_string(matrix.nonzeros()) + "\n";
  io::write_text_file(path, header, matrix.nonzeros(), progress, [&](Offset begin, Offset end, std::string& text) {
    LineAppender lines(text);
    const Offset* const offsets = matrix.offsets.data();
    auto row = static_cast<Index>(std::upper_bound(offsets, offsets + matrix.rows + 1, begin) - offsets - 1);
    for (Offset i = begin; i < end; ++i) {
      while (offsets[row + 1] <= i) ++row;
      if (!std::isfinite(matrix.values[i]))
        refuse_value(path, "row " + std::to_string(row + 1) + ", column " + std::to_string(matrix.columns[i] + 1));
      lines.begin_line();
      lines.add(Offset(row) + 1, ' ');
      lines.add(Offset(matrix.columns[i]) + 1, ' ');
      lines.add(matrix.values[i], '\n');
    }
  });
}

template <Value V>
void write_vector(const std::string& path, std::span<const V> vector) {
  const std::string header = banner("array") + std::to_string(vector.size()) + " 1\n";
  io::write_text_file(path, header, static_cast<Offset>(vector.size()), {},
                      [&](Offset begin, Offset end, std::string& text) {
                        LineAppender lines(text);
                        for (Offset i = begin; i < end; ++i) {
                          if (!std::isfinite(vector[i])) refuse_value(path, "position " + std::to_string(i + 1));
                          lines.begin_line();
                          lines.add(vector[i], '\n');
                        }
                      });
}

#define WEFT_INSTANTIATE(V)                                                          \
  template void write_matrix_market<V>(const std::string&, const Csr<V>&, Progress); \
  template void write_vector<V>(const std::string&, std::span<const V>);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
