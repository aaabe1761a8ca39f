#include <weft/io.hpp>

#include "core/file_bytes.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_body.hpp"

namespace weft {
namespace io {

template <Value V>
Array<V> parse_vector(std::string_view text, const std::string& name) {
  const Progress silent;
  ProgressMeter progress(silent, 1);
  if (!is_matrix_market(text)) {
    Array<V> values = read_plain_numbers<V>(LineChunks(text, 1, name), progress);
    if (values.empty()) refuse_line(ErrorCode::parse, name, 1, "the file holds no numbers");
    return values;
  }
  const MatrixMarketHeader header = parse_matrix_market_header(text, name);
  if (header.cols != 1)
    refuse_line(ErrorCode::parse, name, header.body_line - 1,
                "a vector has one column, but this file has " + std::to_string(header.cols));
  const LineChunks lines(text.substr(header.body), header.body_line, name);
  if (header.layout == MatrixMarketHeader::Layout::array && header.symmetry == Symmetry::general)
    return read_array_body<V>(lines, header, progress);
  const Csr<V> matrix = parse_matrix_market<V>(text, name);
  Array<V> values(static_cast<std::size_t>(matrix.rows), V(0));
  for (Index row = 0; row < matrix.rows; ++row)
    if (matrix.offsets[row] < matrix.offsets[row + 1]) values[row] = matrix.values[matrix.offsets[row]];
  return values;
}

#define WEFT_INSTANTIATE(V) template Array<V> parse_vector<V>(std::string_view, const std::string&);
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
