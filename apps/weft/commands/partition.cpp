#include <fmt/format.h>
#include <weft/partition.hpp>
#include <weft/structure.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "commands.hpp"
#include "core/timer.hpp"
#include "facts/blocks.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::seconds_text;
using bench::Table;
using bench::with_noun;

struct PartitionCommand {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::int64_t parts = 0;
  std::int64_t most_rows = 0;
  std::string block = "auto";
  std::string method = "automatic";
  std::string coordinates;
  std::string output;
  bool json = false;
};

struct Summary {
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
  Index parts = 0;
  int block = 1;
  PartitionQuality quality = {};
  double seconds = 0;

  double cut_share() const {
    return nonzeros == 0 ? 0 : static_cast<double>(quality.cut) / static_cast<double>(nonzeros);
  }
};

/// The rows of a node; 0 stands for whatever the matrix shows.
int block_rows(const std::string& text) {
  if (text == "auto") return 0;
  int rows = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  if (error != std::errc{} || stopped != text.data() + text.size() || rows < 1)
    throw UsageError(fmt::format("--block is 'auto' or the rows of a node, 1 or more, not '{}'", text));
  return rows;
}

/// As the number of points shows, or else the matrix.
template <Value V>
int rows_per_node(const Csr<V>& matrix, const Coordinates* coordinates) {
  if (coordinates && !coordinates->points.empty()) {
    const auto points = static_cast<Offset>(coordinates->points.size()) / coordinates->dimensions;
    if (points < matrix.rows && matrix.rows % points == 0) return static_cast<int>(matrix.rows / points);
  }
  return find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data()).size;
}

std::string as_text(const PartitionCommand& command, const Summary& summary) {
  std::string text = fmt::format("{}: {} x {}, {}\n", command.source, count_text(summary.rows),
                                 count_text(summary.cols), with_noun(summary.nonzeros, "nonzero"));
  text +=
      fmt::format("{} by {} in {}", with_noun(summary.parts, "part"), command.method, seconds_text(summary.seconds));
  if (summary.block > 1) text += fmt::format(", {} rows a node", summary.block);
  text += "\n\n";
  Table table({"parts", "largest", "smallest", "entries cut", "share"});
  table.add({count_text(summary.parts), count_text(summary.quality.largest), count_text(summary.quality.smallest),
             count_text(summary.quality.cut), fmt::format("{:.2f} %", 100 * summary.cut_share())});
  return text + table.text();
}

std::string as_json(const PartitionCommand& command, const Summary& summary) {
  const nlohmann::ordered_json json = {{"schema", 1},
                                       {"source", command.source},
                                       {"rows", summary.rows},
                                       {"cols", summary.cols},
                                       {"nonzeros", summary.nonzeros},
                                       {"method", command.method},
                                       {"block", summary.block},
                                       {"parts", summary.parts},
                                       {"largest", summary.quality.largest},
                                       {"smallest", summary.quality.smallest},
                                       {"empty", summary.quality.empty},
                                       {"cut", summary.quality.cut},
                                       {"cut_share", summary.cut_share()},
                                       {"partition_seconds", summary.seconds},
                                       {"output", command.output}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

template <Value V>
int run_for(const PartitionCommand& command) {
  const Csr<V> matrix = load<V>(command.source, command.reading);
  Summary summary{matrix.rows, matrix.cols, matrix.nonzeros()};
  PartitionOptions options{.parts = static_cast<Index>(command.parts),
                           .most_rows = static_cast<Index>(command.most_rows),
                           .block = block_rows(command.block),
                           .method = parse_partitioner(command.method)};
  if (!command.coordinates.empty())
    options.coordinates = std::make_shared<const Coordinates>(read_coordinates(command.coordinates));
  if (options.block == 0) options.block = rows_per_node(matrix, options.coordinates.get());
  summary.block = options.block;
  Partition found;
  {
    ProgressBar bar(fmt::format("partitioning {}", command.source));
    options.progress = bar.callback();
    const Stopwatch watch;
    found = partition(matrix, options);
    summary.seconds = watch.seconds();
  }
  summary.parts = found.parts;
  summary.quality = quality(matrix, found);
  if (!command.output.empty()) {
    write_partition(command.output, found);
    note(fmt::format("wrote {}: the part of each row, from 0", command.output));
  }
  print(command.json ? as_json(command, summary) : as_text(command, summary));
  return success;
}

int run(const PartitionCommand& command) {
  command.common.apply();
  if (command.parts == 0 && command.most_rows == 0)
    throw UsageError("say how many parts there are to be: --parts N, --most-rows N or both");
  block_rows(command.block);
  if (!command.output.empty()) require_target_folder(command.output);
  return with_type(command.reading.value_type(), [&]<Value V>() { return run_for<V>(command); });
}

}  // namespace

Command add_partition(CLI::App& tool) {
  CLI::App* parser =
      tool.add_subcommand("partition", "put the rows of a matrix into parts with few entries between them");
  const auto command = std::make_shared<PartitionCommand>();
  const auto most = std::int64_t{std::numeric_limits<Index>::max()};
  parser->add_option("SOURCE", command->source, "matrix file or generator")->required();
  parser->add_option("--parts", command->parts, "parts to make; more where --most-rows demands it")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, most));
  parser
      ->add_option("--most-rows", command->most_rows,
                   "no part gets more rows than this; without --parts, as few parts as that allows")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, most));
  parser
      ->add_option("--block", command->block,
                   "rows of a node, which stay together; auto: as the matrix shows (default auto)")
      ->type_name("N");
  std::vector<std::string> methods;
  for (const Partitioner method : partitioners()) methods.emplace_back(to_string(method));
  parser
      ->add_option("--method", command->method,
                   "multilevel: Weft's own, in parallel; metis: METIS's k-way partitioning; coordinates: halves of the "
                   "points of "
                   "--coordinates; contiguous: rows as they stand; automatic: coordinates where they are given, else "
                   "multilevel, or "
                   "contiguous if the matrix is not square (default automatic)")
      ->type_name("METHOD")
      ->check(CLI::IsMember(methods));
  parser
      ->add_option("--coordinates", command->coordinates,
                   "where the rows or nodes are, a point per line, or fem:MESH:...")
      ->type_name("FILE");
  parser->add_option("-o,--output", command->output, "file to write: the part of each row, one number from 0 a line")
      ->type_name("FILE");
  parser->add_flag("--json", command->json, "print the summary as JSON");
  command->reading.add_to(*parser);
  command->common.add_to(*parser);
  parser->footer(
      "Parts are cut from the graph of A + A^T, rows and columns alike, so the matrix must be square, but for\n"
      "contiguous and coordinates. 'weft spmv', 'bench' and 'convert' take the file by --partition.\n\n"
      "Example:\n  weft partition gen:elasticity3d:12 --parts 8 -o bricks.part");
  return {parser, [command] { return run(*command); }};
}

}  // namespace weft::app
