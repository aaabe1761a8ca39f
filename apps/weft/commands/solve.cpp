#include <fmt/format.h>
#include <weft/plan.hpp>
#include <weft/solve.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "apps/weft/right_sides.hpp"
#include "apps/weft/solution.hpp"
#include "bench/harness/solvers.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

struct SolveCommandOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string b = "known";
  std::string x0;
  std::string output;
  std::string svg;
  std::string method = "auto";
  std::string preconditioner = "auto";
  std::string format = "auto";
  std::string device = "cpu";
  double rtol = 1e-5;
  double atol = 0;
  std::int64_t max_iterations = 0;
  std::int64_t products = 1000;
  int restart = 30;
  bool json = false;
};

/// A x = b for one right side after the other, with the same plan and preconditioner.
template <Value V>
class Solver {
 public:
  Solver(const SolveCommandOptions& options, const Csr<V>& matrix, Device device)
      : options_(options),
        choice_(bench::choose_solver(matrix, options.method, options.preconditioner)),
        plan_(make_plan(matrix, device)),
        solver_(plan_, matrix, choice_,
                {.rtol = options.rtol,
                 .atol = options.atol,
                 .max_iterations = options.max_iterations,
                 .restart = options.restart,
                 .use_guess = !options.x0.empty()},
                {.device = device, .format = options.format}),
        b_(device, static_cast<std::size_t>(matrix.rows)),
        x_(device, static_cast<std::size_t>(matrix.rows)) {}

  /// `guess` is empty where the method begins from 0.
  SolveReport solve(const std::string& label, std::span<const V> b, std::span<const V> guess) {
    ProgressBar bar(label);
    solver_.set_callback([&, size = norm_of(b)](const SolveStep& step) {
      if (bar.due())
        bar.write(fmt::format("residual {:.1e} of {:.1e}, iteration {}", step.residual / size, step.tolerance / size,
                              step.iteration));
      return true;
    });
    b_.upload(b);
    const auto run = [&] {
      if (!guess.empty()) x_.upload(guess);
      return solver_.solve(b_, x_);
    };
    SolveReport report = run();
    const SolveStatus status = report.status;
    const bool needs_another =
        status == SolveStatus::indefinite || status == SolveStatus::broke_down || status == SolveStatus::diverged;
    if (options_.method != "auto" || choice_.method != "cg" || !needs_another) return report;
    note(fmt::format("cg: {}; minres goes on", to_string(status)));
    choice_.method = "minres";
    choice_.reason = "A is symmetric, cg failed";
    solver_.use_method(choice_.method);
    return run();
  }

  Array<V> answer() const { return x_.download(); }
  Solution solution() const {
    return {options_.source, choice_, plan_.info(), solver_.setup_seconds(), options_.rtol, false, {}};
  }

 private:
  Plan<V> make_plan(const Csr<V>& matrix, Device device) const {
    ProgressBar bar("planning");
    return plan(
        matrix,
        {.device = device, .format = options_.format, .products = options_.products, .progress = bar.callback()});
  }

  /// For the progress only; 1 where b is 0.
  static double norm_of(std::span<const V> b) {
    double squares = 0;
    for (const V element : b) squares += static_cast<double>(element) * static_cast<double>(element);
    return squares > 0 ? std::sqrt(squares) : 1;
  }

  const SolveCommandOptions& options_;
  bench::SolverChoice choice_;
  Plan<V> plan_;
  bench::PreparedSolver<V> solver_;
  Vector<V> b_, x_;
};

/// Says why it ends with exit code 3: of the first right side that was not solved.
void complain_of(const Solution& solution) {
  for (std::size_t i = 0; i < solution.columns.size(); ++i) {
    const SolveReport& report = solution.columns[i].report;
    if (report.converged()) continue;
    const std::string which = solution.columns.size() > 1 ? fmt::format("right side {}: ", i + 1) : std::string();
    complain(fmt::format("{}{}: {}; |b - A x| is {:.2g}, and was to be {:.2g}", which, report.method,
                         to_string(report.status), report.residual, report.tolerance));
    return;
  }
}

