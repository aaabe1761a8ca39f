#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/plan.hpp>
#include <weft/solve.hpp>
#include <weft/spmv.hpp>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/harness/workspace.hpp"
#include "bench/report/numbers.hpp"
#include "commands.hpp"
#include "core/timer.hpp"
#include "facts/source_facts.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::seconds_text;
using bench::with_noun;

struct SolveCommandOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string b = "known";
  std::string x0;
  std::string output;
  std::string method = "auto";
  std::string preconditioner = "auto";
  std::string format = "auto";
  std::string device = "cpu";
  double rtol = 1e-5;
  double atol = 0;
  std::int64_t max_iterations = 0;
  int restart = 30;
  bool json = false;
};

template <Value V>
using Method = SolveReport (*)(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);

template <Value V>
Method<V> method_of(const std::string& name) {
  if (name == "cg") return &cg<V>;
  if (name == "minres") return &minres<V>;
  if (name == "gmres") return &gmres<V>;
  if (name == "fgmres") return &fgmres<V>;
  return &bicgstab<V>;
}

/// What is done, and why.
struct Choice {
  std::string method, preconditioner, reason;
};

/// What the diagonal allows: dividing by it, and a method for positive definite matrices.
struct Diagonal {
  bool divides = true, positive = true;
};
template <Value V>
Diagonal look_at_diagonal(const Csr<V>& matrix) {
  Diagonal diagonal;
  for (Index row = 0; row < matrix.rows; ++row) {
    V value = 0;
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      if (matrix.columns[k] == row) value = matrix.values[k];
    if (value == V(0) || !std::isfinite(value) || !std::isfinite(V(1) / value)) diagonal.divides = false;
    if (!(value > V(0))) diagonal.positive = false;
  }
  return diagonal;
}

template <Value V>
Choice choose(const SolveCommandOptions& options, const Csr<V>& matrix) {
  const bool symmetric = symmetry(MatrixSource<V>(matrix)).values_symmetric;
  const Diagonal diagonal = look_at_diagonal(matrix);
  Choice choice{options.method, options.preconditioner, "as requested"};
  if (options.method == "auto") {
    choice.method = !symmetric ? "bicgstab" : diagonal.positive ? "cg" : "minres";
    choice.reason = !symmetric          ? "A is not symmetric"
                    : diagonal.positive ? "A is symmetric, its diagonal positive"
                                        : "A is symmetric, its diagonal not positive";
  }
  if (options.preconditioner == "auto") {
    const bool needs_positive = choice.method == "cg" || choice.method == "minres";
    choice.preconditioner = diagonal.divides && (diagonal.positive || !needs_positive) ? "jacobi" : "none";
  }
  return choice;
}

template <Value V>
struct Solution {
  Choice choice;
  PlanInfo plan;
  SolveReport report;
  double setup_seconds = 0;  // of the preconditioner
  std::optional<double> error;
};

/// At most ten lines, evenly spread, the last one among them.
std::vector<std::size_t> some_iterations(std::size_t count) {
  constexpr std::size_t most = 10;
  std::vector<std::size_t> some;
  const std::size_t step = std::max<std::size_t>(1, (count + most - 2) / (most - 1));
  for (std::size_t i = 0; i + 1 < count; i += step) some.push_back(i);
  if (count > 0) some.push_back(count - 1);
  return some;
}

