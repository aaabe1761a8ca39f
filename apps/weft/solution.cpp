#include "solution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/report/convergence.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::seconds_text;
using bench::with_noun;
using Json = nlohmann::ordered_json;

/// At most ten lines, evenly spread, the last one among them.
std::vector<std::size_t> some_iterations(std::size_t count) {
  constexpr std::size_t max_lines = 10;
  std::vector<std::size_t> some;
  const std::size_t step = std::max<std::size_t>(1, (count + max_lines - 2) / (max_lines - 1));
  for (std::size_t i = 0; i + 1 < count; i += step) some.push_back(i);
  if (count > 0) some.push_back(count - 1);
  return some;
}

std::string iterations_text(const SolveReport& report) {
  return with_noun(static_cast<Offset>(report.iterations), "iteration");
}

std::string one_right_side(const SolvedColumn& column, bool of_the_equation) {
  const SolveReport& report = column.report;
  std::string text = fmt::format("result      {} after {}\n", to_string(report.status), iterations_text(report));
  text += fmt::format("residual    {:.2e} of |b|\n", report.relative_residual);
  if (column.error)
    text += fmt::format("error       {:.2e} of |x|, {}\n", *column.error,
                        of_the_equation ? "the field's: that of the mesh is in it" : "which is known");
  return text;
}

std::string table_of(const std::vector<SolvedColumn>& columns) {
  bench::Table table({"b", "result", "iterations", "residual", "time"}, {1});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const SolveReport& report = columns[i].report;
    table.add({std::to_string(i + 1), std::string(to_string(report.status)), count_text(report.iterations),
               fmt::format("{:.2e}", report.relative_residual), seconds_text(report.seconds)});
  }
  return "\n" + table.text();
}

std::string residuals_of(const SolveReport& report) {
  std::string text = "\niteration    residual\n---------------------\n";
  for (const std::size_t i : some_iterations(report.residuals.size()))
    text += fmt::format("{:>9}  {:>10.2e}\n", i, report.residuals[i]);
  return text;
}

/// Of all right sides.
SolveReport sum_of(const std::vector<SolvedColumn>& columns) {
  SolveReport sum;
  for (const SolvedColumn& column : columns) {
    sum.iterations += column.report.iterations;
    sum.products += column.report.products;
    sum.seconds += column.report.seconds;
    sum.product_seconds += column.report.product_seconds;
    sum.preconditioner_seconds += column.report.preconditioner_seconds;
  }
  return sum;
}

std::string times_of(const Solution& solution) {
  const SolveReport sum = sum_of(solution.columns);
  std::string text = fmt::format("time        {}", seconds_text(sum.seconds));
  if (solution.plan.device.is_cpu())
    text += fmt::format(", {} of it in {}", seconds_text(sum.product_seconds),
                        with_noun(static_cast<Offset>(sum.products), "product"));
  text += fmt::format("; before that, {} for the plan", seconds_text(solution.plan.planning_seconds));
  if (solution.setup_seconds > 0)
    text += fmt::format(", {} for the preconditioner", seconds_text(solution.setup_seconds));
  return text + "\n";
}

Json to_json(const SolvedColumn& column) {
  const SolveReport& report = column.report;
  Json json = {{"method", report.method},
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
               {"preconditioner_seconds", report.preconditioner_seconds}};
  if (column.error) json["error"] = *column.error;
  return json;
}

}  // namespace

bool Solution::converged() const {
  return std::ranges::all_of(columns, [](const SolvedColumn& column) { return column.report.converged(); });
}

std::string text_of(const Solution& solution) {
  const PlanInfo& plan = solution.plan;
  std::string text = fmt::format("matrix      {}: {} x {}, {}, {}\n", solution.source, count_text(plan.rows),
                                 count_text(plan.cols), with_noun(plan.nonzeros, "nonzero"), to_string(plan.type));
  text += fmt::format("method      {}, preconditioner {} ({})\n", solution.choice.method,
                      solution.choice.preconditioner, solution.choice.reason);
  text += fmt::format("format      {} on {}\n", plan.format, plan.device.name());
  const bool one = solution.columns.size() == 1;
  if (one) text += one_right_side(solution.columns.front(), solution.answer_of_the_equation);
  text += times_of(solution);
  return text + (one ? residuals_of(solution.columns.front().report) : table_of(solution.columns));
}

std::string json_of(const Solution& solution) {
  const PlanInfo& plan = solution.plan;
  Json json = {{"schema", 1},
               {"source", solution.source},
               {"type", to_string(plan.type)},
               {"rows", plan.rows},
               {"nonzeros", plan.nonzeros},
               {"device", plan.device.name()},
               {"format", plan.format},
               {"recipe", plan.recipe},
               {"preconditioner", solution.choice.preconditioner},
               {"planning_seconds", plan.planning_seconds},
               {"preconditioner_setup_seconds", solution.setup_seconds},
               {"right_sides", solution.columns.size()}};
  if (solution.columns.size() == 1) {
    json.update(to_json(solution.columns.front()));
  } else {
    json["converged"] = solution.converged();
    json["solutions"] = Json::array();
    for (const SolvedColumn& column : solution.columns) json["solutions"].push_back(to_json(column));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string svg_of(const Solution& solution) {
  bench::ConvergencePicture picture{.title = fmt::format("{} with {}", solution.choice.name(), solution.plan.format),
                                    .subtitle = fmt::format("{}, {}", solution.source, to_string(solution.plan.type)),
                                    .tolerance = solution.rtol};
  for (std::size_t i = 0; i < solution.columns.size(); ++i) {
    const SolveReport& report = solution.columns[i].report;
    // |b|, by which residuals are shown; where b is 0 there is nothing to divide by.
    const double size = report.relative_residual > 0 ? report.residual / report.relative_residual : 1;
    bench::ConvergenceLine line{.name = solution.columns.size() == 1 ? "" : fmt::format("b {}", i + 1)};
    for (const double residual : report.residuals) line.residuals.push_back(residual / size);
    picture.lines.push_back(std::move(line));
  }
  return bench::convergence_svg(picture);
}

}  // namespace weft::app
