#include "paper_bro.hpp"

#include <fmt/format.h>
#include <weft/runtime.hpp>

#include <nlohmann/json.hpp>

#include "core/bandwidth.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace weft::app {
namespace {

std::string percent(double value) { return fmt::format("{:.1f} %", value); }
std::string percent(const std::optional<double>& value) { return value ? percent(*value) : "-"; }

/// As the paper calls it, or else the source without its folders.
std::string name_of(const bench::BroCase& one) {
  return one.paper ? one.paper->name : without_folders(one.formats.source);
}

std::string gflops(const bench::Measurement* m) { return m ? fmt::format("{:.2f}", m->gflops) : "-"; }

/// How many times faster `fast` is.
std::string ratio(const bench::Measurement* fast, const bench::Measurement* slow) {
  if (!fast || !slow || !(fast->timing.median > 0)) return "-";
  return fmt::format("{:.2f}x", slow->timing.median / fast->timing.median);
}

const bench::BroOrdering* find_ordering(const bench::BroCase& one, const std::string& name) {
  for (const bench::BroOrdering& ordering : one.orderings)
    if (ordering.name == name && ordering.failure.empty()) return &ordering;
  return nullptr;
}

}  // namespace

std::string savings_table(const std::vector<bench::BroCase>& cases) {
  Table table({"matrix", "bro-ell", "paper", "after bar", "paper", "bro-hyb", "paper", "in ell", "paper"});
  for (const bench::BroCase& one : cases) {
    const bench::PaperMatrix* paper = one.paper;
    const bool first = paper && paper->set == 1, second = paper && paper->set == 2;
    const bench::BroOrdering* bar = find_ordering(one, "bar");
    table.add({name_of(one), percent(one.savings.ell), first ? percent(paper->eta) : "-", bar ? percent(bar->eta) : "-",
               first ? percent(paper->eta_bar) : "-", percent(one.savings.hyb), second ? percent(paper->eta) : "-",
               percent(one.savings.ell_share), second ? percent(paper->ell_share) : "-"});
  }
  return "Tables 3 to 5: space savings eta, ours beside the paper's\n" + table.text();
}

std::string speed_table(const std::vector<bench::BroCase>& cases) {
  Table table({"matrix", "ell", "ell:r", "bro-ell", "over ell", "over ell:r", "coo", "bro-coo", "over coo", "hyb",
               "bro-hyb", "over hyb"});
  for (const bench::BroCase& one : cases) {
    const auto *ell = one.find("ell"), *ell_r = one.find("ell:r"), *bro_ell = one.find("bro-ell");
    const auto *coo = one.find("coo"), *bro_coo = one.find("bro-coo");
    const auto *hyb = one.find("hyb"), *bro_hyb = one.find("bro-hyb");
    table.add({name_of(one), gflops(ell), gflops(ell_r), gflops(bro_ell), ratio(bro_ell, ell), ratio(bro_ell, ell_r),
               gflops(coo), gflops(bro_coo), ratio(bro_coo, coo), gflops(hyb), gflops(bro_hyb), ratio(bro_hyb, hyb)});
  }
  return "Figures 4, 7 and 8: GFLOP/s, and how many times faster\n" + table.text();
}

std::string ordering_table(const std::vector<bench::BroCase>& cases) {
  Table table({"matrix", "order", "eta", "found in", "GFLOP/s", "over bro-ell", "over ell"});
  for (const bench::BroCase& one : cases) {
    const bench::Measurement *ell = one.find("ell"), *bro_ell = one.find("bro-ell");
    for (const bench::BroOrdering& ordering : one.orderings) {
      if (!ordering.failure.empty() || !ordering.bro_ell.measured()) {
        table.add_remark(name_of(one), ordering.name + ": " +
                                           (ordering.failure.empty() ? ordering.bro_ell.failure : ordering.failure));
        continue;
      }
      table.add({name_of(one), ordering.name, percent(ordering.eta), seconds_text(ordering.seconds),
                 gflops(&ordering.bro_ell), ratio(&ordering.bro_ell, bro_ell), ratio(&ordering.bro_ell, ell)});
    }
  }
  return "Figure 9: bro-ell after reordering\n" + table.text();
}

std::string sweep_table(const bench::BroSweep& sweep) {
  Table table({"bits an index", "eta", "time", "GFLOP/s", "over ell"});
  for (const bench::BroSweepPoint& point : sweep.points)
    table.add({std::to_string(point.bits), percent(point.eta), seconds_text(point.timing.median),
               fmt::format("{:.2f}", sweep.gflops(point.timing)),
               fmt::format("{:.2f}x", sweep.ell.median / point.timing.median)});
  return fmt::format("Figure 3: bro-ell on a dense matrix, {} x {}, {}; ell reaches {:.2f} GFLOP/s\n",
                     count_text(sweep.rows), count_text(sweep.cols), to_string(sweep.type), sweep.gflops(sweep.ell)) +
         table.text();
}

namespace {

template <Value V>
int run_typed(const PaperOptions& options) {
  std::vector<std::string> sources = options.sources;
  if (sources.empty())
    for (const bench::PaperMatrix& matrix : bench::bro_matrices())
      if (*matrix.source) sources.emplace_back(matrix.source);
  const bool shows = options.json != "-";
  std::vector<bench::BroCase> cases;
  bool correct = true;
  for (const std::string& source : sources) {
    const Csr<V> matrix = load<V>(source, options.reading);
    ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
    bench::RunOptions run = options.run;
    run.progress = bar.callback();
    cases.push_back(bench::run_bro_case(source, matrix, run));
    for (const bench::Measurement& m : cases.back().formats.measurements) correct = correct && m.correct;
    for (const bench::BroOrdering& ordering : cases.back().orderings) correct = correct && ordering.bro_ell.correct;
  }
  if (shows) print(savings_table(cases) + "\n" + speed_table(cases) + "\n" + ordering_table(cases) + "\n");
  const bench::BroSweep sweep = bench::run_bro_sweep<V>(options.run);
  if (shows) print(sweep_table(sweep));
  if (!options.json.empty()) {
    nlohmann::ordered_json json = {{"schema", 1},
                                   {"tool", "weft bench --paper bro"},
                                   {"machine", bench::to_json(bench::this_machine())},
                                   {"device", options.run.device.name()},
                                   {"matrices", nlohmann::ordered_json::array()},
                                   {"dense_sweep", bench::to_json(sweep)}};
    for (const bench::BroCase& one : cases) json["matrices"].push_back(bench::to_json(one));
    write_text(options.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  if (correct) return success;
  complain("a format gave a wrong product; please report it");
  return verification_failed;
}

}  // namespace

int run_paper_bro(const PaperOptions& options) {
  return with_type(options.reading.value_type(), [&]<Value V>() { return run_typed<V>(options); });
}

}  // namespace weft::app
