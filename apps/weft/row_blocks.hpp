#pragma once
#include <weft/structure.hpp>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft::app {

/// Rows grouped by length into blocks, each stored as wide as its longest row. Block b holds the rows of
/// widths[b - 1] < length <= widths[b], with 0 before the first; empty rows are in none.
struct RowBlocks {
  std::vector<Offset> widths = {};   ///< ascending, the last is the longest row; none where all rows are empty
  std::vector<Index> rows = {};      ///< per block
  std::vector<Offset> entries = {};  ///< per block, without padding
  Offset cost = 0;                   ///< sum of width * max(rows, rows_to_fill)
  Offset padding = 0;                ///< sum of width * rows, less the entries
};

/// The blocks of a format, beside the two simplest ones.
struct RowBlocksReport {
  std::string format;
  std::string remark;  ///< one more sentence about the format, without its end; may be empty
  Index rows_to_fill = 0;
  RowBlocks best;
  RowBlocks one_block;         ///< plain ELL
  RowBlocks block_per_length;  ///< no padding
};

std::string as_text(const RowBlocksReport& report);
nlohmann::ordered_json to_json(const RowBlocksReport& report);

/// How many rows have how many entries, and over it where the blocks end. The number of rows is on a logarithmic axis,
/// the lengths too where the longest row has more than a hundred times the shortest's.
std::string row_blocks_svg(const RowLengths& lengths, const RowBlocks& blocks, Index rows_to_fill,
                           const std::string& title);

}  // namespace weft::app
