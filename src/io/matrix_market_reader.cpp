#include <weft/coo.hpp>
#include <weft/io.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/file_bytes.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_assemble.hpp"
#include "io/matrix_market_body.hpp"
#include "sparse/canonical.hpp"

namespace weft {
namespace io {
namespace {

using Header = MatrixMarketHeader;

/// The share of the progress bar that reading the text gets; the rest is for sorting.
constexpr double reading_share = 0.9;

/// Finds the first entry of the file at a place that another one has taken and refuses it. Reads the entries anew: of
/// a symmetric file they have been folded, and the sentence names them as the file does.
template <Value V>
void refuse_first_duplicate(const Header& header, const LineChunks& lines) {
  const Progress silent;
  ProgressMeter progress(silent, 1);
  const Coo<V> entries = read_coordinate_body<V>(lines, header, progress);
  const auto place = [&](Offset i) {
    const Index row = entries.row_indices[i], column = entries.column_indices[i];
    if (header.symmetry == Symmetry::general) return std::pair(row, column);
    return std::pair(std::max(row, column), std::min(row, column));
  };
  std::vector<Offset> order(entries.values.size());
  std::iota(order.begin(), order.end(), Offset(0));
  std::sort(order.begin(), order.end(),
            [&](Offset a, Offset b) { return std::pair(place(a), a) < std::pair(place(b), b); });
  Offset first = -1, second = -1;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (place(order[i - 1]) == place(order[i]) && (second < 0 || order[i] < second)) {
      first = order[i - 1];
      second = order[i];
    }
  if (second < 0) return;
  const auto at = [&](Offset i) {
    return "row " + std::to_string(entries.row_indices[i] + 1) + ", column " +
           std::to_string(entries.column_indices[i] + 1);
  };
  refuse_line(ErrorCode::parse, lines.name(), lines.entry_line(second),
              "the entry at " + at(second) + " is a duplicate of the one at " + at(first) + " in line " +
                  std::to_string(lines.entry_line(first)));
}

/// The matrix of a coordinate file, or its lower half.
template <Value V>
Csr<V> read_coordinate(const LineChunks& lines, const Header& header, const ReadOptions& options,
                       ProgressMeter& progress) {
  Coo<V> entries = read_coordinate_body<V>(lines, header, progress);
  check_offsets_memory(lines.name(), header.rows);
  if (header.symmetry != Symmetry::general) fold_below_diagonal(entries, header.symmetry == Symmetry::skew);
  try {
    return to_csr(entries, options.duplicates);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_matrix) refuse_first_duplicate<V>(header, lines);
    throw;
  }
}

template <Value V>
Csr<V> read_array(const LineChunks& lines, const Header& header, ProgressMeter& progress) {
  const Array<V> values = read_array_body<V>(lines, header, progress);
  check_offsets_memory(lines.name(), header.rows);
  return array_to_csr(values, header);
}

}  // namespace

// 1. The header describes what follows. 2. The body is cut into chunks that are read in parallel. 3. The entries, of a
// symmetric file folded below the diagonal, are sorted into rows.
template <Value V>
AsStored<V> parse_matrix_market_as_stored(std::string_view text, const std::string& name, const ReadOptions& options,
                                          std::size_t chunk_bytes) {
  const Header header = parse_matrix_market_header(text, name);
  const LineChunks lines(text.substr(header.body), header.body_line, name, chunk_bytes);
  ProgressMeter progress(options.progress, static_cast<std::int64_t>(lines.bytes()), 0, reading_share);
  Csr<V> matrix = header.layout == Header::Layout::coordinate ? read_coordinate<V>(lines, header, options, progress)
                                                              : read_array<V>(lines, header, progress);
  if (options.progress && !options.progress(1)) throw Error(ErrorCode::cancelled, "cancelled");
  if (header.symmetry == Symmetry::general) return matrix;
  return HalfCsr<V>{std::move(matrix), header.symmetry};
}

template <Value V>
AsStored<V> read_matrix_market_as_stored(const std::string& path, const ReadOptions& options) {
  const FileBytes file = read_file(path);
  return parse_matrix_market_as_stored<V>(file.text(), path, options);
}

#define WEFT_INSTANTIATE(V)                                                                                       \
  template AsStored<V> parse_matrix_market_as_stored<V>(std::string_view, const std::string&, const ReadOptions&, \
                                                        std::size_t);                                             \
  template AsStored<V> read_matrix_market_as_stored<V>(const std::string&, const ReadOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
Csr<V> read_matrix_market(const std::string& path, const ReadOptions& options) {
  return whole(io::read_matrix_market_as_stored<V>(path, options));
}

#define WEFT_INSTANTIATE(V) template Csr<V> read_matrix_market<V>(const std::string&, const ReadOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
