#pragma once
#include <weft/csr.hpp>
#include <weft/export.hpp>

#include <cstdint>
#include <vector>

namespace weft {

/// How many rows have a given number of entries.
struct LengthCount {
  Offset length = 0;
  Index rows = 0;
  bool operator==(const LengthCount&) const = default;
};

/// What the lengths of the rows tell. Cheap: a pass over the row offsets, less than a product takes. The planner looks
/// at no more than this.
struct RowLengths {
  Index rows = 0;
  Index cols = 0;
  Offset nonzeros = 0;

  std::vector<LengthCount> row_lengths;  ///< the distribution, ascending by length; lengths that occur only
  Offset shortest_row = 0;
  Offset longest_row = 0;
  double mean_row = 0;
  double row_deviation = 0;  ///< standard deviation of the row lengths
  Index empty_rows = 0;
  bool operator==(const RowLengths&) const = default;
};

/// Facts about a matrix that decide how to store it. Not cheap, several products: besides the row lengths a pass
/// over the entries, with a lookup for each entry right of the diagonal, and for each block size that divides the
/// matrix a pass over the columns, which ends as soon as the blocks prove too empty. All passes are parallel, and the
/// facts the same for any number of threads.
struct Structure : RowLengths {
  Index empty_columns = 0;

  Index bandwidth = 0;  ///< largest |row - column|
  Offset profile = 0;   ///< sum over rows of row - first column, where the first column lies left of the diagonal
  double locality = 0;  ///< share of neighbouring entries of a row whose columns lie in the same 64-byte line of x
                        ///< (f64); 1 if there are none
  double mean_column_gap = 0;  ///< mean difference of neighbouring columns of a row; 0 if there are none

  // Not square: all false and 0. A value that is not a number equals nothing, not even itself.
  bool pattern_symmetric = false;
  double pattern_symmetry = 0;    ///< share of off-diagonal entries whose mirror is stored too; 1 if there are none
  bool values_symmetric = false;  ///< and the pattern too
  bool values_skew = false;       ///< and the pattern too; stored diagonal entries are 0

  int block_size = 1;                ///< unknowns a node: the largest b in 2..6 that divides rows and columns and whose
                                     ///< b x b blocks, where touched, are at least 90 % full; else 1
  double block_fill = 1;             ///< entries / room in the blocks of that size
  Index diagonal_entries = 0;        ///< stored entries (i, i)
  Index dominant_rows = 0;           ///< rows with |a_ii| >= sum of the others' |a_ij|; empty rows are among them
  std::int64_t distinct_values = 0;  ///< bit patterns; exact up to distinct_limit, which stands for more
  bool many_distinct_values = false;  ///< there are more than distinct_limit
  std::int64_t zeros_stored = 0;
  std::int64_t not_finite = 0;  ///< NaN or infinite values

  static constexpr std::int64_t distinct_limit = 65536;
  bool operator==(const Structure&) const = default;
};

template <Value V>
WEFT_API RowLengths analyze_rows(const Csr<V>& matrix);

template <Value V>
WEFT_API Structure analyze(const Csr<V>& matrix);

}  // namespace weft
