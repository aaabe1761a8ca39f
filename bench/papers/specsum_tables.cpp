#include "specsum.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "plan/bandwidth.hpp"

namespace weft::bench {
namespace {

using Cases = std::vector<SpecsumCase>;

std::string title_of(const SpecsumCase& one) { return one.paper ? one.paper->title : name_of(one); }

std::string matrices_table(const Cases& cases, ValueType type) {
  Table table({"matrix", "rows", "columns", "nonzeros", "a row: min, mean, max", "empty rows", "paper: rows", "columns",
               "nonzeros", "a row"});
  for (const SpecsumCase& one : cases) {
    if (one.formats.type != type) continue;
    const auto* paper = one.paper;
    const double mean =
        one.formats.rows > 0 ? static_cast<double>(one.formats.nonzeros) / static_cast<double>(one.formats.rows) : 0;
    table.add({title_of(one), count_text(one.formats.rows), count_text(one.formats.cols),
               count_text(one.formats.nonzeros),
               fmt::format("{}, {}, {}", count_text(one.shortest_row), count_text(std::llround(mean)),
                           count_text(one.longest_row)),
               count_text(one.empty_rows), paper ? paper->rows : "-", paper ? paper->cols : "-",
               paper ? paper->nonzeros : "-", paper ? paper->lengths : "-"});
  }
  return "Table 3: the matrices; a tile with an empty row is done again\n" + table.text();
}

/// What was measured on some matrix, the subject first: a peer may be missing.
std::vector<std::string> columns_of(const Cases& cases, Device device) {
  std::vector<std::string> columns;
  std::vector<std::string> names = specsum_rivals(device);
  names.insert(names.begin(), specsum_subject(device));
  for (const std::string& name : names)
    if (std::ranges::any_of(cases, [&](const SpecsumCase& one) { return one.find(name); })) columns.push_back(name);
  return columns;
}

std::string speed_table(const Cases& cases, ValueType type, Device device) {
  const std::vector<std::string> columns = columns_of(cases, device);
  std::vector<std::string> titles = {"matrix", "CPU, 1 thread", "CPU, best"};
  titles.insert(titles.end(), columns.begin(), columns.end());
  Table table(titles);
  for (const SpecsumCase& one : cases) {
    if (one.formats.type != type) continue;
    std::vector<std::string> cells = {title_of(one)};
    for (const auto& seconds : {one.one_thread_seconds(), one.cpu_seconds()})
      cells.push_back(seconds ? fmt::format("{:.2f}", one.gflops(*seconds)) : "-");
    for (const std::string& name : columns) cells.push_back(gflops_text(one.find(name)));
    table.add(std::move(cells));
    for (const Measurement& m : one.formats.measurements)
      if (!m.measured()) table.add_remark(title_of(one), m.name + ": " + m.failure);
  }
  return fmt::format("Figure {}: GFLOP/s, {}\n", type == ValueType::f32 ? 4 : 5, to_string(type)) + table.text();
}

std::string speedup_table(const Cases& cases, ValueType type, Device device) {
  // The paper's are of GPUs, which a CPU does not compare with.
  const bool beside = !device.is_cpu();
  const std::string subject = specsum_subject(device);
  std::vector<std::string> titles = {"against", "matrices", "faster", "max", "min", "mean"};
  if (beside)
    for (const char* processor : specsum_processors)
      titles.insert(titles.end(), {fmt::format("{}: max", processor), "mean"});
  Table table(titles);
  for (const std::string& rival : specsum_summary_rivals(device)) {
    const auto speedup = specsum_speedup(cases, type, subject, rival);
    if (!speedup) continue;
    std::vector<std::string> cells = {rival, std::to_string(speedup->matrices)};
    add_speedup(cells, speedup);
    if (beside)
      for (const std::string processor : specsum_processors) {
        std::string max = "-", mean = "-";
        for (const SpecsumPaperSpeedup& paper : paper_specsum_speedups(type, rival))
          if (paper.processor == processor) {
            if (paper.max > 0) max = fmt::format("{:.2f}x", paper.max);
            mean = fmt::format("{:.2f}x", paper.mean);
          }
        cells.insert(cells.end(), {max, mean});
      }
    table.add(std::move(cells));
  }
  return fmt::format("Section 4.4: how many times faster {} is, {}{}\n", subject, to_string(type),
                     beside ? "; the paper's on three processors, 20 matrices" : "") +
         table.text();
}

std::string bandwidth_table(const Cases& cases, ValueType type, Device device, double measured) {
  const std::string subject = specsum_subject(device);
  Table table({"matrix", "GB/s", "of bw", "set-up", "in products"});
  for (const SpecsumCase& one : cases) {
    const auto bytes = one.bandwidth(subject);
    if (one.formats.type != type || !bytes) continue;
    const Measurement& m = *one.find(subject);
    const double setup = m.setup.total() - m.setup.upload;
    table.add({title_of(one), fmt::format("{:.2f}", *bytes / 1e9), measured > 0 ? percent_text(*bytes / measured) : "-",
               seconds_text(setup), fmt::format("{:.1f}", setup / m.timing.median)});
  }
  return fmt::format(
             "Figure 6: bandwidth of {} as the paper counts it, an element of x for every entry, {}; and its "
             "set-up\n",
             subject, to_string(type)) +
         table.text();
}

}  // namespace

PaperResult run_paper_specsum(const PaperRun& paper) {
  const Device device = paper.run.device;
  const std::vector<std::string> sources = specsum_sources(paper.sources, device);
  const auto measured = measure_all<SpecsumCase>(
      sources, paper, [](const auto& source, const auto& matrix, const auto& run, auto& notes) {
        return run_specsum_case(source, matrix, run, notes);
      });
  const double bandwidth = measure_bandwidth(device);
  const Cases& cases = measured.cases;
  if (device.is_cpu()) paper.note("csr:speculative runs on GPUs, here csr stands for it: --device gpu, or emulator");
  note_missing(paper, measured.notes);
  paper.show(matrices_table(cases, cases.front().formats.type));
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.wants(type))
      for (const std::string& table : {speed_table(cases, type, device), speedup_table(cases, type, device),
                                       bandwidth_table(cases, type, device, bandwidth)})
        paper.show("\n" + table);
  nlohmann::ordered_json json = paper_json("specsum", paper, measured.notes);
  json["bandwidth_bytes_per_second"] = bandwidth;
  for (const SpecsumCase& one : cases) json["matrices"].push_back(to_json(one));
  json["summary"] = summary_json(cases, device);
  return measured.result(json);
}

}  // namespace weft::bench
