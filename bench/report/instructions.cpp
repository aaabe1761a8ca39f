#include "instructions.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <nlohmann/json.hpp>

#include "json_file.hpp"

namespace weft::bench {
namespace {

constexpr const char* kind = "a record of tools/count-instructions";

// More than anybody counts.
constexpr std::size_t max_matrices = 10'000, max_settings = 100, max_formats = 1000;
constexpr double max_count = 1e9;

}  // namespace

InstructionCounts parse_instruction_counts(std::string_view text, const std::string& name) {
  const Place::Json json = parse_json(text, name, kind);
  const Place file(json, name, "", kind);
  InstructionCounts counts;
  counts.build = file["build"].text();
  counts.counter = file["counter"].text();
  for (const auto& [source, settings] : file["instructions_per_nonzero"].fields(max_matrices))
    for (const auto& [setting, formats] : settings.fields(max_settings))
      for (const auto& [format, count] : formats.fields(max_formats)) {
        const double instructions = count.number(0, max_count, "instructions per nonzero");
        if (!(instructions > 0)) count.expected("instructions per nonzero");
        counts.all[source][setting][format] = instructions;
      }
  return counts;
}

InstructionCounts read_instruction_counts(const std::string& path) {
  return parse_instruction_counts(read_text(path, kind), path);
}

std::size_t add_instructions(Report& report, const InstructionCounts& counts, const std::string& report_name,
                             const std::string& counts_name) {
  const std::string build = fmt::format("{}, {}", report.machine.compiler, report.machine.build_type);
  if (build != counts.build)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: counted in a build of {}, but {} is of {}, expected counts of the same build: "
                            "tools/count-instructions makes them",
                            counts_name, counts.build, report_name, build));
  if (!report.device.is_cpu()) return 0;
  std::size_t found = 0;
  for (Case& one : report.cases) {
    if (one.ordering != Ordering::none) continue;
    const auto settings = counts.all.find(one.source);
    if (settings == counts.all.end()) continue;
    const auto formats = settings->second.find(fmt::format("{} {}", to_string(one.type), report.machine.isa));
    if (formats == settings->second.end()) continue;
    for (Measurement& m : one.measurements) {
      const auto count = formats->second.find(m.name);
      if (m.peer || !m.counts() || count == formats->second.end()) continue;
      m.instructions_per_nonzero = count->second;
      ++found;
    }
  }
  if (found > 0) report.counted_by = fmt::format("{}, {}", counts.counter, counts.build);
  return found;
}

}  // namespace weft::bench