template <Value V>
int solve(const SolveCommandOptions& options, Device device) {
  const Csr<V> matrix = load<V>(options.source, options.reading);
  if (matrix.rows != matrix.cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} rows and {} columns; only square matrices can be solved with", options.source,
                            matrix.rows, matrix.cols));
  const RightSides<V> right = make_right_sides<V>(options.b, options.source, matrix);
  io::Columns<V> guess;
  if (!options.x0.empty()) guess = read_one_per_row<V>(options.x0, "x0", matrix.rows);
  if (!options.x0.empty() && guess.count != right.b.count)
    throw Error(ErrorCode::invalid_argument, fmt::format("x0 has {} columns, b has {}", guess.count, right.b.count));

  Solver<V> solver(options, matrix, device);
  io::Columns<V> x{right.b.rows, right.b.count, Array<V>(right.b.values.size())};
  std::vector<SolvedColumn> columns;
  for (std::size_t i = 0; i < right.b.count; ++i) {
    const std::string label = right.b.count > 1 ? fmt::format("solving {} of {}", i + 1, right.b.count) : "solving";
    SolvedColumn column{
        solver.solve(label, right.b[i], guess.count > 0 ? std::as_const(guess)[i] : std::span<const V>())};
    const Array<V> answer = solver.answer();
    std::copy(answer.begin(), answer.end(), x[i].begin());
    if (!right.answer.empty()) column.error = relative_error<V>(answer, right.answer);
    columns.push_back(std::move(column));
  }
  Solution solution = solver.solution();
  solution.columns = std::move(columns);
  solution.answer_of_the_equation = right.of_the_equation;

  if (!options.output.empty()) io::write_columns(options.output, x);
  if (!options.svg.empty()) write_text(options.svg, svg_of(solution));
  if (options.svg != "-") print(options.json ? json_of(solution) : text_of(solution));
  if (solution.converged()) return success;
  complain_of(solution);
  return verification_failed;
}

int run(const SolveCommandOptions& options) {
  options.common.apply();
  require_format(options.format);
  if (options.method != "auto" && !bench::is_method(options.method))
    throw UsageError(
        fmt::format("--method '{}': there are auto, {}", options.method, fmt::join(bench::method_names(), ", ")));
  if (options.preconditioner != "auto" && !bench::is_preconditioner(options.preconditioner))
    throw UsageError(fmt::format("--preconditioner '{}': there are auto, {}", options.preconditioner,
                                 fmt::join(bench::preconditioner_names(), ", ")));
  if (std::isnan(options.rtol) || std::isnan(options.atol)) throw UsageError("--rtol and --atol are numbers from 0 on");
  if (options.svg == "-" && options.json)
    throw UsageError("only one of --json and --svg can have standard output; give --svg a file");
  if (!options.output.empty()) require_target_folder(options.output);
  if (!options.svg.empty() && options.svg != "-") require_target_folder(options.svg);
  const Device device = usable_device(options.device);
  return with_type(options.reading.value_type(), [&]<Value V>() { return solve<V>(options, device); });
}

}  // namespace

Command add_solve(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("solve", "find the x with A x = b");
  const auto options = std::make_shared<SolveCommandOptions>();
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser->add_option("B", options->b,
                     "the right side: a file, each of whose columns is one; ones; known: A times a random x; "
                     "smooth: A times an x that changes slowly; or, with fem:, manufactured: the load of a smooth "
                     "field (default known)");
  parser->add_option("-o,--output", options->output, "write x to this file (Matrix Market array)")->type_name("FILE");
  parser
      ->add_option(
          "--method", options->method,
          fmt::format("{}, or auto, which goes by symmetry (default auto)", fmt::join(bench::method_names(), ", ")))
      ->type_name("METHOD");
  parser
      ->add_option("--preconditioner", options->preconditioner,
                   bench::preconditioners_text() + ", or auto: jacobi where the diagonal allows it (default auto)")
      ->type_name("NAME");
  const auto not_negative = CLI::Range(0.0, 1e300);
  parser->add_option("--rtol", options->rtol, "solved when |b - A x| is at most this much of |b| (default 1e-5) ...")
      ->type_name("NUMBER")
      ->check(not_negative);
  parser->add_option("--atol", options->atol, "... or at most this (default 0)")
      ->type_name("NUMBER")
      ->check(not_negative);
  parser->add_option("--max-iterations", options->max_iterations, "end after so many (default ten per row)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 50));
  parser->add_option("--restart", options->restart, "gmres, fgmres: begin anew after so many iterations (default 30)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  parser->add_option("--x0", options->x0, "file with the x to begin from (default 0), a column for each right side")
      ->type_name("FILE");
  parser
      ->add_option("--format", options->format,
                   "storage format of A; see 'weft doctor' (default auto: the soonest done)")
      ->type_name("FORMAT");
  parser
      ->add_option("--products", options->products,
                   "how many products are to come, of all right sides: what auto plans for (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000000}));
  parser->add_option("--device", options->device, "cpu, gpu, gpuN or emulator (default cpu)")->type_name("DEVICE");
  parser->add_flag("--json", options->json, "print the result as JSON, with the residual after each iteration");
  parser
      ->add_option("--svg", options->svg,
                   "draw the residual over the iterations; - is standard output, then without the result as text")
      ->type_name("FILE");
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer(
      "Exit code 3 when it is not solved, 1 when it cannot be tried.\n\nExample:\n  weft solve gen:poisson3d:30 "
      "--rtol 1e-8");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
