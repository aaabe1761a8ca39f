#include "paper_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bench/harness/solve_run.hpp"
#include "bench/harness/solvers.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/solve_report.hpp"
#include "bench/report/table.hpp"

namespace weft::bench {
namespace {

constexpr const char* cpu_solvers = "eigen,petsc";

double improvement_percent(double slow, double fast) { return 100 * (slow - fast) / slow; }

/// "not solved by bicgstab+jacobi: not converged after 7,500 iterations"; empty where it was solved.
std::string why_not(const PaperSolves& solves, const std::string& format) {
  const SolveMeasurement* m = solves.any(format);
  if (!m) return "not square";
  if (!m->measured()) return m->failure;
  if (m->reached) return {};
  return fmt::format("not solved by {}: {} after {}", m->solver(), m->status,
                     with_noun(static_cast<Offset>(m->iterations), "iteration"));
}

}  // namespace

const SolveMeasurement* PaperSolves::any(const std::string& format) const {
  for (const SolveMeasurement& m : on_device.measurements)
    if (!m.peer && m.name == format) return &m;
  return nullptr;
}

const SolveMeasurement* PaperSolves::find(const std::string& format) const {
  const SolveMeasurement* m = any(format);
  return m && m->counts() ? m : nullptr;
}

const SolveMeasurement* PaperSolves::soonest_on_cpu() const {
  const SolveMeasurement* soonest = nullptr;
  for (const SolveMeasurement& m : (on_cpu ? *on_cpu : on_device).measurements)
    if (m.counts() && (m.peer || m.name == "csr") && (!soonest || m.total_seconds() < soonest->total_seconds()))
      soonest = &m;
  return soonest;
}

template <Value V>
std::string preconditioner_for(Preconditioning preconditioning, const Csr<V>& matrix) {
  if (preconditioning == Preconditioning::automatic) return "auto";
  const std::vector<std::string> known = preconditioner_names();
  const bool symmetric = choose_solver(matrix, "auto", "none").method == "cg";
  for (const char* name : {symmetric ? "fsai" : "isai", "isai"})
    if (std::ranges::find(known, name) != known.end()) return name;
  return "auto";
}

template <Value V>
PaperSolves run_paper_solves(const std::string& source, const Csr<V>& matrix, const std::vector<std::string>& formats,
                             Preconditioning preconditioning, std::int64_t max_iterations, const RunOptions& options,
                             std::vector<std::string>& notes) {
  PaperSolves result;
  result.on_device.source = source;
  result.on_device.type = value_type<V>;
  if (matrix.rows != matrix.cols) return result;
  SolveRunOptions how{.device = options.device,
                      .formats = {formats.front()},
                      .preconditioners = {preconditioner_for(preconditioning, matrix)},
                      .rtol = sizeof(V) == 8 ? 1e-8 : 1e-5,
                      .max_iterations = max_iterations,
                      .products = max_iterations,
                      .seconds = options.seconds,
                      .repeats = options.groups,
                      .seed = options.seed};
  result.on_device = run_solve_case(source, matrix, how, notes);
  if (!result.find(formats.front())) return result;
  // The others, and on a CPU other libraries.
  how.formats.assign(formats.begin() + 1, formats.end());
  if (options.device.is_cpu()) how.peers = cpu_solvers;
  SolveCase others = run_solve_case(source, matrix, how, notes);
  std::ranges::move(others.measurements, std::back_inserter(result.on_device.measurements));
  compare(result.on_device);
  if (options.device.is_cpu()) return result;
  how.device = Device::cpu();
  how.formats = {"csr"};
  how.peers = cpu_solvers;
  result.on_cpu = run_solve_case(source, matrix, how, notes);
  return result;
}

std::string solves_table(const std::vector<NamedSolves>& all, const std::vector<std::string>& formats) {
  std::vector<std::string> titles = {"matrix", "solver", "iterations"};
  titles.insert(titles.end(), formats.begin(), formats.end());
  Table table(titles, {1});
  for (const NamedSolves& one : all) {
    if (const std::string why = why_not(*one.solves, formats.front()); !why.empty()) {
      table.add_remark(one.name, why);
      continue;
    }
    const SolveMeasurement& first = *one.solves->find(formats.front());
    std::vector<std::string> cells = {one.name, first.solver(), count_text(first.iterations)};
    for (const std::string& format : formats) {
      const SolveMeasurement* m = one.solves->find(format);
      cells.push_back(m ? fmt::format("{:.4g}", m->total_seconds()) : "-");
    }
    table.add(std::move(cells));
    for (const std::string& format : formats)
      if (const std::string why = why_not(*one.solves, format); !why.empty()) table.add_remark("", format + ": " + why);
  }
  return table.text();
}

std::string solves_improvement_table(const std::vector<NamedSolves>& all, const std::string& best,
                                     const std::vector<std::string>& formats) {
  std::vector<std::string> titles = {"matrix"};
  for (const std::string& format : formats)
    if (format != best) titles.push_back(format);
  Table table(titles);
  for (const NamedSolves& one : all) {
    const SolveMeasurement* ours = one.solves->find(best);
    if (!ours) continue;
    std::vector<std::string> cells = {one.name};
    for (const std::string& format : formats) {
      if (format == best) continue;
      const SolveMeasurement* m = one.solves->find(format);
      cells.push_back(m ? fmt::format("{:.1f}", improvement_percent(m->total_seconds(), ours->total_seconds())) : "-");
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string solves_cpu_table(const std::vector<NamedSolves>& all, const std::string& best) {
  Table table({"matrix", "on the CPU", "seconds", "iterations", best + " in all", "improvement"}, {1});
  for (const NamedSolves& one : all) {
    const SolveMeasurement *ours = one.solves->find(best), *cpu = one.solves->soonest_on_cpu();
    if (!ours || !cpu) continue;
    table.add({one.name, cpu->name + " " + cpu->solver(), fmt::format("{:.4g}", cpu->total_seconds()),
               count_text(cpu->iterations), fmt::format("{:.4g}", ours->total_seconds()),
               fmt::format("{:.1f} %", improvement_percent(cpu->total_seconds(), ours->total_seconds()))});
  }
  return table.text();
}

std::string solves_goal_text(const std::vector<NamedSolves>& all, ValueType type) {
  double rtol = 0;
  for (const NamedSolves& one : all) rtol = std::max(rtol, one.solves->on_device.rtol);
  return fmt::format("to |b - A x| = {:.3g} |b|, {}", rtol, to_string(type));
}

nlohmann::ordered_json to_json(const PaperSolves& solves) {
  return {{"device", to_json(solves.on_device)},
          {"cpu", solves.on_cpu ? to_json(*solves.on_cpu) : nlohmann::ordered_json(nullptr)}};
}

#define WEFT_INSTANTIATE(V)                                                                                    \
  template std::string preconditioner_for<V>(Preconditioning, const Csr<V>&);                                  \
  template PaperSolves run_paper_solves<V>(const std::string&, const Csr<V>&, const std::vector<std::string>&, \
                                           Preconditioning, std::int64_t, const RunOptions&,                   \
                                           std::vector<std::string>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