template <Value V>
std::string as_text(const SolveCommandOptions& options, const Solution<V>& solution) {
  const PlanInfo& plan = solution.plan;
  const SolveReport& report = solution.report;
  std::string text = fmt::format("matrix      {}: {} x {}, {}, {}\n", options.source, count_text(plan.rows),
                                 count_text(plan.cols), with_noun(plan.nonzeros, "nonzero"), to_string(plan.type));
  text += fmt::format("method      {}, preconditioner {} ({})\n", report.method, solution.choice.preconditioner,
                      solution.choice.reason);
  text += fmt::format("format      {} on {}\n", plan.format, plan.device.name());
  text += fmt::format("result      {} after {}\n", to_string(report.status),
                      with_noun(static_cast<Offset>(report.iterations), "iteration"));
  text += fmt::format("residual    {:.2e} of |b|\n", report.relative_residual);
  if (solution.error) text += fmt::format("error       {:.2e} of |x|, which is known\n", *solution.error);
  text += fmt::format("time        {}", seconds_text(report.seconds));
  if (plan.device.is_cpu())
    text += fmt::format(", {} of it in {}", seconds_text(report.product_seconds),
                        with_noun(static_cast<Offset>(report.products), "product"));
  text += fmt::format("; before that, {} for the plan", seconds_text(plan.planning_seconds));
  if (solution.setup_seconds > 0)
    text += fmt::format(", {} for the preconditioner", seconds_text(solution.setup_seconds));
  text += "\n";
  text += "\niteration    residual\n---------------------\n";
  for (const std::size_t i : some_iterations(report.residuals.size()))
    text += fmt::format("{:>9}  {:>10.2e}\n", i, report.residuals[i]);
  return text;
}

template <Value V>
std::string as_json(const SolveCommandOptions& options, const Solution<V>& solution) {
  const PlanInfo& plan = solution.plan;
  const SolveReport& report = solution.report;
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"source", options.source},
                                 {"type", to_string(plan.type)},
                                 {"rows", plan.rows},
                                 {"nonzeros", plan.nonzeros},
                                 {"device", plan.device.name()},
                                 {"format", plan.format},
                                 {"recipe", plan.recipe},
                                 {"method", report.method},
                                 {"preconditioner", solution.choice.preconditioner},
                                 {"status", to_string(report.status)},
                                 {"converged", report.converged()},
                                 {"iterations", report.iterations},
                                 {"products", report.products},
                                 {"residual", report.residual},
                                 {"relative_residual", report.relative_residual},
                                 {"tolerance", report.tolerance},
                                 {"residuals", report.residuals},
                                 {"seconds", report.seconds},
                                 {"product_seconds", report.product_seconds},
                                 {"preconditioner_seconds", report.preconditioner_seconds},
                                 {"planning_seconds", plan.planning_seconds},
                                 {"preconditioner_setup_seconds", solution.setup_seconds}};
  if (solution.error) json["error"] = *solution.error;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

template <Value V>
Array<V> read_one_per_row(const std::string& path, const char* name, Index rows) {
  Array<V> vector = read_vector<V>(path);
  if (vector.size() != static_cast<std::size_t>(rows))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} entries, but the matrix has {} rows", name, vector.size(), rows));
  return vector;
}

