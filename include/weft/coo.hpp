#pragma once
#include <weft/csr.hpp>
#include <weft/export.hpp>

namespace weft {

/// A sparse matrix as a list of entries in any order, duplicates allowed. Indices count from 0.
template <Value V>
struct Coo {
  Index rows = 0;
  Index cols = 0;
  Array<Index> row_indices;
  Array<Index> column_indices;
  Array<V> values;

  Offset entries() const { return static_cast<Offset>(values.size()); }
};

/// Sorts by row and column and sums duplicates (in their order) or refuses them. Parallel; same result for any
/// number of threads. Throws Error(invalid_matrix) for an index out of range or a refused duplicate, naming the entry.
/// Shares columns and values when the entries are sorted and unique already.
template <Value V>
WEFT_API Csr<V> to_csr(const Coo<V>& entries, Duplicates duplicates = Duplicates::sum);

/// The entries of `matrix`, sorted by row and column. Columns and values are shared, not copied.
template <Value V>
WEFT_API Coo<V> to_coo(const Csr<V>& matrix);

}  // namespace weft
