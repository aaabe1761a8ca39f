#include "io/line_chunks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "core/text_cursor.hpp"
#include "io/matrix_market_header.hpp"
#include "sparse/row_parts.hpp"

namespace weft::io {
namespace {

/// Eight bytes a step: a newline leaves a 1 in its byte, at most 255 steps add up before a byte could overflow.
std::size_t count_newlines(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101, low_bits = 0x7f7f7f7f7f7f7f7f;
  std::size_t total = 0, at = 0;
  while (text.size() - at >= 8) {
    const std::size_t steps = std::min<std::size_t>((text.size() - at) / 8, 255);
    std::uint64_t sums = 0;
    for (std::size_t step = 0; step < steps; ++step, at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      word ^= ones * '\n';
      sums += (~(((word & low_bits) + low_bits) | word) >> 7) & ones;
    }
    const std::uint64_t pairs = (sums & 0x00ff00ff00ff00ff) + ((sums >> 8) & 0x00ff00ff00ff00ff);
    total += (pairs * 0x0001000100010001) >> 48;
  }
  return total + static_cast<std::size_t>(std::count(text.begin() + at, text.end(), '\n'));
}

/// The offset of the next entry line at or after `at`, which is a line's begin; the text's size when there is none.
std::size_t find_entry(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const std::size_t begin = at;
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at < text.size() && text[at] != '\n' && text[at] != '%') return begin;
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return text.size();
}

std::size_t next_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

Offset count_entry_lines(std::string_view text) {
  Offset count = 0;
  for (std::size_t at = find_entry(text, 0); at < text.size(); at = find_entry(text, next_line(text, at))) ++count;
  return count;
}

}  // namespace

LineChunks::LineChunks(std::string_view text, std::size_t first_line, const std::string& name, std::size_t chunk_bytes)
    : first_line_(first_line), name_(name) {
  // Blank lines at the end are dropped, but the newline that ends the last entry stays.
  std::size_t end = text.size();
  while (end > 0 && is_space(text[end - 1])) --end;
  const std::size_t newline = text.find('\n', end);
  const bool ended = newline != std::string_view::npos;
  text_ = end == 0 ? std::string_view() : text.substr(0, ended ? newline + 1 : end);

  starts_.push_back(0);
  while (starts_.back() < text_.size()) {
    const std::size_t goal = starts_.back() + chunk_bytes;
    const std::size_t cut = goal < text_.size() ? text_.find('\n', goal) : std::string_view::npos;
    starts_.push_back(cut == std::string_view::npos ? text_.size() : cut + 1);
  }
  if (!ended && !text_.empty()) tail_ = std::string(text_.substr(starts_[starts_.size() - 2])) + '\n';
}

std::string_view LineChunks::chunk(std::size_t index) const {
  if (index + 1 == chunks() && !tail_.empty()) return tail_;
  return text_.substr(starts_[index], starts_[index + 1] - starts_[index]);
}

std::vector<Offset> LineChunks::count_lines() const {
  std::vector<Offset> counts(chunks());
  parallel_for(static_cast<std::int64_t>(chunks()), 1,
               [&](std::int64_t c) { counts[c] = static_cast<Offset>(count_newlines(chunk(c))); });
  return counts;
}

std::vector<Offset> LineChunks::entries_per_chunk() const {
  std::vector<Offset> counts(chunks());
  parallel_for(static_cast<std::int64_t>(chunks()), 1,
               [&](std::int64_t c) { counts[c] = count_entry_lines(chunk(c)); });
  return counts;
}

Offset LineChunks::entries() const {
  const std::vector<Offset> counts = entries_per_chunk();
  return std::reduce(counts.begin(), counts.end(), Offset{0});
}

std::vector<Offset> LineChunks::count_entries(Offset expected, const char* what) const {
  const std::vector<Offset> counts = entries_per_chunk();
  const Offset found = std::reduce(counts.begin(), counts.end(), Offset{0});
  const std::string announced = std::to_string(expected) + " " + what;
  if (found > expected)
    refuse_line(ErrorCode::parse, name_, entry_line(expected),
                "more text stands after the " + announced + " that the size line announces");
  if (found < expected)
    refuse_line(
        ErrorCode::parse, name_, last_line(),
        "the file ends after " + std::to_string(found) + " of the " + announced + " that the size line announces");
  return counts;
}

/// Of a text without lines, the one before it: the size line.
std::size_t LineChunks::last_line() const {
  const bool ended = text_.empty() || text_.back() == '\n';
  return first_line_ + count_newlines(text_) - (ended ? 1 : 0);
}

std::size_t LineChunks::line_number(std::size_t chunk_index, std::size_t offset) const {
  return first_line_ + count_newlines(text_.substr(0, starts_[chunk_index] + offset));
}

std::size_t LineChunks::entry_line(Offset position) const {
  std::size_t at = find_entry(text_, 0);
  for (Offset entry = 0; entry < position && at < text_.size(); ++entry) at = find_entry(text_, next_line(text_, at));
  return line_number(0, std::min(at, text_.size()));
}

// 1. Guess that every line is an entry; count exactly when the number of lines says otherwise.
// 2. Only now that the file is known to be large enough take the memory.
// 3. Read. Chunks after one that is wrong need not be read; those before it must, as the first error counts.
// 4. When something is wrong, count exactly: a line without an entry, which the guess took for one, means that entries
//    are missing. That is told rather than a wrong line, whichever chunk met its trouble first.
void read_entries(const LineChunks& lines, Offset expected, const char* what, ProgressMeter& progress,
                  const std::function<void()>& allocate,
                  const std::function<ChunkResult(std::string_view, Offset, Offset)>& read,
                  const std::function<std::string(std::string_view)>& explain) {
  std::vector<Offset> counts = lines.count_lines();
  if (std::reduce(counts.begin(), counts.end(), Offset{0}) != expected) counts = lines.count_entries(expected, what);
  allocate();

  std::vector<Offset> first_entry(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), first_entry.begin(), Offset{0});
  std::vector<ChunkResult> results(counts.size());
  FirstPosition first_wrong;
  parallel_for(static_cast<std::int64_t>(lines.chunks()), 1, [&](std::int64_t c) {
    if (c > first_wrong.get()) return;
    const std::string_view text = lines.chunk(c);
    results[c] = read(text, first_entry[c], counts[c]);
    if (results[c].error != ChunkResult::no_error || results[c].miscounted) first_wrong.report(c);
    progress.add(static_cast<std::int64_t>(text.size()));
  });
  if (!first_wrong.found()) return;

  lines.count_entries(expected, what);
  const std::int64_t wrong = first_wrong.get();
  if (results[wrong].miscounted) throw Error(ErrorCode::internal, lines.name() + ": the entries were counted wrong");
  const std::size_t offset = results[wrong].error;
  std::string_view line = lines.chunk(wrong).substr(offset);
  line = line.substr(0, line.find('\n'));
  refuse_line(ErrorCode::parse, lines.name(), lines.line_number(wrong, offset), explain(line));
}

}  // namespace weft::io
