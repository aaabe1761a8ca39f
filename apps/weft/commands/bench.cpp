#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "apps/weft/bench_solve.hpp"
#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/harness/cache_bandwidth.hpp"
#include "bench/harness/run.hpp"
#include "bench/harness/solvers.hpp"
#include "bench/harness/suites.hpp"
#include "bench/papers/papers.hpp"
#include "bench/peers/names.hpp"
#include "bench/peers/peer.hpp"
#include "bench/report/charts.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/summary.hpp"
#include "bench/report/tables.hpp"
#include "bench/report/writer.hpp"
#include "commands.hpp"
#include "plan/bandwidth.hpp"

namespace weft::app {
namespace {

using bench::paragraph;
using bench::tables_of;
using bench::with_noun;

struct BenchOptions {
  CommonOptions common;
  ReadingOptions reading;
  bool type_given = false;
  std::vector<std::string> sources;
  std::string suite;
  std::string folder;
  int count = 20;
  std::string paper;
  std::string formats = "all";
  std::string order = "none";
  GivenParts parts;
  std::string device = "cpu";
  std::string peers = "none";
  std::vector<int> vectors = {1};
  std::string layout = "column";
  std::string json;
  std::string csv;
  std::string svg;
  std::vector<std::int64_t> products = {1000};
  double seconds = 0.5;
  int groups = 11;
  double patience = 60;
  bool no_cold = false;
  bool from_device = false;
  std::uint64_t seed = 1;
  bool formats_given = false;
  bool solve = false;
  SolveBenchOptions solving;  ///< what goes with --solve only, and what it shares is put there when it runs
  std::vector<std::string> not_for_solve = {};  ///< options that were given and do not go with --solve
  std::vector<std::string> for_solve_only = {};
};

/// A real finite-element matrix, small enough to be done in a minute on two cores.
const std::vector<std::string> default_sources = {"gen:elasticity3d:24"};

std::vector<std::string> sources_of(const BenchOptions& options) {
  std::vector<std::string> sources = options.sources;
  if (!options.suite.empty())
    for (std::string& source : bench::suite_sources(options.suite, options.folder, options.count))
      sources.push_back(std::move(source));
  return sources.empty() ? default_sources : sources;
}

std::string heading(const bench::Report& report) {
  std::string text = report.device_name;
  if (report.bandwidth > 0) text += fmt::format(", measured bandwidth {:.1f} GB/s", report.bandwidth / 1e9);
  return text + "\n";
}

/// Runs all matrices and shows each table as soon as it is there.
class Session {
 public:
  explicit Session(const BenchOptions& options)
      : options_(options), shows_tables_(options.json != "-" && options.csv != "-" && options.svg != "-") {
    report_.device = usable_device(options.device);
    report_.machine = bench::this_machine();
    report_.device_name = describe(report_.device).description;
    report_.command = command_line();
    report_.products = options.products.back();
    report_.cold = !options.no_cold && report_.device.kind() != Device::Kind::emulator;
    report_.seconds = options.seconds;
    report_.groups = options.groups;
    report_.seed = options.seed;
    if (report_.device.is_cpu())
      report_.device_name += fmt::format(", {}, {} kernels", with_noun(threads(), "thread"), to_string(isa()));
    if (options.formats == "all") {
      formats_ = bench::formats_for(report_.device);
      formats_.push_back("auto");
    } else {
      formats_ = bench::split_names(options.formats);
    }
    if (options.products.size() > 1) plan_for_each_number();
  }

  /// In the place of `auto`, one for each number of products.
  void plan_for_each_number() {
    const auto place = std::ranges::find(formats_, "auto");
    if (place == formats_.end()) return;
    std::vector<std::string> names;
    for (const std::int64_t products : options_.products) names.push_back(bench::auto_for(products));
    formats_.insert(formats_.erase(place), names.begin(), names.end());
  }

  void run(const std::string& source) {
    if (options_.reading.type == "f32") return measure_matrix(source, load<float>(source, options_.reading));
    Csr<double> matrix = load<double>(source, options_.reading);
    measure_matrix(source, matrix);
    if (options_.reading.type != "both") return;
    const Csr<float> rounded = convert<float>(matrix);
    matrix = {};
    measure_matrix(source, rounded);
  }

  /// A matrix of a folder that cannot be read is told and left out: one of hundreds must not end the run.
  void run_or_tell(const std::string& source) {
    try {
      run(source);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io && error.code() != ErrorCode::parse && error.code() != ErrorCode::unsupported)
        throw;
      report_.notes.push_back(std::string("left out: ") + error.what());
      note(report_.notes.back());
    }
  }

