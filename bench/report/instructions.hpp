#pragma once
#include <map>
#include <string>
#include <string_view>

#include "bench/harness/result.hpp"

namespace weft::bench {

/// What `tools/count-instructions` recorded: how many instructions a product of a format on a CPU takes per nonzero.
/// They are exact and depend on the build only, not on a run, so they are in a file of their own.
struct InstructionCounts {
  using Formats = std::map<std::string, double, std::less<>>;
  using Settings = std::map<std::string, Formats, std::less<>>;

  std::string build;                                 ///< compiler and build type: "GNU 12.2.0, Release"
  std::string counter;                               ///< "callgrind"
  std::map<std::string, Settings, std::less<>> all;  ///< by matrix, by type and instruction set ("f64 avx2"), by format
};

/// Throws Error(io) when the file cannot be read, and Error(parse) with a sentence that names the place when it is not
/// such a record.
InstructionCounts read_instruction_counts(const std::string& path);

/// The same from text in memory; `name` is used in sentences as the file's name.
InstructionCounts parse_instruction_counts(std::string_view text, const std::string& name);

/// Fills in Measurement::instructions_per_nonzero where the same matrix, type, instruction set and format was counted,
/// and Report::counted_by. Returns in how many measurements: none of a GPU, of a peer, or of a matrix that was stored
/// in another order. Throws Error(invalid_argument) when the report is of another build: other compilers make other
/// instructions. `counts_name` and `report_name` are for that sentence.
std::size_t add_instructions(Report& report, const InstructionCounts& counts, const std::string& report_name,
                             const std::string& counts_name);

}  // namespace weft::bench
