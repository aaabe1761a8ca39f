#pragma once
#include <weft/runtime.hpp>
#include <weft/types.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/progress_meter.hpp"

namespace weft::io {

/// Enough lines to keep a thread busy, few enough to share a file evenly.
constexpr std::size_t usual_chunk_bytes = std::size_t{1} << 20;

/// Lines of which each holds one entry, a comment (begins with %) or nothing, cut at newlines into chunks that threads
/// can read on their own. Every chunk ends with a newline. The text must outlive it.
class LineChunks {
 public:
  /// `first_line` is the number of the text's first line in its file, `name` the file's.
  LineChunks(std::string_view text, std::size_t first_line, const std::string& name,
             std::size_t chunk_bytes = usual_chunk_bytes);

  std::size_t chunks() const { return starts_.size() - 1; }
  std::string_view chunk(std::size_t index) const;

  /// How many entry lines there are in each chunk. Throws Error(parse) unless they are `expected` in all. `what` is
  /// what a line holds, in the plural, for that sentence.
  std::vector<Offset> count_entries(Offset expected, const char* what) const;

  /// How many entry lines there are in all.
  Offset entries() const;

  /// The quick guess: every line is an entry. Right for nearly all files; found wrong by the chunk that is read.
  std::vector<Offset> count_lines() const;

  /// The number of the line that begins at `offset` in `chunk`.
  std::size_t line_number(std::size_t chunk, std::size_t offset) const;
  /// The number of the line that holds the entry `position`, counted from 0.
  std::size_t entry_line(Offset position) const;

  std::size_t bytes() const { return text_.size(); }
  const std::string& name() const { return name_; }

 private:
  std::vector<Offset> entries_per_chunk() const;
  std::size_t last_line() const;

  std::string_view text_;
  std::string tail_;  ///< the last chunk with the newline that the file lacks, or empty
  std::vector<std::size_t> starts_;
  std::size_t first_line_;
  const std::string& name_;
};

/// What became of one chunk.
struct ChunkResult {
  static constexpr std::size_t no_error = std::numeric_limits<std::size_t>::max();
  std::size_t error = no_error;  ///< offset of the first line that is wrong
  bool miscounted = false;       ///< there were not as many entries as counted
};

/// Prepares and reads `expected` entries: counts, lets `allocate` take memory once the file is known to hold them,
/// reads all chunks in parallel with read(text, first_entry, entries). Throws Error(parse) as count_entries does, or
/// for the first line of the file that is wrong, which explain(line) says more of; neither depends on threads or
/// chunks.
void read_entries(const LineChunks& lines, Offset expected, const char* what, ProgressMeter& progress,
                  const std::function<void()>& allocate,
                  const std::function<ChunkResult(std::string_view, Offset, Offset)>& read,
                  const std::function<std::string(std::string_view)>& explain);

}  // namespace weft::io
