#include <weft/coo.hpp>
#include <weft/io.hpp>

#include <algorithm>
#include <numeric>

#include "core/file_bytes.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_body.hpp"
#include "io/matrix_market_expand.hpp"

namespace weft {
namespace io {
namespace {

using Header = MatrixMarketHeader;

/// The share of the progress bar that reading the text gets; the rest is for sorting.
constexpr double reading_share = 0.9;

/// A size line may claim more rows than there is memory for their offsets, with hardly an entry behind it.
void check_memory(const Header& header, const std::string& name) {
  const std::size_t needed = (static_cast<std::size_t>(header.rows) + 1) * sizeof(Offset);
  if (needed > machine_memory())
    throw Error(ErrorCode::out_of_memory, name + ": " + std::to_string(header.rows) + " rows need " +
                                              std::to_string(needed >> 30) + " GiB, more memory than this machine has");
}

/// Finds the first entry of the file that stands at a place already taken and refuses it.
template <Value V>
void refuse_first_duplicate(const Coo<V>& entries, const Header& header, const LineChunks& lines) {
  const auto place = [&](Offset i) {
    const Index row = entries.row_indices[i], column = entries.column_indices[i];
    if (header.symmetry == Header::Symmetry::general) return std::pair(row, column);
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

template <Value V>
Csr<V> read_coordinate(const LineChunks& lines, const Header& header, const ReadOptions& options,
                       ProgressMeter& progress) {
  Coo<V> entries = read_coordinate_body<V>(lines, header, progress);
  check_memory(header, lines.name());
  if (options.duplicates == Duplicates::refuse) {
    try {
      if (header.symmetry == Header::Symmetry::general) return to_csr(entries, Duplicates::refuse);
      return to_csr(add_mirror_images(entries, header.symmetry == Header::Symmetry::skew), Duplicates::refuse);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_matrix) refuse_first_duplicate(entries, header, lines);
      throw;
    }
  }
  if (header.symmetry != Header::Symmetry::general)
    entries = add_mirror_images(entries, header.symmetry == Header::Symmetry::skew);
  return to_csr(entries, Duplicates::sum);
}

}  // namespace

// 1. The header says what follows. 2. The body is cut into chunks that are read in parallel. 3. Stored halves are
// expanded and the entries sorted into rows.
template <Value V>
Csr<V> parse_matrix_market(std::string_view text, const std::string& name, const ReadOptions& options,
                           std::size_t chunk_bytes) {
  const Header header = parse_matrix_market_header(text, name);
  const LineChunks lines(text.substr(header.body), header.body_line, name, chunk_bytes);
  ProgressMeter progress(options.progress, static_cast<std::int64_t>(lines.bytes()), 0, reading_share);
  Csr<V> matrix;
  if (header.layout == Header::Layout::coordinate) {
    matrix = read_coordinate<V>(lines, header, options, progress);
  } else {
    const Array<V> values = read_array_body<V>(lines, header, progress);
    check_memory(header, name);
    matrix = array_to_csr(values, header);
  }
  if (options.progress && !options.progress(1)) throw Error(ErrorCode::cancelled, "cancelled");
  return matrix;
}

#define WEFT_INSTANTIATE(V) \
  template Csr<V> parse_matrix_market<V>(std::string_view, const std::string&, const ReadOptions&, std::size_t);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
Csr<V> read_matrix_market(const std::string& path, const ReadOptions& options) {
  const io::FileBytes file = io::read_file(path);
  return io::parse_matrix_market<V>(file.text(), path, options);
}

#define WEFT_INSTANTIATE(V) template Csr<V> read_matrix_market<V>(const std::string&, const ReadOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
