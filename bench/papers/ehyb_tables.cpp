#include "ehyb.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"

namespace weft::bench {
namespace {

std::string products(double count) { return count_text(std::llround(std::min(count, 1e15))); }

/// Rivals that were measured on some matrix: a peer may be missing.
std::vector<std::string> measured_rivals(const std::vector<EhybCase>& cases, Device device) {
  std::vector<std::string> rivals;
  for (const std::string& rival : ehyb_rivals(device))
    for (const EhybCase& one : cases)
      if (one.find(rival)) {
        rivals.push_back(rival);
        break;
      }
  return rivals;
}

std::string speed_table(const std::vector<EhybCase>& cases, ValueType type, Device device) {
  std::vector<std::string> names = ehyb_forms, titles = {"matrix"};
  for (const std::string& rival : measured_rivals(cases, device)) names.push_back(rival);
  titles.insert(titles.end(), names.begin(), names.end());
  Table table(titles);
  for (const EhybCase& one : cases) {
    if (one.formats.type != type) continue;
    std::vector<std::string> cells = {name_of(one)};
    for (const std::string& name : names) cells.push_back(gflops_text(one.find(name)));
    table.add(std::move(cells));
    for (const Measurement& m : one.formats.measurements)
      if (!m.measured()) table.add_remark(name_of(one), m.name + ": " + m.failure);
  }
  return fmt::format("Figures {}: GFLOP/s, {}\n", type == ValueType::f32 ? "2 and 3" : "4 and 5", to_string(type)) +
         table.text();
}

std::string speedup_table(const std::vector<EhybCase>& cases, ValueType type, Device device) {
  // The paper's are of a GPU, which a CPU does not compare with.
  const bool beside = !device.is_cpu();
  std::vector<std::string> titles = {"format", "against", "matrices", "faster", "max", "min", "mean"};
  if (beside) titles.insert(titles.end(), {"paper: faster", "max", "min", "mean"});
  Table table(titles, {1});
  for (const std::string& form : ehyb_forms)
    for (const std::string& rival : measured_rivals(cases, device)) {
      const auto speedup = speedup_over(cases, type, form, rival);
      if (!speedup) continue;
      std::vector<std::string> cells = {form, rival, std::to_string(speedup->matrices)};
      add_speedup(cells, speedup);
      if (beside) add_speedup(cells, paper_speedup(type, rival));
      table.add(std::move(cells));
    }
  return fmt::format("Table {}: how many times faster, {}{}\n", type == ValueType::f32 ? 1 : 2, to_string(type),
                     beside ? "; the paper's on a V100, 94 matrices" : "") +
         table.text();
}

std::string preparation_table(const std::vector<EhybCase>& cases) {
  Table table({"matrix", "type", "product", "partition", "in products", "reorder", "in products", "both"}, {1});
  for (const EhybCase& one : cases) {
    const auto preparation = one.preparation("ehyb");
    if (!preparation) continue;
    const double partition = preparation->partition_products(), reorder = preparation->reorder_products();
    table.add({name_of(one), std::string(to_string(one.formats.type)), seconds_text(preparation->product_seconds),
               seconds_text(preparation->partition_seconds), products(partition),
               seconds_text(preparation->reorder_seconds), products(reorder), products(partition + reorder)});
  }
  return "Figure 6: set-up of ehyb, in seconds and in products of its own; in the paper partitioning takes 400 to "
         "1,500\n"
         "products (16 threads), reordering 50 to 400, both 500 to 2,000\n" +
         table.text();
}

constexpr std::int64_t max_iterations = 20000;

std::vector<std::string> solving_formats(Device device) {
  std::vector<std::string> formats = {"ehyb"};
  for (const std::string& rival : available_on(device, {"csr", "csr:merge"})) formats.push_back(rival);
  return formats;
}

/// The use that the paper has in mind: in a solver whose preconditioner is a product, too.
std::string whole_solves_tables(const std::vector<EhybCase>& cases, ValueType type, Device device) {
  const std::vector<NamedSolves> all = solves_in(cases, type);
  const std::vector<std::string> formats = solving_formats(device);
  return fmt::format("In a solver: seconds of everything from the matrix on the host to the answer, {}\n",
                     solves_goal_text(all, type)) +
         solves_table(all, formats) +
         fmt::format("\nBy how much less time that is with ehyb, percent, {}\n", to_string(type)) +
         solves_improvement_table(all, "ehyb", formats);
}

}  // namespace

PaperResult run_paper_ehyb(const PaperRun& paper) {
  const Device device = paper.run.device;
  const auto measured = measure_all<EhybCase>(
      ehyb_sources(paper.sources, device), paper,
      [&](const auto& source, const auto& matrix, const auto& run, auto& notes) {
        EhybCase one = run_ehyb_case(source, matrix, run, notes);
        if (paper.solve)
          one.solves = run_paper_solves(source, matrix, solving_formats(device), Preconditioning::approximate_inverse,
                                        max_iterations, run, notes);
        return one;
      });
  const std::vector<EhybCase>& cases = measured.cases;
  note_missing(paper, measured.notes);

  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.wants(type))
      paper.show(speed_table(cases, type, device) + "\n" + speedup_table(cases, type, device) + "\n");
  paper.show(preparation_table(cases));
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.solve && paper.wants(type)) paper.show("\n" + whole_solves_tables(cases, type, device));
  nlohmann::ordered_json json = paper_json("ehyb", paper, measured.notes);
  for (const EhybCase& one : cases) json["matrices"].push_back(to_json(one));
  json["summary"] = summary_json(cases, device);
  return measured.result(json);
}

}  // namespace weft::bench