template <Value V>
int solve(const SolveCommandOptions& options, Device device) {
  const Csr<V> matrix = load<V>(options.source, options.reading);
  if (matrix.rows != matrix.cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} rows and {} columns; only square matrices can be solved with", options.source,
                            matrix.rows, matrix.cols));
  const auto rows = static_cast<std::size_t>(matrix.rows);
  Array<V> known;
  Array<V> b;
  if (options.b == "known") {
    known = bench::random_vector<V>(rows, 1);
    b = Array<V>(rows);
    reference_apply<V>(Op::none, V(1), matrix, known, V(0), b);
  } else if (options.b == "ones") {
    b = Array<V>(rows, V(1));
  } else {
    b = read_one_per_row<V>(options.b, "b", matrix.rows);
  }
  Vector<V> x(device, rows);
  SolveOptions<V> how;
  how.rtol = options.rtol;
  how.atol = options.atol;
  how.max_iterations = options.max_iterations;
  how.restart = options.restart;
  Array<V> x0;
  if (!options.x0.empty()) {
    x0 = read_one_per_row<V>(options.x0, "x0", matrix.rows);
    x.upload(x0);
    how.use_guess = true;
  }

  Solution<V> solution;
  solution.choice = choose(options, matrix);
  const Plan<V> planned = [&] {
    ProgressBar bar("planning");
    return plan(matrix, {.device = device, .format = options.format, .progress = bar.callback()});
  }();
  solution.plan = planned.info();
  if (solution.choice.preconditioner == "jacobi") {
    const Stopwatch timer;
    how.preconditioner = jacobi(matrix, device);
    solution.setup_seconds = timer.seconds();
  }
  {
    ProgressBar bar("solving");
    double first = 0;
    how.callback = [&](const SolveStep& step) {
      if (first == 0) first = step.residual;
      // A residual falls by about the same factor each time.
      const double all = std::log(first / step.tolerance), done = std::log(first / step.residual);
      if (all > 0) bar.show(std::min(1.0, std::max(0.0, done / all)));
      return true;
    };
    const Vector<V> right(device, b);
    const auto run = [&] { return method_of<V>(solution.choice.method)(planned, right, x, how); };
    solution.report = run();
    const SolveStatus status = solution.report.status;
    const bool needs_positive =
        status == SolveStatus::indefinite || status == SolveStatus::broke_down || status == SolveStatus::diverged;
    if (options.method == "auto" && solution.choice.method == "cg" && needs_positive) {
      note(fmt::format("cg: {}; minres goes on", to_string(status)));
      solution.choice.method = "minres";
      solution.choice.reason = "A is symmetric, cg failed";
      if (how.use_guess) x.upload(x0);
      first = 0;
      solution.report = run();
    }
  }
  const Array<V> answer = x.download();
  if (!known.empty()) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double off = static_cast<double>(answer[i]) - static_cast<double>(known[i]);
      difference += off * off;
      size += static_cast<double>(known[i]) * static_cast<double>(known[i]);
    }
    solution.error = std::sqrt(difference / size);
  }
  if (!options.output.empty()) write_vector<V>(options.output, std::span<const V>(answer));
  print(options.json ? as_json(options, solution) : as_text(options, solution));
  if (!solution.report.converged()) {
    complain(fmt::format("{}: {}; |b - A x| is {:.2g}, and was to be {:.2g}", solution.report.method,
                         to_string(solution.report.status), solution.report.residual, solution.report.tolerance));
    return verification_failed;
  }
  return success;
}

void require_one_of(const char* option, const std::string& given, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    if (name == given) return;
    all += (all.empty() ? "" : ", ") + name;
  }
  throw UsageError(fmt::format("{} '{}': there are {}", option, given, all));
}

int run(const SolveCommandOptions& options) {
  options.common.apply();
  require_format(options.format);
  require_one_of("--method", options.method, {"auto", "cg", "minres", "gmres", "fgmres", "bicgstab"});
  require_one_of("--preconditioner", options.preconditioner, {"auto", "none", "jacobi"});
  if (std::isnan(options.rtol) || std::isnan(options.atol)) throw UsageError("--rtol and --atol are numbers from 0 on");
  if (!options.output.empty()) require_target_folder(options.output);
  const Device device = usable_device(options.device);
  return with_type(options.reading.value_type(), [&]<Value V>() { return solve<V>(options, device); });
}

}  // namespace

Command add_solve(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("solve", "find the x with A x = b");
  const auto options = std::make_shared<SolveCommandOptions>();
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser->add_option("B", options->b, "the right side: a file, ones, or known (default known: A times a random x)");
  parser->add_option("-o,--output", options->output, "write x to this file (Matrix Market array)")->type_name("FILE");
  parser
      ->add_option("--method", options->method,
                   "cg, minres, gmres, fgmres, bicgstab, or auto, which goes by symmetry (default auto)")
      ->type_name("METHOD");
  parser
      ->add_option(
          "--preconditioner", options->preconditioner,
          "jacobi (divides by the diagonal), none, or auto: jacobi where the diagonal allows it (default auto)")
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
  parser->add_option("--x0", options->x0, "file with the x to begin from (default 0)")->type_name("FILE");
  parser
      ->add_option("--format", options->format,
                   "storage format of A; see 'weft doctor' (default auto: the soonest done)")
      ->type_name("FORMAT");
  parser->add_option("--device", options->device, "cpu, gpu, gpuN or emulator (default cpu)")->type_name("DEVICE");
  parser->add_flag("--json", options->json, "print the result as JSON, with the residual after each iteration");
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer("Exit code 3 when it is not solved.\n\nExample:\n  weft solve gen:poisson3d:30 --rtol 1e-8");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
