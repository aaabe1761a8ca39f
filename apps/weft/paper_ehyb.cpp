#include "paper_ehyb.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "output.hpp"
#include "paper.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace weft::app {
namespace {

std::string name_of(const bench::EhybCase& one) {
  return one.paper_name.empty() ? without_folders(one.formats.source) : one.paper_name;
}

std::string products(double count) { return count_text(std::llround(std::min(count, 1e15))); }

/// Rivals that were measured on some matrix: a peer may be missing.
std::vector<std::string> measured_rivals(const std::vector<bench::EhybCase>& cases, Device device) {
  std::vector<std::string> rivals;
  for (const std::string& rival : bench::ehyb_rivals(device))
    for (const bench::EhybCase& one : cases)
      if (one.find(rival)) {
        rivals.push_back(rival);
        break;
      }
  return rivals;
}

}  // namespace

std::string ehyb_speed_table(const std::vector<bench::EhybCase>& cases, ValueType type, Device device) {
  std::vector<std::string> names = bench::ehyb_forms, titles = {"matrix"};
  for (const std::string& rival : measured_rivals(cases, device)) names.push_back(rival);
  titles.insert(titles.end(), names.begin(), names.end());
  Table table(titles);
  for (const bench::EhybCase& one : cases) {
    if (one.formats.type != type) continue;
    std::vector<std::string> cells = {name_of(one)};
    for (const std::string& name : names) {
      const bench::Measurement* m = one.find(name);
      cells.push_back(m ? fmt::format("{:.2f}", m->gflops) : "-");
    }
    table.add(std::move(cells));
    for (const bench::Measurement& m : one.formats.measurements)
      if (!m.measured()) table.add_remark(name_of(one), m.name + ": " + m.failure);
  }
  return fmt::format("Figures {}: GFLOP/s, {}\n", type == ValueType::f32 ? "2 and 3" : "4 and 5", to_string(type)) +
         table.text();
}

std::string ehyb_speedup_table(const std::vector<bench::EhybCase>& cases, ValueType type, Device device) {
  // The paper's are of a GPU, which a CPU does not compare with.
  const bool beside = !device.is_cpu();
  std::vector<std::string> titles = {"format", "against", "matrices", "faster", "max", "min", "mean"};
  if (beside) titles.insert(titles.end(), {"paper: faster", "max", "min", "mean"});
  Table table(titles, {1});
  const auto add = [](std::vector<std::string>& cells, const std::optional<bench::Speedup>& speedup) {
    if (!speedup) return cells.insert(cells.end(), 4, "-"), void();
    cells.push_back(fmt::format("{:.0f} %", speedup->faster_percent));
    for (const double ratio : {speedup->max, speedup->min, speedup->mean})
      cells.push_back(fmt::format("{:.2f}x", ratio));
  };
  for (const std::string& form : bench::ehyb_forms)
    for (const std::string& rival : measured_rivals(cases, device)) {
      const auto speedup = bench::ehyb_speedup(cases, type, form, rival);
      if (!speedup) continue;
      std::vector<std::string> cells = {form, rival, std::to_string(speedup->matrices)};
      add(cells, speedup);
      if (beside) add(cells, bench::paper_speedup(type, rival));
      table.add(std::move(cells));
    }
  return fmt::format("Table {}: how many times faster, {}{}\n", type == ValueType::f32 ? 1 : 2, to_string(type),
                     beside ? "; the paper's on a V100, 94 matrices" : "") +
         table.text();
}

std::string ehyb_preparation_table(const std::vector<bench::EhybCase>& cases) {
  Table table({"matrix", "type", "product", "partition", "in products", "reorder", "in products", "both"}, {1});
  for (const bench::EhybCase& one : cases) {
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

namespace {

/// Measures all matrices in the types asked for.
class EhybSession {
 public:
  explicit EhybSession(const PaperOptions& options) : options_(options) {}

  void run(const std::string& source) {
    const std::string& type = options_.reading.type;
    if (type == "f32") return measure_matrix(source, load<float>(source, options_.reading));
    Csr<double> matrix = load<double>(source, options_.reading);
    if (type == "both") measure_matrix(source, convert<float>(matrix));
    measure_matrix(source, matrix);
  }

  const std::vector<bench::EhybCase>& cases() const { return cases_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  template <Value V>
  void measure_matrix(const std::string& source, const Csr<V>& matrix) {
    ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
    bench::RunOptions run = options_.run;
    run.progress = bar.callback();
    cases_.push_back(bench::run_ehyb_case(source, matrix, run, notes_));
  }

  const PaperOptions& options_;
  std::vector<bench::EhybCase> cases_;
  std::vector<std::string> notes_;
};

}  // namespace

int run_paper_ehyb(const PaperOptions& options) {
  const Device device = options.run.device;
  EhybSession session(options);
  for (const std::string& source : bench::ehyb_sources(options.sources, device)) session.run(source);
  const std::vector<bench::EhybCase>& cases = session.cases();
  if (device.kind() != Device::Kind::gpu) note("cuSPARSE is compared with on a GPU only: --device gpu");
  for (const std::string& sentence : session.notes()) note(sentence);

  if (options.json != "-") {
    for (const ValueType type : {ValueType::f32, ValueType::f64})
      if (options.reading.type == "both" || options.reading.value_type() == type)
        print(ehyb_speed_table(cases, type, device) + "\n" + ehyb_speedup_table(cases, type, device) + "\n");
    print(ehyb_preparation_table(cases));
  }
  if (!options.json.empty()) {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"tool", "weft bench --paper ehyb"},
                                   {"machine", bench::to_json(bench::this_machine())},
                                   {"device", device.name()},
                                   {"notes", session.notes()},
                                   {"matrices", nlohmann::ordered_json::array()},
                                   {"summary", bench::summary_json(cases, device)}};
    for (const bench::EhybCase& one : cases) json["matrices"].push_back(bench::to_json(one));
    write_text(options.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  for (const bench::EhybCase& one : cases)
    for (const bench::Measurement& m : one.formats.measurements)
      if (!m.peer && m.measured() && !m.correct) {
        complain("a format gave a wrong product; please report it");
        return verification_failed;
      }
  return success;
}

}  // namespace weft::app
