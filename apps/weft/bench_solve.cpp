#include "bench_solve.hpp"

#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "bench/harness/solvers.hpp"
#include "bench/peers/names.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/solve_report.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace weft::app {
namespace {

/// Each of the list must be `auto` or known.
void require_names(const char* option, const std::string& list, bool (*is_known)(std::string_view),
                   const std::vector<std::string>& known) {
  const std::string all = fmt::format("auto, {}", fmt::join(known, ", "));
  const std::vector<std::string> given = bench::split_names(list);
  if (given.empty()) throw UsageError(fmt::format("{}: name one or more of {}", option, all));
  for (const std::string& name : given)
    if (name != "auto" && !is_known(name)) throw UsageError(fmt::format("{} '{}': there are {}", option, name, all));
}

/// Runs all matrices and shows each table as soon as it is there.
class Session {
 public:
  explicit Session(const SolveBenchOptions& options)
      : options_(options), shows_tables_(options.json != "-" && options.csv != "-" && options.svg != "-") {
    report_.device = options.run.device;
    report_.machine = bench::this_machine();
    report_.device_name = describe(report_.device).description;
    if (report_.device.is_cpu())
      report_.device_name += fmt::format(", {}, {} kernels", bench::with_noun(threads(), "thread"), to_string(isa()));
    report_.command = command_line();
    report_.seconds = options.run.seconds;
    report_.repeats = options.run.repeats;
    report_.products = options.run.products;
    report_.max_iterations = options.run.max_iterations;
    report_.seed = options.run.seed;
  }

  void run(const std::string& source) {
    if (options_.reading.type == "f32") return measure(source, load<float>(source, options_.reading));
    Csr<double> matrix = load<double>(source, options_.reading);
    measure(source, matrix);
    if (options_.reading.type != "both") return;
    const Csr<float> rounded = convert<float>(matrix);
    matrix = {};
    measure(source, rounded);
  }

  void run_or_tell(const std::string& source) {
    try {
      run(source);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::no_device || error.code() == ErrorCode::cancelled) throw;
      report_.notes.push_back(std::string("left out: ") + error.what());
      note(report_.notes.back());
    }
  }

  const bench::SolveBenchReport& report() const { return report_; }

 private:
  template <Value V>
  void measure(const std::string& source, const Csr<V>& matrix) {
    bench::SolveRunOptions how = options_.run;
    how.methods = bench::split_names(options_.methods);
    how.preconditioners = bench::split_names(options_.preconditioners);
    how.rtol = options_.rtol > 0 ? options_.rtol : sizeof(V) == 8 ? 1e-8 : 1e-5;
    how.partition = options_.parts.read_partition(matrix.rows);
    how.coordinates = options_.parts.read_coordinates(matrix.rows);
    const std::size_t notes_before = report_.notes.size();
    bench::SolveCase result;
    {
      ProgressBar bar(fmt::format("solving {} {}", source, to_string(value_type<V>)));
      how.progress = bar.callback();
      result = bench::run_solve_case(source, matrix, how, report_.notes);
    }
    for (std::size_t i = notes_before; i < report_.notes.size(); ++i) note(report_.notes[i]);
    if (report_.cases.empty() && shows_tables_) print(report_.device_name + "\n");
    if (shows_tables_) print(bench::tables_of(result, how.peers != "none"));
    report_.cases.push_back(std::move(result));
  }

  const SolveBenchOptions& options_;
  bool shows_tables_;
  bench::SolveBenchReport report_;
};

}  // namespace

void SolveBenchOptions::add_to(CLI::App& parser) {
  parser
      .add_option("--method", methods,
                  "with --solve: auto, or names separated by commas: " +
                      fmt::format("{}", fmt::join(bench::method_names(), ", ")) +
                      " (default auto, which goes by symmetry)")
      ->type_name("LIST");
  parser
      .add_option("--preconditioner", preconditioners,
                  "with --solve: auto, or names separated by commas: " +
                      fmt::format("{}", fmt::join(bench::preconditioner_names(), ", ")) + " (default auto)")
      ->type_name("LIST");
  parser
      .add_option("--rtol", rtol,
                  "with --solve: solved when |b - A x| is at most this much of |b| (default 1e-8, in f32 1e-5)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1e-300, 1.0));
  parser.add_option("--max-iterations", run.max_iterations, "with --solve: end after so many (default 20000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  parser
      .add_option("--restart", run.restart,
                  "with --solve: gmres, fgmres begin anew after so many iterations (default 30)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
}

void require_solvers(const SolveBenchOptions& options) {
  require_names("--method", options.methods, &bench::is_method, bench::method_names());
  require_names("--preconditioner", options.preconditioners, &bench::is_preconditioner, bench::preconditioner_names());
}

int run_solve_bench(const SolveBenchOptions& options) {
  Session session(options);
  const bench::SolveBenchReport& report = session.report();
  std::exception_ptr stopped;
  try {
    for (const std::string& source : options.sources)
      if (options.keep_going)
        session.run_or_tell(source);
      else
        session.run(source);
  } catch (...) {
    if (report.cases.empty()) throw;
    stopped = std::current_exception();  // what was measured before is kept
  }
  if (!options.json.empty()) write_text(options.json, bench::to_text(report));
  if (!options.csv.empty()) write_text(options.csv, bench::to_csv(report));
  if (!options.svg.empty()) write_text(options.svg, bench::solve_chart_svg(report));
  if (stopped) std::rethrow_exception(stopped);
  if (report.all_reached()) return success;
  complain("a solver of weft did not come to its tolerance, see MISSED in the table");
  return verification_failed;
}

}  // namespace weft::app
