#include "row_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"

namespace weft::app {
namespace {

using bench::count_text;
using bench::padding_text;
using bench::Table;
using Json = nlohmann::ordered_json;

/// More blocks than these are not all shown: the narrowest, the widest, and the sum of those between.
constexpr std::size_t most_shown = 20;
constexpr std::size_t narrowest_shown = 10, widest_shown = 8;

/// What neighbouring blocks have together.
struct Blocks {
  Offset shortest = 0;  // length a row may have
  Offset longest = 0;
  Offset rows = 0;
  Offset entries = 0;
  Offset padding = 0;
  Offset cost = 0;
};

Blocks block_of(const RowBlocks& partition, std::size_t b, Index rows_to_fill) {
  const Offset width = partition.widths[b], rows = partition.rows[b], entries = partition.entries[b];
  return {(b > 0 ? partition.widths[b - 1] : 0) + 1,   width, rows, entries, width * rows - entries,
          width * std::max<Offset>(rows, rows_to_fill)};
}

Blocks sum_of(const RowBlocks& partition, std::size_t begin, std::size_t end, Index rows_to_fill) {
  Blocks sum;
  for (std::size_t b = begin; b < end; ++b) {
    const Blocks one = block_of(partition, b, rows_to_fill);
    if (b == begin) sum.shortest = one.shortest;
    sum.longest = one.longest;
    sum.rows += one.rows;
    sum.entries += one.entries;
    sum.padding += one.padding;
    sum.cost += one.cost;
  }
  return sum;
}

std::string blocks_text(const RowBlocksReport& report) {
  const RowBlocks& best = report.best;
  const std::size_t count = best.widths.size();
  Table table({"block", "row lengths", "rows", "entries", "padding", "cost"});
  const auto add = [&](std::string name, const Blocks& blocks) {
    const std::string lengths = blocks.shortest == blocks.longest
                                    ? count_text(blocks.longest)
                                    : count_text(blocks.shortest) + ".." + count_text(blocks.longest);
    table.add({std::move(name), lengths, count_text(blocks.rows), count_text(blocks.entries),
               padding_text(blocks.padding, blocks.entries), count_text(blocks.cost)});
  };
  const std::size_t first_hidden = count > most_shown ? narrowest_shown : count;
  const std::size_t end_hidden = count > most_shown ? count - widest_shown : count;
  for (std::size_t b = 0; b < count; ++b) {
    if (b == first_hidden) {
      add(fmt::format("{} more", end_hidden - first_hidden),
          sum_of(best, first_hidden, end_hidden, report.rows_to_fill));
      b = end_hidden;
    }
    add(std::to_string(b + 1), block_of(best, b, report.rows_to_fill));
  }
  if (count > 1) add("all", sum_of(best, 0, count, report.rows_to_fill));
  return table.text(2);
}

Offset entries_of(const RowBlocks& partition) {
  Offset entries = 0;
  for (const Offset one : partition.entries) entries += one;
  return entries;
}

std::string comparison_text(const RowBlocksReport& report) {
  Table table({"partition", "blocks", "padding", "cost", "relative"});
  const auto add = [&](std::string name, const RowBlocks& partition) {
    table.add({std::move(name), count_text(static_cast<std::int64_t>(partition.widths.size())),
               padding_text(partition.padding, entries_of(partition)), count_text(partition.cost),
               fmt::format("{:.2f}x", static_cast<double>(partition.cost) / static_cast<double>(report.best.cost))});
  };
  add("optimal", report.best);
  add("one block (ell)", report.one_block);
  add("a block a length", report.block_per_length);
  return table.text(2);
}

}  // namespace

std::string as_text(const RowBlocksReport& report) {
  std::string text = fmt::format("\nPartition by row length ({})\n", report.format);
  if (report.best.widths.empty()) return text + "  no block: all rows are empty\n";
  text += "  A block is as wide as its longest row and costs its width times its rows";
  if (report.rows_to_fill > 1)
    text += fmt::format(",\n  or times {} where these are fewer: so many fill a multiprocessor",
                        count_text(report.rows_to_fill));
  if (!report.remark.empty()) text += ".\n  " + report.remark;
  return text + ".\n\n" + blocks_text(report) + "\n" + comparison_text(report);
}

nlohmann::ordered_json to_json(const RowBlocksReport& report) {
  Json blocks = Json::array();
  for (std::size_t b = 0; b < report.best.widths.size(); ++b) {
    const Blocks one = block_of(report.best, b, report.rows_to_fill);
    blocks.push_back({{"width", one.longest},
                      {"rows", one.rows},
                      {"entries", one.entries},
                      {"padding", one.padding},
                      {"cost", one.cost}});
  }
  const auto summary = [](const RowBlocks& partition) {
    return Json{{"blocks", partition.widths.size()}, {"padding", partition.padding}, {"cost", partition.cost}};
  };
  return {{"rows_to_fill", report.rows_to_fill},    {"blocks", std::move(blocks)},
          {"padding", report.best.padding},         {"cost", report.best.cost},
          {"one_block", summary(report.one_block)}, {"block_a_length", summary(report.block_per_length)}};
}

}  // namespace weft::app
