#include "bro.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"

namespace weft::bench {
namespace {

std::string percent(double value) { return fmt::format("{:.1f} %", value); }
std::string percent(const std::optional<double>& value) { return value ? percent(*value) : "-"; }

std::string name_of(const BroCase& one) { return one.paper ? one.paper->name : without_folders(one.formats.source); }

const BroOrdering* find_ordering(const BroCase& one, const std::string& name) {
  for (const BroOrdering& ordering : one.orderings)
    if (ordering.name == name && ordering.failure.empty()) return &ordering;
  return nullptr;
}

std::string savings_table(const std::vector<BroCase>& cases) {
  Table table({"matrix", "bro-ell", "paper", "after bar", "paper", "bro-hyb", "paper", "in ell", "paper"});
  for (const BroCase& one : cases) {
    const PaperMatrix* paper = one.paper;
    const bool first = paper && paper->set == 1, second = paper && paper->set == 2;
    const BroOrdering* bar = find_ordering(one, "bar");
    table.add({name_of(one), percent(one.savings.ell), first ? percent(paper->eta) : "-", bar ? percent(bar->eta) : "-",
               first ? percent(paper->eta_bar) : "-", percent(one.savings.hyb), second ? percent(paper->eta) : "-",
               percent(one.savings.ell_share), second ? percent(paper->ell_share) : "-"});
  }
  return "Tables 3 to 5: space savings eta, ours beside the paper's\n" + table.text();
}

std::string speed_table(const std::vector<BroCase>& cases) {
  Table table({"matrix", "ell", "ell:r", "bro-ell", "over ell", "over ell:r", "coo", "bro-coo", "over coo", "hyb",
               "bro-hyb", "over hyb"});
  for (const BroCase& one : cases) {
    const auto *ell = one.find("ell"), *ell_r = one.find("ell:r"), *bro_ell = one.find("bro-ell");
    const auto *coo = one.find("coo"), *bro_coo = one.find("bro-coo");
    const auto *hyb = one.find("hyb"), *bro_hyb = one.find("bro-hyb");
    table.add({name_of(one), gflops_text(ell), gflops_text(ell_r), gflops_text(bro_ell), ratio_text(bro_ell, ell),
               ratio_text(bro_ell, ell_r), gflops_text(coo), gflops_text(bro_coo), ratio_text(bro_coo, coo),
               gflops_text(hyb), gflops_text(bro_hyb), ratio_text(bro_hyb, hyb)});
  }
  return "Figures 4, 7 and 8: GFLOP/s, and how many times faster\n" + table.text();
}

std::string ordering_table(const std::vector<BroCase>& cases) {
  Table table({"matrix", "order", "eta", "found in", "GFLOP/s", "over bro-ell", "over ell"});
  for (const BroCase& one : cases) {
    const Measurement *ell = one.find("ell"), *bro_ell = one.find("bro-ell");
    for (const BroOrdering& ordering : one.orderings) {
      if (!ordering.failure.empty() || !ordering.bro_ell.measured()) {
        table.add_remark(name_of(one), ordering.name + ": " +
                                           (ordering.failure.empty() ? ordering.bro_ell.failure : ordering.failure));
        continue;
      }
      table.add({name_of(one), ordering.name, percent(ordering.eta), seconds_text(ordering.seconds),
                 gflops_text(&ordering.bro_ell), ratio_text(&ordering.bro_ell, bro_ell),
                 ratio_text(&ordering.bro_ell, ell)});
    }
  }
  return "Figure 9: bro-ell after reordering\n" + table.text();
}

std::string sweep_table(const BroSweep& sweep) {
  Table table({"bits an index", "eta", "time", "GFLOP/s", "over ell"});
  for (const BroSweepPoint& point : sweep.points)
    table.add({std::to_string(point.bits), percent(point.eta), seconds_text(point.timing.median),
               fmt::format("{:.2f}", sweep.gflops(point.timing)),
               fmt::format("{:.2f}x", sweep.ell.median / point.timing.median)});
  return fmt::format("Figure 3: bro-ell on a dense matrix, {} x {}, {}; ell reaches {:.2f} GFLOP/s\n",
                     count_text(sweep.rows), count_text(sweep.cols), to_string(sweep.type), sweep.gflops(sweep.ell)) +
         table.text();
}

BroSweep sweep_in(ValueType type, const RunOptions& options) {
  return type == ValueType::f32 ? run_bro_sweep<float>(options) : run_bro_sweep<double>(options);
}

}  // namespace

PaperResult run_paper_bro(const PaperRun& paper) {
  const auto measured = measure_all<BroCase>(
      bro_sources(paper.sources), paper,
      [](const auto& source, const auto& matrix, const auto& run, auto&) { return run_bro_case(source, matrix, run); });
  const std::vector<BroCase>& cases = measured.cases;
  paper.show(savings_table(cases) + "\n" + speed_table(cases) + "\n" + ordering_table(cases) + "\n");
  nlohmann::ordered_json json = paper_json("bro", paper, {});
  for (const BroCase& one : cases) json["matrices"].push_back(to_json(one));
  if (!measured.stopped) {
    const BroSweep sweep = sweep_in(paper.types.front(), paper.run);
    paper.show(sweep_table(sweep));
    json["dense_sweep"] = to_json(sweep);
  }
  return measured.result(json);
}

}  // namespace weft::bench
