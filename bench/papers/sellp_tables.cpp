#include "sellp.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "plan/bandwidth.hpp"

namespace weft::bench {
namespace {

using Cases = std::vector<SellpCase>;

/// Kernels that the paper or we have numbers of.
std::vector<SellpKernel> kernels_of(const Cases& cases) {
  std::vector<SellpKernel> kernels;
  for (const SellpKernel kernel : sellp_kernels)
    if (std::ranges::any_of(
            cases, [&](const SellpCase& one) { return one.kernel(kernel) || (one.paper && one.paper->time(kernel)); }))
      kernels.push_back(kernel);
  return kernels;
}

/// "SELL-P = sell:c=8:sigma=1:t=8, ...": what stands for the paper's kernels here.
std::string legend(const std::vector<SellpKernel>& kernels, Device device) {
  std::string text;
  for (const SellpKernel kernel : kernels) {
    const std::string name = kernel == SellpKernel::cpu ? "the fastest on the CPU" : sellp_name(kernel, device);
    if (!name.empty() && name != paper_title(kernel))
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", paper_title(kernel), name);
  }
  return text + "\n";
}

std::string overhead_table(const Cases& cases) {
  Table table(
      {"matrix", "rows", "nonzeros", "a row", "paper: rows", "nonzeros", "ELLPACK", "SELL-8", "SELL-P", "sell"});
  for (const SellpCase& one : cases) {
    const std::int64_t nonzeros = one.formats.nonzeros;
    const double a_row =
        one.formats.rows > 0 ? static_cast<double>(nonzeros) / static_cast<double>(one.formats.rows) : 0;
    const Measurement* chosen = one.kernel(SellpKernel::chosen);
    table.add({name_of(one), count_text(one.formats.rows), count_text(nonzeros), fmt::format("{:.2f}", a_row),
               one.paper ? count_text(one.paper->rows) : "-", one.paper ? count_text(one.paper->nonzeros) : "-",
               padding_text(one.ell_padding, nonzeros), padding_text(one.sell_padding, nonzeros),
               padding_text(one.sellp_padding, nonzeros), chosen ? padding_text(chosen->padding, nonzeros) : "-"});
  }
  return "Table I: the matrices, and what is stored besides their entries: ELLPACK, slices of 8 rows, these padded for "
         "8\n"
         "threads a row (SELL-P, b = t = 8), and sell with the numbers it chooses\n" +
         table.text();
}

/// Here and in the paper, a row each: `number(seconds, nonzeros)` of every kernel. The paper's are f64.
template <class Number>
std::string kernel_table(const Cases& cases, ValueType type, Number&& number) {
  const std::vector<SellpKernel> kernels = kernels_of(cases);
  std::vector<std::string> titles = {"matrix", "by"};
  for (const SellpKernel kernel : kernels) titles.emplace_back(paper_title(kernel));
  Table table(titles, {1});
  for (const SellpCase& one : cases) {
    if (one.formats.type != type) continue;
    std::vector<std::string> here = {name_of(one), "Weft"}, paper = {"", "paper, K40c"};
    for (const SellpKernel kernel : kernels) {
      const auto ours = one.time(kernel), theirs = one.paper ? one.paper->time(kernel) : std::nullopt;
      here.push_back(ours ? number(*ours, one.formats.nonzeros) : "-");
      paper.push_back(theirs ? number(*theirs, one.paper->nonzeros) : "-");
    }
    table.add(std::move(here));
    if (one.paper && type == ValueType::f64) table.add(std::move(paper));
  }
  return table.text();
}

std::string times_table(const Cases& cases, ValueType type, Device device) {
  std::string text =
      fmt::format("Table III: seconds of a product, {}\n{}", to_string(type), legend(kernels_of(cases), device)) +
      kernel_table(cases, type, [](double seconds, std::int64_t) { return fmt::format("{:.2e}", seconds); });
  for (const SellpCase& one : cases)
    for (const Measurement& m : one.formats.measurements)
      if (one.formats.type == type && !m.measured())
        text += fmt::format("{}: {}: {}\n", name_of(one), m.name, m.failure);
  return text;
}

std::string speed_table(const Cases& cases, ValueType type) {
  return fmt::format("Figure 5: GFLOP/s, {}\n", to_string(type)) +
         kernel_table(cases, type, [](double seconds, std::int64_t nonzeros) {
           return fmt::format("{:.2f}", 2e-9 * static_cast<double>(nonzeros) / seconds);
         });
}

std::string throughput_table(const Cases& cases, ValueType type) {
  Table table({"matrix", "SELL-P", "GB/s", "of bw", "sell", "GB/s", "of bw"});
  for (const SellpCase& one : cases) {
    if (one.formats.type != type) continue;
    std::vector<std::string> cells = {name_of(one)};
    for (const SellpKernel kernel : {SellpKernel::sellp, SellpKernel::chosen}) {
      const Measurement* m = one.kernel(kernel);
      cells.push_back(m ? seconds_text(m->timing.median) : "-");
      cells.push_back(m ? fmt::format("{:.2f}", m->gigabytes) : "-");
      cells.push_back(m && m->bandwidth_share > 0 ? percent_text(m->bandwidth_share) : "-");
    }
    table.add(std::move(cells));
  }
  return fmt::format(
             "Table II: time and memory throughput, {}; the paper's SELL-P read 212.59 GB/s of 288 on audikw_1\n",
             to_string(type)) +
         table.text();
}

std::string speedup_table(const Cases& cases, ValueType type, bool beside) {
  std::vector<std::string> titles = {"format", "against", "matrices", "faster", "max", "min", "mean"};
  if (beside) titles.insert(titles.end(), {"paper: faster", "max", "min", "mean"});
  Table table(titles, {1});
  for (const SellpKernel form : {SellpKernel::sellp, SellpKernel::chosen})
    for (const SellpKernel rival : sellp_kernels) {
      const auto speedup = form == rival ? std::nullopt : sellp_speedup(cases, type, form, rival);
      if (!speedup) continue;
      std::vector<std::string> cells = {paper_title(form), paper_title(rival), std::to_string(speedup->matrices)};
      add_speedup(cells, speedup);
      if (beside) add_speedup(cells, form == SellpKernel::sellp ? paper_sellp_speedup(rival) : std::nullopt);
      table.add(std::move(cells));
    }
  return fmt::format("How many times faster, {}{}\n", to_string(type),
                     beside ? "; the paper's by its Table III, f64 on a K40c, 20 matrices" : "") +
         table.text();
}

}  // namespace

PaperResult run_paper_sellp(const PaperRun& paper) {
  const Device device = paper.run.device;
  PaperRun with_bandwidth = paper;
  const std::vector<std::string> sources = sellp_sources(paper.sources, device);
  with_bandwidth.run.bandwidth = measure_bandwidth(device);
  const auto measured = measure_all<SellpCase>(
      sources, with_bandwidth, [](const auto& source, const auto& matrix, const auto& run, auto& notes) {
        return run_sellp_case(source, matrix, run, notes);
      });
  const Cases& cases = measured.cases;
  note_missing(paper, measured.notes);
  Cases once;
  for (const SellpCase& one : cases)
    if (one.formats.type == cases.front().formats.type) once.push_back(one);
  paper.show(overhead_table(once));
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.wants(type))
      for (const std::string& table : {times_table(cases, type, device), speed_table(cases, type),
                                       throughput_table(cases, type), speedup_table(cases, type, !device.is_cpu())})
        paper.show("\n" + table);
  nlohmann::ordered_json json = paper_json("sellp", paper, measured.notes);
  for (const SellpCase& one : cases) json["matrices"].push_back(to_json(one));
  json["summary"] = summary_json(cases);
  return measured.result(json);
}

}  // namespace weft::bench
