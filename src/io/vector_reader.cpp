#include <weft/io.hpp>

#include "core/file_bytes.hpp"
#include "io/columns_file.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_body.hpp"

namespace weft {
namespace io {

namespace {

/// More right sides than anybody has: beyond, a short file could request much memory.
constexpr Index max_columns = 1 << 16;

template <Value V>
Columns<V> columns_of(const Csr<V>& matrix) {
  Columns<V> columns{static_cast<std::size_t>(matrix.rows), static_cast<std::size_t>(matrix.cols), {}};
  columns.values = Array<V>(columns.rows * columns.count, V(0));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      columns[static_cast<std::size_t>(matrix.columns[k])][static_cast<std::size_t>(row)] = matrix.values[k];
  return columns;
}

}  // namespace

template <Value V>
Columns<V> parse_columns(std::string_view text, const std::string& name) {
  const Progress silent;
  ProgressMeter progress(silent, 1);
  if (!is_matrix_market(text)) {
    Array<V> values = read_plain_numbers<V>(LineChunks(text, 1, name), progress);
    if (values.empty()) refuse_line(ErrorCode::parse, name, 1, "the file holds no numbers");
    const std::size_t rows = values.size();
    return {rows, 1, std::move(values)};
  }
  const MatrixMarketHeader header = parse_matrix_market_header(text, name);
  if (header.cols < 1) refuse_line(ErrorCode::parse, name, header.body_line - 1, "the file has no columns");
  if (header.cols > max_columns)
    refuse_line(ErrorCode::unsupported, name, header.body_line - 1,
                "the file has " + std::to_string(header.cols) + " columns, at most " + std::to_string(max_columns) +
                    " vectors can be read");
  const bool full = header.layout == MatrixMarketHeader::Layout::array && header.symmetry == Symmetry::general;
  if (!full) return columns_of(parse_matrix_market<V>(text, name));
  const LineChunks lines(text.substr(header.body), header.body_line, name);
  return {static_cast<std::size_t>(header.rows), static_cast<std::size_t>(header.cols),
          read_array_body<V>(lines, header, progress)};
}

template <Value V>
Array<V> parse_vector(std::string_view text, const std::string& name) {
  if (is_matrix_market(text)) {
    const MatrixMarketHeader header = parse_matrix_market_header(text, name);
    if (header.cols != 1)
      refuse_line(ErrorCode::parse, name, header.body_line - 1,
                  "a vector has one column, but this file has " + std::to_string(header.cols));
  }
  return parse_columns<V>(text, name).values;
}

template <Value V>
Columns<V> read_columns(const std::string& path) {
  const FileBytes file = read_file(path);
  return parse_columns<V>(file.text(), path);
}

#define WEFT_INSTANTIATE(V)                                                   \
  template Columns<V> parse_columns<V>(std::string_view, const std::string&); \
  template Columns<V> read_columns<V>(const std::string&);                    \
  template Array<V> parse_vector<V>(std::string_view, const std::string&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
Array<V> read_vector(const std::string& path) {
  const io::FileBytes file = io::read_file(path);
  return io::parse_vector<V>(file.text(), path);
}

#define WEFT_INSTANTIATE(V) template Array<V> read_vector<V>(const std::string&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
