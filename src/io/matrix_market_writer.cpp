#include <weft/io.hpp>
#include <weft/version.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "io/columns_file.hpp"
#include "io/text_writer.hpp"
#include "sparse/row_parts.hpp"

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

/// Refuses the first value that is not a finite number, whose place place(position) names, before anything is written.
template <Value V, class Place>
void require_finite(const std::string& path, std::span<const V> values, Place&& place) {
  FirstPosition wrong;
  parallel_ranges(static_cast<Offset>(values.size()), entry_grain, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i)
      if (!std::isfinite(values[i])) return wrong.report(i);
  });
  if (wrong.found())
    throw Error(ErrorCode::invalid_argument, "cannot write " + path + ": the value at " + place(wrong.get()) +
                                                 " is not a finite number, which Matrix Market has no text for");
}

}  // namespace

template <Value V>
void write_matrix_market(const std::string& path, const Csr<V>& matrix, Progress progress) {
  require_finite(path, std::span<const V>(matrix.values), [&](Offset entry) {
    return "row " + std::to_string(row_of(matrix.offsets.data(), matrix.rows, entry) + 1) + ", column " +
           std::to_string(matrix.columns[entry] + 1);
  });
  const std::string header = banner("coordinate") + std::to_string(matrix.rows) + " " + std::to_string(matrix.cols) +
                             " " + std::to_string(matrix.nonzeros()) + "\n";
  io::write_text_file(path, header, matrix.nonzeros(), progress, [&](Offset begin, Offset end, std::string& text) {
    LineAppender lines(text);
    for_row_parts(matrix.offsets.data(), matrix.rows, begin, end, [&](Index row, Offset first, Offset last) {
      for (Offset i = first; i < last; ++i) {
        lines.begin_line();
        lines.add(Offset(row) + 1, ' ');
        lines.add(Offset(matrix.columns[i]) + 1, ' ');
        lines.add(matrix.values[i], '\n');
      }
    });
  });
}

namespace {

template <Value V>
void write_array(const std::string& path, std::span<const V> values, std::size_t columns) {
  const auto rows = static_cast<Offset>(values.size() / columns);
  require_finite(path, values, [&](Offset position) {
    return "position " + std::to_string(position % rows + 1) +
           (columns > 1 ? " of column " + std::to_string(position / rows + 1) : std::string());
  });
  const std::string header = banner("array") + std::to_string(rows) + " " + std::to_string(columns) + "\n";
  io::write_text_file(path, header, static_cast<Offset>(values.size()), {},
                      [&](Offset begin, Offset end, std::string& text) {
                        LineAppender lines(text);
                        for (Offset i = begin; i < end; ++i) {
                          lines.begin_line();
                          lines.add(values[i], '\n');
                        }
                      });
}

}  // namespace

template <Value V>
void write_vector(const std::string& path, std::span<const V> vector) {
  write_array(path, vector, 1);
}

template <Value V>
void io::write_columns(const std::string& path, const Columns<V>& columns) {
  write_array(path, std::span<const V>(columns.values), columns.count);
}

#define WEFT_INSTANTIATE(V)                                                          \
  template void write_matrix_market<V>(const std::string&, const Csr<V>&, Progress); \
  template void write_vector<V>(const std::string&, std::span<const V>);             \
  template void io::write_columns<V>(const std::string&, const io::Columns<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
