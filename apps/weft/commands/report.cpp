#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <memory>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "bench/harness/run.hpp"
#include "bench/report/instructions.hpp"
#include "bench/report/json_file.hpp"
#include "bench/report/page.hpp"
#include "bench/report/reader.hpp"
#include "bench/report/solve_page.hpp"
#include "bench/report/solve_reader.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

using bench::report_page;
using bench::ReportFile;

struct ReportOptions {
  CommonOptions common;
  std::vector<std::string> results;
  std::string instructions;
  std::string output = "report.html";
};

/// A page without the chart that was requested would be a surprise: counts that fit nowhere are an error.
void add_counts(std::vector<ReportFile>& files, const std::string& path) {
  const bench::InstructionCounts counts = bench::read_instruction_counts(path);
  std::size_t found = 0;
  for (ReportFile& file : files) found += bench::add_instructions(file.report, counts, file.path, path);
  if (found == 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: no count is of a matrix, type, format and instruction set ({}) of {}, expected some: "
                            "tools/count-instructions makes them, or measure what is counted with WEFT_ISA set",
                            path, files.front().report.machine.isa, files.front().path));
}

/// A page of products or one of solves, as the files are; what they measure has nothing to be compared by.
std::string page_of(const ReportOptions& options) {
  std::vector<ReportFile> files;
  std::vector<bench::SolveReportFile> solves;
  for (const std::string& path : options.results) {
    const std::string text = bench::read_text(path, "results of weft bench");
    if (bench::is_solve_report(text, path)) {
      solves.push_back({path, bench::parse_solve_report(text, path)});
      continue;
    }
    files.push_back({path, bench::parse_report(text, path)});
    // Schema 1 had no ranks.
    for (bench::Case& one : files.back().report.cases)
      if (std::ranges::all_of(one.measurements, [](const bench::Measurement& m) { return m.rank == 0; }))
        bench::compare(one);
  }
  if (!solves.empty() && !files.empty())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: results of weft bench --solve, but those of {} are of products, expected files of one "
                            "kind: make a page of each",
                            solves.front().path, files.front().path));
  if (!solves.empty() && !options.instructions.empty())
    throw UsageError("--instructions goes with results of products, not of weft bench --solve");
  if (!solves.empty()) return bench::solve_page(solves);
  if (!options.instructions.empty()) add_counts(files, options.instructions);
  return report_page(files);
}

int run(const ReportOptions& options) {
  options.common.apply();
  if (options.output != "-") require_target_folder(options.output);
  write_text(options.output, page_of(options));
  if (options.output != "-") note("wrote " + options.output);
  return success;
}

}  // namespace

Command add_report(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("report", "draw results of bench as one page for a browser");
  const auto options = std::make_shared<ReportOptions>();
  parser
      ->add_option("RESULTS", options->results, "files that 'weft bench --json FILE' wrote, of one machine and device")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser->add_option("-o,--output", options->output, "page to write; - is standard output (default report.html)")
      ->type_name("FILE");
  parser->add_option("--instructions", options->instructions, "draw what tools/count-instructions counted, too")
      ->type_name("FILE");
  options->common.add_to(*parser);
  parser->footer(
      "The page is one file without scripts or pictures from elsewhere: it opens anywhere and can be mailed. It has "
      "the\n"
      "headline, a performance profile, speed by matrix, roofline, what set-up costs and where each format starts to\n"
      "win, portraits of the matrices, a table that sorts, and how to repeat the run.\n\n"
      "Example:\n"
      "  weft bench gen:elasticity3d:12 --seconds 0.05 --json results.json\n"
      "  weft report results.json -o report.html");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
