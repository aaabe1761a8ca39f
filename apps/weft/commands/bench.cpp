#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "apps/weft/bench_session.hpp"
#include "apps/weft/bench_solve.hpp"
#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/suites.hpp"
#include "bench/papers/papers.hpp"
#include "bench/peers/names.hpp"
#include "bench/peers/peer.hpp"
#include "bench/report/charts.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/writer.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

/// A real finite-element matrix, small enough to be done in a minute on two cores.
const std::vector<std::string> default_sources = {"gen:elasticity3d:24"};

std::vector<std::string> sources_of(const BenchOptions& options) {
  std::vector<std::string> sources = options.sources;
  if (!options.suite.empty())
    for (std::string& source : bench::suite_sources(options.suite, options.folder, options.count))
      sources.push_back(std::move(source));
  return sources.empty() ? default_sources : sources;
}

std::vector<std::string> names_of_papers() {
  std::vector<std::string> names;
  for (const bench::Paper& paper : bench::papers()) names.push_back(paper.name);
  return names;
}

int judge(bool correct, const char* sentence) {
  if (correct) return success;
  complain(sentence);
  return verification_failed;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// What a paper measures is fixed, but for the matrices.
int run_paper(const BenchOptions& options) {
  if (options.formats != "all" || options.peers != "none" || !options.suite.empty() || !options.csv.empty() ||
      !options.svg.empty() || options.order != "none" || !options.parts.empty() ||
      options.vectors != std::vector<int>{1})
    throw UsageError("--paper goes with --device, --type, --seconds, --repeat, --seed, --solve and --json only");
  const bench::Paper& paper = *std::ranges::find(bench::papers(), options.paper, &bench::Paper::name);
  if (options.solve && !paper.solves)
    throw UsageError(fmt::format("paper {} speaks of products only; --solve goes with bce and ehyb", paper.name));
  if (options.solve && !options.for_solve_only.empty())
    throw UsageError(
        fmt::format("--paper with --solve chooses by itself; leave out {}", joined(options.for_solve_only)));
  std::vector<ValueType> types = paper.types;
  if (options.type_given) types = options.reading.value_types();
  if (!paper.several_types && types.size() > 1)
    throw UsageError(fmt::format("--paper {} takes one type, f32 or f64", paper.name));
  if (!options.json.empty() && options.json != "-") require_target_folder(options.json);
  const bench::PaperResult result = paper.run({.sources = options.sources,
                                               .types = types,
                                               .duplicates = options.reading.policy(),
                                               .run = {.device = usable_device(options.device),
                                                       .seconds = options.seconds,
                                                       .groups = options.groups,
                                                       .seed = options.seed},
                                               .solve = options.solve,
                                               .command = command_line(),
                                               .show =
                                                   [&](const std::string& tables) {
                                                     if (options.json != "-") print(tables);
                                                   },
                                               .note = note,
                                               .follow =
                                                   [](const std::string& label, const auto& work) {
                                                     ProgressBar bar(label);
                                                     work(bar.callback());
                                                   }});
  if (!options.json.empty()) write_text(options.json, result.json);
  if (result.stopped) std::rethrow_exception(result.stopped);
  return judge(result.correct, "a format gave a wrong product; please report it");
}

int run_solve(const BenchOptions& options, const std::vector<std::string>& sources) {
  if (!options.not_for_solve.empty())
    throw UsageError(fmt::format("--solve does not go with {}", joined(options.not_for_solve)));
  SolveBenchOptions solving = options.solving;
  require_solvers(solving);
  solving.reading = options.reading;
  solving.sources = sources;
  solving.keep_going = !options.suite.empty();
  solving.parts = options.parts;
  solving.json = options.json;
  solving.csv = options.csv;
  solving.svg = options.svg;
  bench::SolveRunOptions& run = solving.run;
  run.device = usable_device(options.device);
  if (options.formats != "all") {
    run.formats = bench::split_names(options.formats);
  } else if (options.formats_given) {
    run.formats = bench::formats_for(run.device);
    run.formats.emplace_back("auto");
  }
  run.peers = options.peers;
  run.products = options.products.back();
  run.seconds = options.seconds;
  run.repeats = options.groups;
  run.seed = options.seed;
  return run_solve_bench(solving);
}

int run(const BenchOptions& options) {
  options.common.apply();
  if (!options.solve && !options.for_solve_only.empty())
    throw UsageError(fmt::format("{} goes with --solve only", joined(options.for_solve_only)));
  if (!options.paper.empty()) return run_paper(options);
  if ((options.json == "-") + (options.csv == "-") + (options.svg == "-") > 1)
    throw UsageError("only one of --json, --csv and --svg can have standard output; give the others a file");
  if (options.formats != "all")
    for (const std::string& name : bench::split_names(options.formats)) {
      require_format(name);
      require_ordering(options.order, name);
    }
  require_ordering(options.order);
  if (options.suite == "real" && options.folder.empty())
    throw UsageError("--suite real is made of the matrices in a folder; name it with --folder");
  if (!options.folder.empty() && options.suite != "real" && options.suite != "gpu")
    throw UsageError("--folder goes with --suite real (matrices) and --suite gpu (meshes)");
  if (options.from_device && usable_device(options.device).is_cpu())
    throw UsageError("--from-device needs a device with a memory of its own: --device gpu");
  if (options.peers != "none" && options.vectors != std::vector<int>{1})
    throw UsageError("--peers multiply one vector at a time; leave out --vectors");
  const std::vector<std::string> sources = sources_of(options);
  if (!options.parts.empty() && sources.size() != 1)
    throw UsageError(
        fmt::format("{} is of one matrix, but there are {} to measure", options.parts.option(), sources.size()));
  if (const std::string problem = bench::check_peer_names(options.peers); !problem.empty()) throw UsageError(problem);
  for (const std::string& path : {options.json, options.csv, options.svg})
    if (!path.empty() && path != "-") require_target_folder(path);
  if (options.solve) return run_solve(options, sources);

  BenchSession session(options);
  const bench::Report& report = session.report();
  std::exception_ptr stopped;
  try {
    for (const std::string& source : sources)
      if (options.suite == "real")
        session.run_or_tell(source);
      else
        session.run(source);
    session.print_summary();
  } catch (...) {
    if (report.cases.empty()) throw;
    stopped = std::current_exception();  // what was measured before is kept
  }
  if (!options.json.empty()) write_text(options.json, bench::to_text(report));
  if (!options.csv.empty()) write_text(options.csv, bench::to_csv(report));
  if (!options.svg.empty()) write_text(options.svg, bench::time_chart_svg(report));
  if (stopped) std::rethrow_exception(stopped);
  return judge(report.all_correct(), "a format gave a wrong product, see WRONG in the table; please report it");
}

}  // namespace

