#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include <span>
#include <string>

namespace weft {

/// What to do with two entries at the same place.
enum class Duplicates { sum, refuse };

/// A sparse matrix by rows. Canonical: offsets start at 0 and never fall, offsets[rows] == nonzeros, columns are in
/// 0..cols-1 and strictly ascending inside a row. Everything in Weft that takes a Csr expects it canonical; the
/// readers, generators and `make_csr` deliver it so, `check` says whether it is.
template <Value V>
struct Csr {
  Index rows = 0;
  Index cols = 0;
  Array<Offset> offsets = Array<Offset>(1, 0);  ///< rows + 1
  Array<Index> columns;                         ///< nonzeros
  Array<V> values;                              ///< nonzeros

  Offset nonzeros() const { return offsets.back(); }
  std::size_t bytes() const { return offsets.bytes() + columns.bytes() + values.bytes(); }
};

/// Empty when `matrix` is canonical, else one sentence naming the first thing that is wrong.
template <Value V>
std::string check(const Csr<V>& matrix);

/// Builds a canonical Csr from a caller's arrays, which may have unsorted columns and duplicates (summed in the order
/// they stand, or refused). Throws Error(invalid_matrix) when the arrays are no matrix, Error(unsupported) past 2^31-1
/// rows or columns. Shares the arrays when they are canonical already.
template <Value V>
Csr<V> make_csr(std::int64_t rows, std::int64_t cols, Array<Offset> offsets, Array<Index> columns, Array<V> values,
                Duplicates duplicates = Duplicates::sum);

/// The transposed matrix. When `positions` is given it receives, for each entry of the result, its position in
/// `matrix`.
template <Value V>
Csr<V> transpose(const Csr<V>& matrix, Array<Offset>* positions = nullptr);

/// Row i of the result is row `row_order[i]` of `matrix`; column j is column `column_order[j]`. An empty span keeps the
/// order. When `positions` is given it receives, for each entry of the result, its position in `matrix`. Throws
/// Error(invalid_argument) unless the spans are permutations.
template <Value V>
Csr<V> permute(const Csr<V>& matrix, std::span<const Index> row_order, std::span<const Index> column_order,
               Array<Offset>* positions = nullptr);

/// The same matrix with other values: f64 to f32 rounds.
template <Value To, Value From>
Csr<To> convert(const Csr<From>& matrix);

/// y = alpha op(A) x + beta y, one entry after the other, accumulated in f64: the reference all formats are tested
/// against. beta == 0 never reads y; alpha == 0 never reads x or A.
template <Value V>
void reference_apply(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<V> y);

}  // namespace weft
