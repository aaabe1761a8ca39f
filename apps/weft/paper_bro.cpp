#include "paper_bro.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace weft::app {
namespace {

std::string percent(double value) { return fmt::format("{:.1f} %", value); }
std::string percent(const std::optional<double>& value) { return value ? percent(*value) : "-"; }

std::string name_of(const bench::BroCase& one) {
  return one.paper ? one.paper->name : without_folders(one.formats.source);
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
    table.add({name_of(one), gflops_text(ell), gflops_text(ell_r), gflops_text(bro_ell), ratio_text(bro_ell, ell),
               ratio_text(bro_ell, ell_r), gflops_text(coo), gflops_text(bro_coo), ratio_text(bro_coo, coo),
               gflops_text(hyb), gflops_text(bro_hyb), ratio_text(bro_hyb, hyb)});
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
                 gflops_text(&ordering.bro_ell), ratio_text(&ordering.bro_ell, bro_ell),
                 ratio_text(&ordering.bro_ell, ell)});
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
  std::vector<bench::BroCase> cases;
  bool correct = true;
  for (const std::string& source : bench::bro_sources(options.sources)) {
    const Csr<V> matrix = load<V>(source, options.reading);
    ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
    bench::RunOptions run = options.run;
    run.progress = bar.callback();
    cases.push_back(bench::run_bro_case(source, matrix, run));
    for (const bench::Measurement& m : cases.back().formats.measurements) correct = correct && m.correct;
    for (const bench::BroOrdering& ordering : cases.back().orderings) correct = correct && ordering.bro_ell.correct;
  }
  if (options.shows_tables())
    print(savings_table(cases) + "\n" + speed_table(cases) + "\n" + ordering_table(cases) + "\n");
  const bench::BroSweep sweep = bench::run_bro_sweep<V>(options.run);
  if (options.shows_tables()) print(sweep_table(sweep));
  nlohmann::ordered_json json = paper_json("bro", options, {});
  for (const bench::BroCase& one : cases) json["matrices"].push_back(bench::to_json(one));
  json["dense_sweep"] = bench::to_json(sweep);
  write_json(options, json);
  return judge(correct);
}

}  // namespace

int run_paper_bro(const PaperOptions& options) {
  return with_type(options.reading.value_type(), [&]<Value V>() { return run_typed<V>(options); });
}

}  // namespace weft::app
