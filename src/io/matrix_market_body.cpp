#include "io/matrix_market_body.hpp"

#include <algorithm>

#include "core/text_cursor.hpp"
#include "io/number_parser.hpp"

namespace weft::io {
namespace {

using Field = MatrixMarketHeader::Field;

constexpr const char* entries_word = "entries";
constexpr const char* values_word = "values";

/// Moves over blank lines and comments to the next entry, or to `end`.
const char* skip_to_entry(const char* at, const char* end) {
  while (at != end) {
    at = skip_blanks(at);
    if (*at != '\n' && *at != '%') return at;
    at = std::find(at, end, '\n') + 1;
  }
  return end;
}

/// What may follow an entry on its line: blanks and a comment. nullptr for anything else, else where the next line
/// begins.
inline const char* finish_line(const char* at, const char* end) {
  if (*at == '\n') return at + 1;
  at = skip_blanks(at);
  if (*at == '\n') return at + 1;
  return *at == '%' ? std::find(at, end, '\n') + 1 : nullptr;
}

template <Value V, Field field>
const char* scan_value(const char* at, const char* end, V& value) {
  if constexpr (field == Field::pattern) {
    value = V(1);
    return at;
  } else if constexpr (field == Field::integer) {
    return scan_integer(at, end, value);
  } else {
    return scan_real(at, end, value);
  }
}

/// Reads a chunk line by line; read_line(at, end, entry) stores one entry and returns the end of its last number, or
/// nullptr.
template <class ReadLine>
ChunkResult read_lines(std::string_view chunk, Offset first, Offset count, ReadLine&& read_line) {
  const char* at = chunk.data();
  const char* const end = at + chunk.size();
  Offset entry = first;
  const Offset last = first + count;
  while (at != end) {
    at = skip_blanks(at);
    if (*at == '\n' || *at == '%') {
      at = skip_to_entry(at, end);
      if (at == end) break;
    }
    if (entry == last) return {.miscounted = true};
    const char* const line = at;
    at = read_line(at, end, entry);
    if (at) at = finish_line(at, end);
    if (!at) return {.error = static_cast<std::size_t>(line - chunk.data())};
    ++entry;
  }
  return {.miscounted = entry != last};
}

bool index_in_range(std::string_view word, Index most) {
  const std::string text = std::string(word) + '\n';
  Index index = 0;
  return scan_index(text.data(), text.data() + text.size(), static_cast<std::uint32_t>(most), index) != nullptr;
}

std::string explain_index(std::string_view word, const char* what, Index most) {
  const std::string one = what, all = one == "row" ? "rows" : "columns";
  if (word.empty()) return "the " + one + " index is missing";
  const std::string_view digits = word.substr(word.front() == '-');
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit))
    return quoted(word) + " stands where a " + one + " index belongs";
  if (word.front() != '-' && index_in_range(word, most)) return {};
  if (most == 0) return "the matrix has no " + all + ", but here is an entry with " + one + " index " + quoted(word);
  return one + " index " + quoted(word) + " is out of range: " + all + " are counted from 1 to " + std::to_string(most);
}

template <Value V>
std::string explain_value_and_rest(std::string_view line, Field field) {
  if (field != Field::pattern) {
    const std::string_view word = take_word(line);
    if (word.empty() || word.front() == '%') return "the value is missing";
    const std::string text = std::string(word) + '\n';
    const char* const end = text.data() + text.size();
    V value{};
    const bool integer = field == Field::integer;
    const char* const stopped = integer ? scan_integer(text.data(), end, value) : scan_real(text.data(), end, value);
    if (!stopped || *stopped != '\n') return explain_value<V>(word, integer);
  }
  const std::string_view rest = take_word(line);
  if (rest.empty() || rest.front() == '%') return {};
  return quoted(rest) + " stands after the end of the entry";
}

