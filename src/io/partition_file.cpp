#include <weft/error.hpp>
#include <weft/partition.hpp>

#include <algorithm>
#include <charconv>

#include "core/file_bytes.hpp"
#include "core/text_cursor.hpp"
#include "io/matrix_market_header.hpp"
#include "io/partition_file.hpp"
#include "io/text_writer.hpp"

namespace weft {
namespace ordering {

Partition parse_partition(std::string_view text, const std::string& name, Index rows) {
  Partition result;
  // A wrong file does not get memory for rows that it has no numbers for.
  const std::size_t lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  Array<Index> part_of(std::min(lines, static_cast<std::size_t>(rows)));
  Index row = 0;
  io::LineCursor cursor(text);
  while (cursor.next_content()) {
    std::string_view rest = cursor.line();
    const std::string_view word = io::take_word(rest);
    if (word.front() == '#') continue;
    const auto refuse = [&](const std::string& sentence) {
      io::refuse_line(ErrorCode::parse, name, cursor.number(), sentence);
    };
    if (row == rows) refuse("here is another number, but the matrix has only " + std::to_string(rows) + " rows");
    Index part = 0;
    const auto [stopped, error] = std::from_chars(word.data(), word.data() + word.size(), part);
    const bool is_number = error != std::errc::invalid_argument && stopped == word.data() + word.size();
    if (!is_number || word.front() == '-' || !io::trim(rest).empty())
      refuse("expected one part number from 0, found " + io::quoted(io::trim(cursor.line())));
    if (error == std::errc::result_out_of_range || part >= rows)
      refuse("part " + std::string(word) + " is too large: " + std::to_string(rows) + " rows are in parts 0 to " +
             std::to_string(rows - 1) + " at most");
    part_of[row++] = part;
    result.parts = std::max(result.parts, part + 1);
  }
  if (row < rows)
    io::refuse_line(ErrorCode::parse, name, cursor.number() + 1,
                    "the file ends after " + std::to_string(row) + (row == 1 ? " number" : " numbers") +
                        ", but the matrix has " + std::to_string(rows) + " rows");
  result.part_of = std::move(part_of);
  return result;
}

}  // namespace ordering

Partition read_partition(const std::string& path, Index rows) {
  const io::FileBytes file = io::read_file(path);
  return ordering::parse_partition(file.text(), path, rows);
}

void write_partition(const std::string& path, const Partition& partition) {
  io::write_text_file(path, "", static_cast<std::int64_t>(partition.part_of.size()), {},
                      [&](std::int64_t begin, std::int64_t end, std::string& text) {
                        for (std::int64_t row = begin; row < end; ++row)
                          text += std::to_string(partition.part_of[row]) + '\n';
                      });
}

}  // namespace weft
