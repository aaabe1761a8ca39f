#include <fmt/format.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/row_blocks.hpp"
#include "bench/report/draw.hpp"
#include "bench/report/numbers.hpp"
#include "commands.hpp"
#include "formats/bce/partition.hpp"
#include "formats/bce/tuning.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::percent_text;
using bench::structure_svg;

struct InfoOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string svg;
  bool json = false;
  bool partition = false;
  Index rows_to_fill = bce::default_rows_to_fill;
};

/// Rows whose lengths lie in first..last.
struct Bin {
  Offset first = 0;
  Offset last = 0;
  std::int64_t rows = 0;
};

/// One bin a length while these are few, else bins that double in width.
std::vector<Bin> bins_of(const std::vector<LengthCount>& lengths) {
  constexpr std::size_t few = 12;
  std::vector<Bin> bins;
  for (const LengthCount& count : lengths) {
    Offset first = count.length;
    Offset last = count.length;
    if (lengths.size() > few && count.length > 0) {
      first = 1;
      while (2 * first <= count.length) first *= 2;
      last = 2 * first - 1;
    }
    if (bins.empty() || bins.back().first != first) bins.push_back({first, last, 0});
    bins.back().rows += count.rows;
  }
  return bins;
}

std::string histogram(const std::vector<LengthCount>& lengths) {
  const std::vector<Bin> bins = bins_of(lengths);
  std::int64_t most = 1;
  std::size_t label_width = 0;
  std::size_t rows_width = 0;
  std::vector<std::string> labels;
  for (const Bin& bin : bins) {
    labels.push_back(bin.first == bin.last ? count_text(bin.first)
                                           : count_text(bin.first) + ".." + count_text(bin.last));
    label_width = std::max(label_width, labels.back().size());
    rows_width = std::max(rows_width, count_text(bin.rows).size());
    most = std::max(most, bin.rows);
  }
  std::string text;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double share = static_cast<double>(bins[i].rows) / static_cast<double>(most);
    // A bar that stands for any rows at all is seen.
    const int bar = bins[i].rows > 0 ? std::max(1, static_cast<int>(std::lround(share * 40))) : 0;
    text += fmt::format("  {:>{}} entries  {:>{}} rows  {:#<{}}\n", labels[i], label_width, count_text(bins[i].rows),
                        rows_width, "", bar);
  }
  return text;
}

std::string symmetry_text(const Structure& s) {
  if (s.rows != s.cols) return "no, it is not square";
  if (s.values_symmetric) return "yes, pattern and values";
  if (s.values_skew) return "skew: the mirrored values have the other sign";
  if (s.pattern_symmetric) return "of the pattern, not of the values";
  return fmt::format("no; {} of the off-diagonal entries have a mirror", percent_text(s.pattern_symmetry));
}

/// How a packed .weft file was made; empty: the source is none, or does not say.
std::string recipe_in(const std::string& source) { return is_generator(source) ? "" : stored_recipe(source); }

std::string as_text(const std::string& source, std::string_view type, const Structure& s) {
  const double room = static_cast<double>(s.rows) * s.cols;
  std::string text = fmt::format("{}\n", source);
  const auto fact = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", name, value);
  };
  text += "\nSize\n";
  fact("rows x columns", fmt::format("{} x {}", count_text(s.rows), count_text(s.cols)));
  fact("nonzeros",
       fmt::format("{}{}", count_text(s.nonzeros),
                   room > 0 ? fmt::format(" ({:.3g} % of the matrix)", 100 * static_cast<double>(s.nonzeros) / room)
                            : std::string()));
  fact("value type", std::string(type));
  if (const std::string recipe = recipe_in(source); !recipe.empty()) fact("stored as", recipe);

  text += "\nRows\n";
  fact("entries a row", fmt::format("{} to {}, mean {:.2f}, deviation {:.2f}", count_text(s.shortest_row),
                                    count_text(s.longest_row), s.mean_row, s.row_deviation));
  fact("empty rows", count_text(s.empty_rows));
  fact("empty columns", count_text(s.empty_columns));
  text += histogram(s.row_lengths);

  text += "\nPlaces\n";
  fact("bandwidth", count_text(s.bandwidth));
  fact("profile", count_text(s.profile));
  fact("locality", fmt::format("{} of neighbours share a line of x; mean column gap {:.1f}", percent_text(s.locality),
                               s.mean_column_gap));
  fact("symmetric", symmetry_text(s));
  fact("blocks",
       s.block_size > 1 ? fmt::format("{0} x {0}, {1} full", s.block_size, percent_text(s.block_fill)) : "none found");

  text += "\nValues\n";
  fact("diagonal",
       fmt::format("{} of {} stored", count_text(s.diagonal_entries), count_text(std::min(s.rows, s.cols))));
  fact("dominant rows", fmt::format("{} of {}", count_text(s.dominant_rows), count_text(s.rows)));
  fact("distinct values",
       s.many_distinct_values ? "more than " + count_text(Structure::distinct_limit) : count_text(s.distinct_values));
  fact("stored zeros", count_text(s.zeros_stored));
  if (s.not_finite > 0) fact("NaN or infinite", count_text(s.not_finite));
  return text;
}