/// The fast reader only says which line is wrong; this reads the line once more and says why.
template <Value V>
std::string explain_entry(std::string_view line, const MatrixMarketHeader& header) {
  for (const bool is_row : {true, false}) {
    const std::string wrong = is_row ? explain_index(take_word(line), "row", header.rows)
                                     : explain_index(take_word(line), "column", header.cols);
    if (!wrong.empty()) return wrong;
  }
  const std::string wrong = explain_value_and_rest<V>(line, header.field);
  return wrong.empty() ? "a skew-symmetric matrix has no entries other than zero on its diagonal" : wrong;
}

template <Value V, Field field>
Coo<V> read_coordinate_field(const LineChunks& lines, const MatrixMarketHeader& header, ProgressMeter& progress) {
  Coo<V> entries{header.rows, header.cols, {}, {}, {}};
  const auto rows = static_cast<std::uint32_t>(header.rows), cols = static_cast<std::uint32_t>(header.cols);
  const bool skew = header.symmetry == Symmetry::skew;
  const auto allocate = [&] {
    const auto count = static_cast<std::size_t>(header.entries);
    entries.row_indices = Array<Index>(count);
    entries.column_indices = Array<Index>(count);
    entries.values = Array<V>(count);
  };
  const auto read = [&](std::string_view chunk, Offset first, Offset count) {
    Index* const row_indices = entries.row_indices.data();
    Index* const column_indices = entries.column_indices.data();
    V* const values = entries.values.data();
    return read_lines(chunk, first, count, [&](const char* at, const char* end, Offset entry) -> const char* {
      Index row = 0, column = 0;
      V value{};
      at = scan_index(at, end, rows, row);
      if (!at || !is_blank(*at)) return nullptr;
      at = scan_index(at, end, cols, column);
      if (!at || !is_space(*at)) return nullptr;
      at = scan_value<V, field>(at, end, value);
      if (skew && row == column && value != V(0)) return nullptr;
      row_indices[entry] = row;
      column_indices[entry] = column;
      values[entry] = value;
      return at;
    });
  };
  read_entries(lines, header.entries, entries_word, progress, allocate, read,
               [&](std::string_view line) { return explain_entry<V>(line, header); });
  return entries;
}

template <Value V, Field field>
Array<V> read_values(const LineChunks& lines, Offset count, ProgressMeter& progress) {
  Array<V> values;
  const auto read = [&](std::string_view chunk, Offset first, Offset lines_of_chunk) {
    V* const data = values.data();
    return read_lines(chunk, first, lines_of_chunk, [&](const char* at, const char* end, Offset entry) -> const char* {
      return scan_value<V, field>(at, end, data[entry]);
    });
  };
  read_entries(
      lines, count, values_word, progress, [&] { values = Array<V>(static_cast<std::size_t>(count)); }, read,
      [&](std::string_view line) { return explain_value_and_rest<V>(line, field); });
  return values;
}

}  // namespace

template <Value V>
Coo<V> read_coordinate_body(const LineChunks& lines, const MatrixMarketHeader& header, ProgressMeter& progress) {
  switch (header.field) {
    case Field::real:
      return read_coordinate_field<V, Field::real>(lines, header, progress);
    case Field::integer:
      return read_coordinate_field<V, Field::integer>(lines, header, progress);
    case Field::pattern:
      break;
  }
  return read_coordinate_field<V, Field::pattern>(lines, header, progress);
}

template <Value V>
Array<V> read_array_body(const LineChunks& lines, const MatrixMarketHeader& header, ProgressMeter& progress) {
  if (header.field == Field::integer) return read_values<V, Field::integer>(lines, header.entries, progress);
  return read_values<V, Field::real>(lines, header.entries, progress);
}

template <Value V>
Array<V> read_plain_numbers(const LineChunks& lines, ProgressMeter& progress) {
  return read_values<V, Field::real>(lines, lines.entries(), progress);
}

#define WEFT_INSTANTIATE(V)                                                                              \
  template Coo<V> read_coordinate_body<V>(const LineChunks&, const MatrixMarketHeader&, ProgressMeter&); \
  template Array<V> read_array_body<V>(const LineChunks&, const MatrixMarketHeader&, ProgressMeter&);    \
  template Array<V> read_plain_numbers<V>(const LineChunks&, ProgressMeter&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft::io