  void print_summary() const {
    if (!shows_tables_ || report_.cases.empty()) return;
    std::string text;
    if (options_.peers != "none")
      for (const bench::Summary& summary : bench::summarize(report_)) text += paragraph(bench::headline(summary));
    if (const std::string line = bench::prediction_line(report_); !line.empty()) text += paragraph(line);
    if (!text.empty()) print("\n" + text);
  }

  const bench::Report& report() const { return report_; }

 private:
  template <Value V>
  void measure_matrix(const std::string& source, const Csr<V>& matrix) {
    for (const int vectors : options_.vectors) measure_vectors(source, matrix, vectors);
  }

  template <Value V>
  void measure_vectors(const std::string& source, const Csr<V>& matrix, int vectors) {
    const std::shared_ptr<const Partition> partition = options_.parts.read_partition(matrix.rows);
    const std::shared_ptr<const Coordinates> coordinates = options_.parts.read_coordinates(matrix.rows);
    if (report_.cases.empty()) {  // not before there is something to measure
      report_.bandwidth = measure_bandwidth(report_.device);
      report_.caches = bench::measure_cache_bandwidths(report_.device);
      if (shows_tables_) print(heading(report_));
    }
    bench::Case result;
    const std::size_t notes_before = report_.notes.size();
    {
      ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
      result = bench::run_case(source, matrix,
                               {.device = report_.device,
                                .formats = formats_,
                                .order = parse_ordering(options_.order),
                                .partition = partition,
                                .coordinates = coordinates,
                                .peers = options_.peers,
                                .vectors = vectors,
                                .layout = options_.layout == "row" ? Layout::row_major : Layout::column_major,
                                .products = options_.products.back(),
                                .seconds = options_.seconds,
                                .groups = options_.groups,
                                .cold = report_.cold,
                                .from_device = options_.from_device,
                                .patience = options_.patience,
                                .seed = options_.seed,
                                .bandwidth = report_.bandwidth,
                                .progress = bar.callback()},
                               report_.notes);
    }
    for (std::size_t i = notes_before; i < report_.notes.size(); ++i) note(report_.notes[i]);
    if (shows_tables_) print(tables_of(result, options_.peers != "none"));
    report_.cases.push_back(std::move(result));
  }

  const BenchOptions& options_;
  bool shows_tables_;
  std::vector<std::string> formats_;
  bench::Report report_;
};

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

/// What a paper measures is fixed, but for the matrices.
int run_paper(const BenchOptions& options) {
  if (options.formats != "all" || options.peers != "none" || !options.suite.empty() || !options.csv.empty() ||
      !options.svg.empty() || options.order != "none" || !options.parts.empty() ||
      options.vectors != std::vector<int>{1})
    throw UsageError("--paper goes with --device, --type, --seconds, --repeat, --seed and --json only");
  const bench::Paper& paper = *std::ranges::find(bench::papers(), options.paper, &bench::Paper::name);
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

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

int run_solve(const BenchOptions& options, const std::vector<std::string>& sources) {
  if (!options.not_for_solve.empty())
    throw UsageError(fmt::format("--solve does not go with {}", joined(options.not_for_solve)));
  SolveBenchOptions solving = options.solving;
  require_solvers(solving);
  solving.reading = options.reading;
  solving.sources = sources;
  solving.keep_going = options.suite == "real";
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
  if (options.solve && !options.paper.empty()) throw UsageError("--solve does not go with --paper");
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

  Session session(options);
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

void add_solving(CLI::App& parser, BenchOptions& options) {
  parser.add_flag("--solve", options.solve, "measure the time to the x with A x = b, set-up included");
  SolveBenchOptions& solving = options.solving;
  parser
      .add_option("--method", solving.methods,
                  "with --solve: auto, or names separated by commas: " + joined(bench::method_names()) +
                      " (default auto, which goes by symmetry)")
      ->type_name("LIST");
  parser
      .add_option("--preconditioner", solving.preconditioners,
                  "with --solve: auto, or names separated by commas: " + joined(bench::preconditioner_names()) +
                      " (default auto)")
      ->type_name("LIST");
  parser
      .add_option("--rtol", solving.rtol,
                  "with --solve: solved when |b - A x| is at most this much of |b| (default 1e-8, in f32 1e-5)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1e-300, 1.0));
  parser.add_option("--max-iterations", solving.run.max_iterations, "with --solve: end after so many (default 20000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  parser
      .add_option("--restart", solving.run.restart,
                  "with --solve: gmres, fgmres begin anew after so many iterations (default 30)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
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
          "draw the time over the number of nonzeros, a line a format, or with --solve the times as bars; - is "
          "standard output")
      ->type_name("FILE");
  add_solving(*parser, *options);
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
