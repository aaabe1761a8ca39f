#pragma once
#include <weft/array.hpp>

#include <span>
#include <vector>

#include "formats/bce/partition.hpp"
#include "formats/column_groups.hpp"
#include "simt/tuning.hpp"

// How rows are cut, grouped and spread over threads: what a set-up on the CPU and one on a GPU have in common.
namespace weft::bce {

/// What a set-up is asked for, and what it is made for.
struct Settings {
  Index rows_to_fill = default_rows_to_fill;  ///< the paper's L
  std::vector<Offset> boundaries;             ///< of the blocks; empty: those of least cost
  int threads = 0;                            ///< per row: 1, 2, 4, ... or 32; 0: by the rule of threads_per_row
  int lanes = ::weft::simt::block_threads;    ///< of a sub-block: it has lanes / threads rows, but at least one
  int group = 4;                              ///< columns a thread with a row of its own reads at once: 4 on a GPU
  int alignment = 32;                         ///< sub-blocks begin at multiples of so many entries
  Offset longest_row = 2048;                  ///< longer rows are cut ...
  Offset piece = 1024;                        ///< ... into pieces of so many entries; the last may have fewer
  Offset threads_to_fill = 1;                 ///< what the device holds at once
  int min_entries_per_thread = 4;             ///< see threads_per_row
  int max_entries_per_thread = 512;
  Offset share = 0;  ///< entries per thread; 0: by the three numbers above
};

/// Entries begin..end of the csr matrix: a long row, or a piece of one.
struct Piece {
  Offset begin = 0;
  Offset end = 0;
  bool operator==(const Piece&) const = default;
};

/// How many threads share a row of a block of a matrix with so many entries: as many as leave none of them more than
/// its share of the matrix, were all threads of the device at work. So no row takes longer than the whole product
/// should. A share has settings.min_entries_per_thread to max_entries_per_thread.
Offset share_of(Offset entries, const Settings& settings);
int threads_per_row(Offset width, Offset entries, const Settings& settings);

/// Everything that follows from the lengths of the rows. A row, or a piece of one, has a `number`: rows theirs, and
/// piece q has ~q, which is negative.
struct Layout {
  Partition partition;
  Array<Offset> block_rows;  ///< sub-blocks + 1: sub-block s has the places block_rows[s]..block_rows[s + 1]; those
                             ///< of the blocks come first, those of the empty rows last
  Array<Index> threads;      ///< per row of each sub-block
  int group = 1;             ///< see Storage
  Array<Offset> piece_starts{0};  ///< long rows + 1: the first piece of each
  Array<Piece> pieces;

  Offset entries() const;  ///< of the blocks, without padding
  Offset sub_blocks() const { return static_cast<Offset>(threads.size()); }
  Offset long_rows() const { return static_cast<Offset>(piece_starts.size()) - 1; }
  Offset numbers(Index rows) const { return rows + static_cast<Offset>(pieces.size()); }
  /// Blocks, the empty rows, the rows that were cut: rows and pieces are grouped by these keys, in this order.
  Index keys() const { return static_cast<Index>(partition.widths.size()) + 2; }
};

/// `lengths` counts the rows of each length, as RowLengths does. `long_rows` are the entries of those longer than
/// settings.longest_row, which are cut, ascending.
Layout make_layout(std::span<const LengthCount> lengths, std::span<const Piece> long_rows, const Settings& settings);

/// Which group a row or piece of this length belongs to; rows that were cut have the last one.
WEFT_HOST_DEVICE inline Index key_of(Offset length, const Offset* widths, Index blocks) {
  if (length == 0) return blocks;
  Index low = 0, high = blocks;  // Algorithm 3 of the paper: the first block that is wide enough
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (widths[middle] < length)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The columns of a sub-block that lie together, row after row; see place_in_slice.
WEFT_HOST_DEVICE inline int columns_together(int threads, int group, Index columns_left) {
  if (threads > 1) return threads;  // the width is a multiple of it
  while (group > columns_left) group /= 2;
  return group;
}

/// Where each sub-block begins, sub-blocks + 1 of them.
Array<Offset> place_sub_blocks(const Layout& layout, const Array<Index>& widths, int alignment);

}  // namespace weft::bce
