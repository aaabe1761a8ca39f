#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/order.hpp>
#include <weft/structure.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "commands.hpp"
#include "core/timer.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::seconds_text;
using bench::Table;
using bench::with_noun;

struct ReorderOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string ordering;
  std::string output;
  std::string permutation;
  bool json = false;
};

/// What an order is judged by.
struct Figures {
  std::int64_t bandwidth = 0;
  std::int64_t profile = 0;
  std::int64_t objective = 0;
};

template <Value V>
Figures figures_of(const Csr<V>& matrix) {
  const Structure structure = analyze(matrix);
  return {structure.bandwidth, structure.profile, bar_objective(matrix)};
}

struct Summary {
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
  ValueType type = ValueType::f64;
  bool columns_too = false;
  double seconds = 0;
  Figures before = {};
  Figures after = {};
};

/// B.mtx.gz and B.weft have theirs in B.perm.mtx.
std::string permutation_path(const ReorderOptions& options) {
  if (!options.permutation.empty()) return options.permutation;
  std::string name = options.output;
  for (const std::string ending : {".mtx", ".mtx.gz", ".weft"})
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name + ".perm.mtx";
}

std::string as_text(const ReorderOptions& options, const Summary& summary) {
  std::string text =
      fmt::format("{}: {} x {}, {}, {}\n", options.source, count_text(summary.rows), count_text(summary.cols),
                  with_noun(summary.nonzeros, "nonzero"), to_string(summary.type));
  text += fmt::format("{} by {} in {}\n\n", summary.columns_too ? "rows and columns" : "rows", options.ordering,
                      seconds_text(summary.seconds));
  Table table({"", "before", "after", "after/before"});
  const auto add = [&](const char* name, std::int64_t before, std::int64_t after) {
    const double ratio = before == 0 ? 1.0 : static_cast<double>(after) / static_cast<double>(before);
    table.add({name, count_text(before), count_text(after), before == 0 ? "-" : fmt::format("{:.3f}", ratio)});
  };
  add("bandwidth", summary.before.bandwidth, summary.after.bandwidth);
  add("profile", summary.before.profile, summary.after.profile);
  add("bar objective", summary.before.objective, summary.after.objective);
  return text + table.text();
}

nlohmann::ordered_json as_json(const Figures& figures) {
  return {{"bandwidth", figures.bandwidth}, {"profile", figures.profile}, {"bar_objective", figures.objective}};
}

std::string as_json(const ReorderOptions& options, const Summary& summary) {
  const nlohmann::ordered_json json = {{"schema", 1},
                                       {"source", options.source},
                                       {"type", to_string(summary.type)},
                                       {"rows", summary.rows},
                                       {"cols", summary.cols},
                                       {"nonzeros", summary.nonzeros},
                                       {"ordering", options.ordering},
                                       {"columns_too", summary.columns_too},
                                       {"ordering_seconds", summary.seconds},
                                       {"output", options.output},
                                       {"permutation", permutation_path(options)},
                                       {"before", as_json(summary.before)},
                                       {"after", as_json(summary.after)}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Row numbers from 1, one a line.
void write_permutation(const std::string& path, const Array<Index>& rows, bool columns_too) {
  Array<double> numbers(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) numbers[i] = rows[i] + 1.0;
  write_vector<double>(path, numbers);
  note(fmt::format("wrote {}: the row of the source that each row is{}", path,
                   columns_too ? ", and likewise the columns" : ""));
}

template <Value V>
int reorder(const ReorderOptions& options) {
  const Csr<V> matrix = load<V>(options.source, options.reading);
  Summary summary{matrix.rows, matrix.cols, matrix.nonzeros(), value_type<V>};
  Order order;
  {
    ProgressBar bar(fmt::format("ordering {} by {}", options.source, options.ordering));
    const Stopwatch watch;
    order = weft::order(matrix, parse_ordering(options.ordering), {.progress = bar.callback()});
    summary.seconds = watch.seconds();
  }
  const Csr<V> reordered = permute(matrix, order);
  summary.columns_too = !order.columns.empty();
  summary.before = figures_of(matrix);
  summary.after = figures_of(reordered);
  save(options.output, reordered);
  write_permutation(permutation_path(options), order.rows, summary.columns_too);
  print(options.json ? as_json(options, summary) : as_text(options, summary));
  return success;
}

int run(const ReorderOptions& options) {
  options.common.apply();
  require_matrix_target(options.output);
  const std::string permutation = permutation_path(options);
  namespace fs = std::filesystem;
  if (fs::absolute(permutation).lexically_normal() == fs::absolute(options.output).lexically_normal())
    throw UsageError(fmt::format("the matrix and its permutation cannot both be '{}'; give --permutation another name",
                                 permutation));
  require_target_folder(permutation);
  return with_type(options.reading.value_type(), [&]<Value V>() { return reorder<V>(options); });
}

}  // namespace

Command add_reorder(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("reorder", "renumber the rows, or rows and columns, of a matrix");
  const auto options = std::make_shared<ReorderOptions>();
  std::vector<std::string> names;
  for (const Ordering ordering : orderings())
    if (ordering != Ordering::none) names.emplace_back(to_string(ordering));
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser
      ->add_option("--by", options->ordering,
                   "length: longest rows first; rcm: close to the diagonal; amd: for factorizations; bar: rows that "
                   "compress well together")
      ->type_name("ORDERING")
      ->required()
      ->check(CLI::IsMember(names));
  parser->add_option("-o,--output", options->output, "file to write: .mtx, .mtx.gz or .weft")
      ->type_name("FILE")
      ->required();
  parser
      ->add_option("--permutation", options->permutation,
                   "file for the numbers of the rows in their new order, from 1 (default: beside the output, "
                   "NAME.perm.mtx)")
      ->type_name("FILE");
  parser->add_flag("--json", options->json, "print the summary as JSON");
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer(
      "rcm and amd number rows and columns alike and need a square matrix; length and bar move rows only. The i-th\n"
      "number of the permutation is the row of the source that became row i (and likewise its column).\n\n"
      "Example:\n  weft reorder gen:circuit:5000 --by rcm -o circuit.weft");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