nlohmann::ordered_json to_json(const std::string& source, std::string_view type, const Structure& s) {
  nlohmann::ordered_json lengths = nlohmann::ordered_json::array();
  for (const LengthCount& count : s.row_lengths) lengths.push_back({{"length", count.length}, {"rows", count.rows}});
  return {{"schema", 1},
          {"source", source},
          {"type", type},
          {"rows", s.rows},
          {"cols", s.cols},
          {"nonzeros", s.nonzeros},
          {"shortest_row", s.shortest_row},
          {"longest_row", s.longest_row},
          {"mean_row", s.mean_row},
          {"row_deviation", s.row_deviation},
          {"empty_rows", s.empty_rows},
          {"empty_columns", s.empty_columns},
          {"row_lengths", std::move(lengths)},
          {"bandwidth", s.bandwidth},
          {"profile", s.profile},
          {"locality", s.locality},
          {"mean_column_gap", s.mean_column_gap},
          {"pattern_symmetric", s.pattern_symmetric},
          {"pattern_symmetry", s.pattern_symmetry},
          {"values_symmetric", s.values_symmetric},
          {"values_skew", s.values_skew},
          {"block_size", s.block_size},
          {"block_fill", s.block_fill},
          {"diagonal_entries", s.diagonal_entries},
          {"dominant_rows", s.dominant_rows},
          {"distinct_values",
           s.many_distinct_values ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(s.distinct_values)},
          {"zeros_stored", s.zeros_stored},
          {"not_finite", s.not_finite}};
}

/// As bce groups the rows.
RowBlocksReport row_blocks_of(const RowLengths& lengths, Index rows_to_fill) {
  const auto blocks = [](bce::Partition partition) {
    return RowBlocks{std::move(partition.widths), std::move(partition.rows), std::move(partition.entries),
                     partition.cost, partition.padding};
  };
  std::vector<Offset> each;
  for (const LengthCount& count : lengths.row_lengths)
    if (count.length > 0) each.push_back(count.length);
  RowBlocksReport report{.format = "bce",
                         .remark = {},
                         .rows_to_fill = rows_to_fill,
                         .best = blocks(bce::optimal_partition(lengths.row_lengths, rows_to_fill)),
                         .one_block = blocks(bce::partition_at(lengths.row_lengths, {}, rows_to_fill)),
                         .block_per_length = blocks(bce::partition_at(lengths.row_lengths, each, rows_to_fill))};
  // The longest row of the matrix is the last block's width.
  if (!each.empty() && each.back() > bce::Tuning().longest_row)
    report.remark =
        fmt::format("On a GPU bce first cuts rows of more than {} entries into pieces, which this leaves out",
                    count_text(bce::Tuning().longest_row));
  return report;
}

template <Value V>
int describe_matrix(const InfoOptions& options) {
  const Csr<V> matrix = load<V>(options.source, options.reading);
  const Structure structure = analyze(matrix);
  std::optional<RowBlocksReport> partition;
  if (options.partition) partition = row_blocks_of(structure, options.rows_to_fill);
  if (!options.svg.empty()) {
    write_text(options.svg, partition ? row_blocks_svg(structure, partition->best, options.rows_to_fill, options.source)
                                      : structure_svg(matrix, structure, options.source));
    if (options.svg == "-") return success;
  }
  const std::string_view type = to_string(value_type<V>);
  if (options.json) {
    nlohmann::ordered_json json = to_json(options.source, type, structure);
    if (const std::string recipe = recipe_in(options.source); !recipe.empty()) json["recipe"] = recipe;
    if (partition) json["partition"] = to_json(*partition);
    print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  } else {
    print(as_text(options.source, type, structure) + (partition ? as_text(*partition) : ""));
  }
  return success;
}

int run(const InfoOptions& options) {
  options.common.apply();
  if (options.svg == "-" && options.json)
    throw UsageError("--svg - and --json both want standard output; give --svg a file");
  if (!options.svg.empty() && options.svg != "-") require_target_folder(options.svg);
  return with_type(options.reading.value_type(), [&]<Value V>() { return describe_matrix<V>(options); });
}

}  // namespace

Command add_info(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("info", "tell what a matrix is like");
  const auto options = std::make_shared<InfoOptions>();
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser
      ->add_option("--svg", options->svg,
                   "draw where the entries are and how long the rows are, or with --partition the blocks over the row "
                   "lengths; - is standard output")
      ->type_name("FILE");
  parser->add_flag("--json", options->json, "print the facts as JSON");
  CLI::Option* partition = parser->add_flag("--partition", options->partition,
                                            "tell how bce groups the rows into blocks of similar length, and the cost");
  parser
      ->add_option("--fill", options->rows_to_fill,
                   fmt::format("with --partition: rows that fill a multiprocessor, as many as a block costs at least "
                               "(default {})",
                               bce::default_rows_to_fill))
      ->type_name("N")
      ->check(CLI::Range(Index{1}, std::numeric_limits<Index>::max()))
      ->needs(partition);
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer(
      "Examples:\n  weft info gen:elasticity3d:12 --svg elasticity.svg\n"
      "  weft info gen:rmat:14 --partition --fill 192 --svg blocks.svg");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
