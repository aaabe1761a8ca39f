#pragma once
#include <weft/csr.hpp>

#include <functional>

namespace weft {

/// Sorts the columns of each row, in place; entries at the same column keep their order. Parallel; linear in the
/// entries but for the logarithm of a row's length. Values, or positions, move along.
template <class T>
void sort_rows(Index rows, Index cols, const Offset* offsets, Index* columns, T* values);

/// Makes a matrix canonical whose offsets are right and whose columns are in range, but neither sorted nor unique.
/// `own_arrays`: its columns and values may be changed in place; else they are copied when they must change.
/// `refusal(row, column)` gives the sentence for the first refused duplicate.
///
/// Peak memory besides `loose`: a copy of it when its arrays are not ours and a row must be sorted, and the result when
/// duplicates are merged.
template <Value V>
Csr<V> make_canonical(Csr<V> loose, bool own_arrays, Duplicates duplicates,
                      const std::function<std::string(Index row, Index column)>& refusal);

/// Throws unless both are possible dimensions: Error(invalid_matrix) below 0, Error(unsupported) past 2^31-1.
void check_dimensions(std::int64_t rows, std::int64_t cols);

/// Throws Error(out_of_memory) when this machine has less memory than the offsets of so many rows take: a file of a few
/// bytes may claim any number. `name` is the file's, for the sentence.
void check_offsets_memory(const std::string& name, Index rows);

}  // namespace weft
