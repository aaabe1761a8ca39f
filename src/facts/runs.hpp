#pragma once
#include <weft/csr.hpp>

#include <cstdint>
#include <vector>

// What neighbouring rows have in common: entries at the same distance from the diagonal, for which a CPU can load x as
// a vector.
namespace weft::facts {

constexpr Index max_rows_of_run = 32;

/// Entries of neighbouring rows at one distance (column - row) from the diagonal.
struct Run {
  Index distance = 0;
  std::uint32_t mask = 0;  ///< bit i: row i of the slice has one
  bool operator==(const Run&) const = default;
};

/// The rows of one slice, in the order in which they are stored.
struct SliceRows {
  Index first = 0;
  Index count = 0;   ///< fewer than `places` in the last slice
  Index places = 0;  ///< rows per slice
};
SliceRows rows_of_slice(Index rows, Index slice_rows, Offset slice);

/// What a slice is made of: runs, by ascending distance, and what is left.
struct SliceCut {
  std::vector<Run> full;           ///< every row has an entry
  std::vector<Run> partial;        ///< at least half of them have
  std::vector<Index> left;         ///< per row: entries in no run
  Index lowest = 0, highest = -1;  ///< columns of these
  Offset in_runs = 0;              ///< entries

  /// Nothing but entries in no run; `order` may be empty.
  template <Value V>
  void without_runs(const Csr<V>& matrix, const Array<Index>& order, const SliceRows& rows);
  /// At most max_rows_of_run rows, which are not sorted. Returns false, perhaps half done, when the slice has too few
  /// runs to be worth it.
  template <Value V>
  bool into_runs(const Csr<V>& matrix, const SliceRows& rows);

 private:
  void clear(Index rows);
  void leave(Index row, Index first_column, Index last_column, Index count);
};

/// The share of the entries that would be in runs, by a sample of slices.
template <Value V>
double share_in_runs(const Csr<V>& matrix, Index slice_rows);

}  // namespace weft::facts
