#include "bce.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"

namespace weft::bench {
namespace {

using Cases = std::vector<BceCase>;

const char* title_of(BceBy by) {
  return by == BceBy::weft ? "Weft" : by == BceBy::cusparse ? "cuSPARSE" : "paper, K20c";
}

/// A table with the paper's columns, but for those left out: `value(case, by, column)` is a number or none. A matrix
/// has a row for each of those who have numbers of it.
template <class Value>
Table grid(const Cases& cases, ValueType type, const std::vector<BceColumn>& left_out, int decimals, Value&& value,
           bool iterations = false) {
  std::vector<BceColumn> columns;
  std::vector<std::string> titles = {"matrix", "by"};
  if (iterations) titles.emplace_back("iterations");
  for (const BceColumn column : bce_columns)
    if (std::ranges::find(left_out, column) == left_out.end()) {
      columns.push_back(column);
      titles.emplace_back(to_string(column));
    }
  Table table(titles, {1});
  for (const BceCase& one : cases) {
    if (one.formats.type != type) continue;
    std::string name = name_of(one);
    for (const BceBy by : bce_rows) {
      std::vector<std::string> cells = {name, title_of(by)};
      if (iterations) cells.push_back(count_text(one.iterations()));
      bool has_number = false;
      for (const BceColumn column : columns) {
        const std::optional<double> number = value(one, by, column);
        has_number = has_number || number;
        cells.push_back(number_text(number, decimals));
      }
      if (!has_number) continue;
      table.add(std::move(cells));
      name.clear();
    }
  }
  return table;
}

std::string blocks_table(const Cases& cases, ValueType type) {
  Table table(
      {"matrix", "rows", "widest row", "nonzeros", "paper: widest", "nonzeros", "blocks", "padding", "gain over ell"});
  for (const BceCase& one : cases) {
    if (one.formats.type != type) continue;
    const auto* paper = one.paper;
    table.add({name_of(one), count_text(one.formats.rows), count_text(one.blocks.widest_row),
               count_text(one.formats.nonzeros), paper ? count_text(paper->widest_row) : "-",
               paper ? count_text(paper->nonzeros) : "-", count_text(static_cast<std::int64_t>(one.blocks.blocks)),
               padding_text(one.blocks.padding, one.formats.nonzeros), fmt::format("{:.2f}x", one.blocks.model_gain)});
  }
  return "Table 2: the matrices, and the blocks that cost least in the paper's model. Of symmetric matrices the paper "
         "took\none triangle, and its times are of that\n" +
         table.text();
}

std::string times_table(const Cases& cases, ValueType type) {
  Table table = grid(cases, type, {}, 4, [](const BceCase& one, BceBy by, BceColumn column) {
    const auto seconds = one.product(by, column);
    return seconds ? std::optional(*seconds * 1e3) : std::nullopt;
  });
  for (const BceCase& one : cases)
    for (const Measurement& m : one.formats.measurements)
      if (one.formats.type == type && !m.measured()) table.add_remark(name_of(one), m.name + ": " + m.failure);
  return fmt::format("Table 3: milliseconds of a product, {}\n", to_string(type)) + table.text();
}

std::string improvement_table(const Cases& cases, ValueType type, bool beside) {
  const std::vector<BceColumn> without_bce = {BceColumn::bce};
  Table table = grid(cases, type, without_bce, 1, [](const BceCase& one, BceBy by, BceColumn column) {
    return one.improvement(&BceCase::product, by, column);
  });
  const auto mean = [&](BceBy by, BceColumn column) {
    if (by == BceBy::paper) return paper_mean_improvement(type, column);
    double sum = 0;
    int count = 0;
    for (const BceCase& one : cases)
      if (const auto gain = one.improvement(&BceCase::product, by, column); gain && one.formats.type == type) {
        sum += *gain;
        ++count;
      }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  };
  for (const BceBy by : bce_rows) {
    std::vector<std::string> cells = {"mean", title_of(by)};
    bool has_number = false;
    for (const BceColumn column : bce_columns) {
      if (column == BceColumn::bce) continue;
      has_number = has_number || mean(by, column);
      cells.push_back(number_text(mean(by, column), 1));
    }
    if (has_number && (beside || by != BceBy::paper)) table.add(std::move(cells));
  }
  return fmt::format("Table 4: by how much less time bce takes for a product, percent, {}\n", to_string(type)) +
         table.text();
}

std::string solving_table(const Cases& cases, ValueType type) {
  return fmt::format(
             "Table 5: seconds with all iterations of a solver, the paper's or else 7,500, and the transformation, "
             "{}\n",
             to_string(type)) +
         grid(
             cases, type, {}, 3, [](const BceCase& one, BceBy by, BceColumn column) { return one.solving(by, column); },
             true)
             .text() +
         fmt::format("\nTable 6: by how much less time that is with bce, percent, {}\n", to_string(type)) +
         grid(cases, type, {BceColumn::bce}, 1, [](const BceCase& one, BceBy by, BceColumn column) {
           return one.improvement(&BceCase::solving, by, column);
         }).text();
}

std::string transformation_table(const Cases& cases, ValueType type) {
  const auto milliseconds = [](const BceCase& one, BceBy by, BceColumn column) {
    const auto seconds = one.transformation(by, column);
    return seconds ? std::optional(*seconds * 1e3) : std::nullopt;
  };
  const auto products = [](const BceCase& one, BceBy by, BceColumn column) {
    const auto once = one.transformation(by, column), each = one.product(by, column);
    return once && each ? std::optional(*once / *each) : std::nullopt;
  };
  return fmt::format("Table 7: milliseconds to come from csr, {}\n", to_string(type)) +
         grid(cases, type, {BceColumn::csr}, 3, milliseconds).text() +
         fmt::format("\nThe same in products of the format, {}\n", to_string(type)) +
         grid(cases, type, {BceColumn::csr}, 1, products).text();
}

std::string cpu_table(const Cases& cases, ValueType type) {
  Table table({"matrix", "by", "on the CPU", "seconds", "bce in all", "improvement"}, {1, 2});
  for (const BceCase& one : cases) {
    if (one.formats.type != type) continue;
    std::string name = name_of(one);
    for (const BceBy by : {BceBy::weft, BceBy::paper}) {
      const auto cpu = one.cpu_seconds(by), all = one.total_seconds(by);
      if (!cpu || !all) continue;
      table.add({name, title_of(by), by == BceBy::paper ? "mkl, 2 x Opteron 6376" : one.fastest_on_cpu()->name,
                 fmt::format("{:.6f}", *cpu), fmt::format("{:.6f}", *all),
                 fmt::format("{:.1f} %", improvement_percent(*cpu, *all))});
      name.clear();
    }
  }
  return fmt::format(
             "Table 8: seconds of one product: on the CPU with csr, the fastest there; and with bce, moving the "
             "matrix to the\ndevice and the transformation included, {}\n",
             to_string(type)) +
         table.text();
}

/// The first is the one that says whether a system can be solved.
const std::vector<std::string> solving_formats = {"bce", "hyb", "ell", "coo", "csr"};

/// Tables 5, 6 and 8 once more: the paper multiplies a product's time by the iterations of another program.
std::string whole_solves_tables(const Cases& cases, ValueType type) {
  const std::vector<NamedSolves> all = solves_in(cases, type);
  return fmt::format("Table 5 with whole solves: seconds of everything from the matrix on the host to the answer, {}\n",
                     solves_goal_text(all, type)) +
         solves_table(all, solving_formats) +
         fmt::format("\nTable 6 with whole solves: by how much less time that is with bce, percent, {}\n",
                     to_string(type)) +
         solves_improvement_table(all, "bce", solving_formats) +
         fmt::format(
             "\nTable 8 with whole solves: the soonest on the CPU, csr or another library's solver; and with bce, {}\n",
             to_string(type)) +
         solves_cpu_table(all, "bce");
}

}  // namespace

PaperResult run_paper_bce(const PaperRun& paper) {
  const Device device = paper.run.device;
  const auto measured =
      measure_all<BceCase>(bce_sources(paper.sources, device), paper,
                           [&](const auto& source, const auto& matrix, const auto& run, auto& notes) {
                             BceCase one = run_bce_case(source, matrix, run, notes);
                             if (paper.solve)
                               one.solves = run_paper_solves(source, matrix, solving_formats,
                                                             Preconditioning::automatic, one.iterations(), run, notes);
                             return one;
                           });
  const Cases& cases = measured.cases;
  note_missing(paper, measured.notes);
  // The paper's means are of a GPU, which a CPU does not compare with.
  paper.show(blocks_table(cases, cases.front().formats.type));
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.wants(type))
      for (const std::string& table :
           {times_table(cases, type), improvement_table(cases, type, !device.is_cpu()), solving_table(cases, type),
            transformation_table(cases, type), cpu_table(cases, type)})
        paper.show("\n" + table);
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    if (paper.solve && paper.wants(type)) paper.show("\n" + whole_solves_tables(cases, type));
  nlohmann::ordered_json json = paper_json("bce", paper, measured.notes);
  for (const BceCase& one : cases) json["matrices"].push_back(to_json(one));
  return measured.result(json);
}

}  // namespace weft::bench
