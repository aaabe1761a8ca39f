#include <weft/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/report/instructions.hpp"
#include "bench/report/page.hpp"
#include "bench/report/reader.hpp"
#include "bench/report/solve_page.hpp"
#include "bench/report/solve_reader.hpp"
#include "bench/report/solve_report.hpp"
#include "require.hpp"

namespace {

using namespace weft::bench;

/// Counts of instructions that are accepted give a page with any result.
void page_of_counts(std::string_view text) {
  try {
    const InstructionCounts counts = parse_instruction_counts(text, "fuzz.json");
    Report report;
    report.bandwidth = 1e10;
    report.machine.isa = "avx2";
    for (const auto& [source, settings] : counts.all)
      for (const auto& [setting, formats] : settings) {
        Case& one = report.cases.emplace_back();
        one.source = source;
        one.nonzeros = 10;
        for (const auto& [format, instructions] : formats) {
          Measurement& m = one.measurements.emplace_back();
          m.name = format;
          m.timing.median = 1e-6;
          m.gflops = 0.02;
          m.gigabytes = 0.1;
          m.instructions_per_nonzero = instructions;
        }
        if (report.cases.size() == 8) break;
      }
    require(report_page({{"fuzz.json", report}}).ends_with("</html>\n"));
  } catch (const weft::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzz.json: "));
  }
}

/// Nothing of the file is markup.
void require_page(const std::string& page) {
  require(page.ends_with("</html>\n"));
  const std::size_t script = page.find("<script");
  require(script != std::string::npos && page.find("<script", script + 1) == std::string::npos);
}

/// Results of solves that are accepted give a page, tables and a picture.
void page_of_solves(std::string_view text) {
  try {
    const SolveBenchReport report = parse_solve_report(text, "fuzz.json");
    require_page(solve_page({{"fuzz.json", report}}));
    for (const SolveCase& one : report.cases) require(!tables_of(one, true).empty());
    require(solve_chart_svg(report).ends_with("</svg>\n"));
  } catch (const weft::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzz.json: "));
  }
}

}  // namespace

/// Whatever the bytes are, the reader of results answers with a report or with an Error; a report it accepts gives a
/// page, in which nothing of the file is markup.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  page_of_counts(text);
  page_of_solves(text);
  try {
    require_page(report_page({{"fuzz.json", parse_report(text, "fuzz.json")}}));
  } catch (const weft::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzz.json: "));
  }
  return 0;
}