Command add_bench(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("bench", "measure every format on matrices");
  const auto options = std::make_shared<BenchOptions>();
  parser->add_option("SOURCE", options->sources, "matrix files or generators (default gen:elasticity3d:24)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser
      ->add_option("--suite", options->suite,
                   "measure a set of matrices: quick (a minute on 2 cores), cpu, gpu (large; meshes of --folder too), "
                   "or real (files of --folder)")
      ->type_name("NAME")
      ->check(CLI::IsMember(bench::suite_names()));
  parser
      ->add_option("--folder", options->folder,
                   "with --suite real: a folder of matrix files, with an INDEX.tsv if it has one; with gpu: of meshes")
      ->type_name("DIR");
  parser->add_option("--count", options->count, "how many of a folder's matrices, small to large (default 20)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  parser
      ->add_option(
          "--paper", options->paper,
          "what a paper measured, on these matrices or else on generated ones like its own: " + bench::papers_text())
      ->type_name("NAME")
      ->check(CLI::IsMember(names_of_papers()));
  parser
      ->add_option("--formats", options->formats,
                   "all, or names separated by commas: csr,sell:c=16 (default all; with --solve auto)")
      ->type_name("LIST");
  parser
      ->add_option("--order", options->order,
                   "store the matrices in another order: " + bench::one_of_orderings() + " (default none)")
      ->type_name("ORDERING");
  options->parts.add_to(*parser);
  parser->add_option("--device", options->device, "cpu, gpu, gpuN or emulator (default cpu)")->type_name("DEVICE");
  parser
      ->add_option("--peers", options->peers,
                   "compare with other libraries: none, all, or names separated by commas: " +
                       bench::peer_library_names() + " (default none)")
      ->type_name("LIST");
  parser
      ->add_option("--products", options->products,
                   "how many products are to come: what auto, and peers that tune themselves, plan for; for several "
                   "numbers, separated by commas, auto plans anew (default 1000)")
      ->type_name("N")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000000}));
  parser
      ->add_option("--vectors", options->vectors,
                   "vectors of a product, whose times are of all of them; several numbers, separated by commas, are "
                   "measured one after the other (default 1)")
      ->type_name("N")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  parser
      ->add_option("--layout", options->layout,
                   "how several vectors are stored: column (one after the other) or row (an element of each side by "
                   "side, which is faster) (default column)")
      ->type_name("LAYOUT")
      ->check(CLI::IsMember({"column", "row"}));
  parser->add_option("--seconds", options->seconds, "time to spend on each measurement (default 0.5)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 3600.0));
  parser
      ->add_option("--repeat", options->groups,
                   "groups of products each measurement is made of; with --solve solves at most (default 11)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  parser->add_option("--patience", options->patience, "give up on a format after so long a set-up (default 60)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 1e9));
  parser->add_flag("--no-cold", options->no_cold, "do not also time products with emptied caches");
  parser->add_flag("--from-device", options->from_device,
                   "plan from csr arrays that are in the GPU's memory already, as a program leaves them there");
  parser->add_option("--seed", options->seed, "of the random x (default 1)")->type_name("N");
  parser->add_option("--json", options->json, "write the results as JSON; - is standard output, then without tables")
      ->type_name("FILE");
  parser->add_option("--csv", options->csv, "write the results as CSV; - is standard output, then without tables")
      ->type_name("FILE");
  parser
      ->add_option(
          "--svg", options->svg,
          "draw the time over the number of nonzeros, a line per format, or with --solve the times as bars; - is "
          "standard output")
      ->type_name("FILE");
  parser->add_flag("--solve", options->solve, "measure the time to the x with A x = b, set-up included");
  options->solving.add_to(*parser);
  options->reading.add_to(*parser, true);
  options->common.add_to(*parser);
  parser->footer(
      "First table: time is the median of groups of products, spread the distance of its quartiles, cold the median "
      "of\n"
      "single products after the caches were emptied; GB/s counts the stored matrix, x and y once; 'of bw' relates "
      "that\n"
      "to the bandwidth measured in the same run; 'vs peer' above 1 is faster than the fastest peer.\n"
      "Second table: stored bytes a nonzero, padding in percent of the nonzeros, set-up without bringing the matrix "
      "to\n"
      "the device, the number of products after which csr would have taken longer, and the parameters chosen.\n"
      "With --solve: plan and precond. are the set-up, solve the median of whole solves from x = 0, total all of them; "
      "the\n"
      "residual is computed by the bench, and MISSED where it is more than twice --rtol.\n"
      "'weft report' makes a page of what --json wrote.\n\n"
      "Example:\n  weft bench gen:elasticity3d:16 gen:rmat:12 --seconds 0.1");
  return {parser, [options, parser] {
            options->formats_given = parser->count("--formats") > 0;
            options->type_given = parser->count("--type") > 0;
            const auto given = [&](std::initializer_list<const char*> names) {
              std::vector<std::string> found;
              for (const char* name : names)
                if (parser->count(name) > 0) found.emplace_back(name);
              return found;
            };
            options->not_for_solve =
                given({"--order", "--vectors", "--layout", "--no-cold", "--from-device", "--patience"});
            options->for_solve_only =
                given({"--method", "--preconditioner", "--rtol", "--max-iterations", "--restart"});
            return run(*options);
          }};
}

}  // namespace weft::app
