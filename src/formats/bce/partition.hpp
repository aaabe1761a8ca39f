#pragma once
#include <weft/structure.hpp>

#include <span>
#include <vector>

namespace weft::bce {

/// The paper's L where nobody says otherwise: the threads a multiprocessor holds, one of them a row.
constexpr Index default_rows_to_fill = 2048;

/// Rows grouped by length into blocks, each stored as wide as its longest row. Block b holds the rows of
/// widths[b - 1] < length <= widths[b], with 0 before the first; empty rows are in none. Every block has rows, and one
/// of them has the block's width.
struct Partition {
  std::vector<Offset> widths;   ///< ascending, the last is the longest row; none where all rows are empty
  std::vector<Index> rows;      ///< rows a block
  std::vector<Offset> entries;  ///< a block, without padding
  Offset cost = 0;              ///< sum of width * max(rows, rows_to_fill), exact
  Offset padding = 0;           ///< sum of width * rows, less the entries
  bool operator==(const Partition&) const = default;
};

/// The partition of least cost (section 5 of the paper), and of these one of the fewest blocks. Exact, in time linear
/// in the number of lengths. `lengths` as in RowLengths::row_lengths: ascending; a length of 0 is skipped.
/// Throws Error if these are no lengths of a matrix's rows, or if rows_to_fill is not positive.
Partition optimal_partition(std::span<const LengthCount> lengths, Index rows_to_fill = default_rows_to_fill);

/// The partition with these boundaries, ascending and positive. Rows longer than the last one make one block more; a
/// block is as wide as its longest row, also where the boundary is wider; blocks without rows are left out.
/// Throws Error as above, or if the boundaries do not ascend, or if the cost is 2^63 or more.
Partition partition_at(std::span<const LengthCount> lengths, std::span<const Offset> boundaries,
                       Index rows_to_fill = default_rows_to_fill);

}  // namespace weft::bce
