#pragma once
#include <weft/array.hpp>
#include <weft/export.hpp>
#include <weft/types.hpp>

#include <span>
#include <string>

namespace weft {

/// What to do with two entries at the same place.
enum class Duplicates { sum, refuse };

/// Whether a matrix equals its transpose (symmetric) or its transpose with the other sign (skew).
enum class Symmetry { general, symmetric, skew };

/// A sparse matrix by rows. Canonical: offsets start at 0 and never fall, offsets[rows] == nonzeros, columns are in
/// 0..cols-1 and strictly ascending inside a row. Everything in Weft that takes a Csr expects it canonical; the
/// readers, generators and `make_csr` deliver it so, `check` reports whether it is.
///
/// `symmetry` is a mark: readers and generators set it where a file's header or the construction promises it, and
/// `transpose`, `convert` and a `permute` with one order for rows and columns keep it. `general` promises nothing.
/// Nobody computes with half of a matrix because of the mark alone: the facts verify it first. Whoever changes the
/// pattern or the values of a marked matrix sets it to `general`.
template <Value V>
struct Csr {
  Index rows = 0;
  Index cols = 0;
  Array<Offset> offsets = Array<Offset>(1, 0);  ///< rows + 1
  Array<Index> columns;                         ///< nonzeros
  Array<V> values;                              ///< nonzeros
  Symmetry symmetry = Symmetry::general;        ///< as promised, not verified

  Offset nonzeros() const { return offsets.back(); }
  std::size_t bytes() const { return offsets.bytes() + columns.bytes() + values.bytes(); }
};

/// Empty when `matrix` is canonical, else one sentence naming the first thing that is wrong.
template <Value V>
WEFT_API std::string check(const Csr<V>& matrix);

/// One half of a symmetric or skew-symmetric matrix: what a Matrix Market file with such a header stores. `lower` is
/// square and canonical and has no entries above its diagonal; a skew matrix has only zeros on it.
template <Value V>
struct HalfCsr {
  Csr<V> lower;
  Symmetry symmetry = Symmetry::symmetric;
};

/// The whole matrix, marked with its symmetry; the mirror image of a value has its bits, but for the sign if the matrix
/// is skew. Parallel and linear; the same bits for any number of threads. Takes as much memory as `half` besides the
/// result while it runs. Throws Error(invalid_matrix) when `half` is not as HalfCsr demands.
template <Value V>
WEFT_API Csr<V> whole(const HalfCsr<V>& half);

/// Builds a canonical Csr from a caller's arrays, which may have unsorted columns and duplicates (summed in their
/// order, or refused). Throws Error(invalid_matrix) when the arrays are not a matrix, Error(unsupported) past 2^31-1
/// rows or columns. Shares the arrays when they are canonical already.
template <Value V>
WEFT_API Csr<V> make_csr(std::int64_t rows, std::int64_t cols, Array<Offset> offsets, Array<Index> columns,
                         Array<V> values, Duplicates duplicates = Duplicates::sum);

/// The transposed matrix. When `positions` is given it receives, for each entry of the result, its position in
/// `matrix`.
template <Value V>
WEFT_API Csr<V> transpose(const Csr<V>& matrix, Array<Offset>* positions = nullptr);

/// Row i of the result is row `row_order[i]` of `matrix`; column j is column `column_order[j]`. An empty span keeps the
/// order. When `positions` is given it receives, for each entry of the result, its position in `matrix`. Throws
/// Error(invalid_argument) unless the spans are permutations.
template <Value V>
WEFT_API Csr<V> permute(const Csr<V>& matrix, std::span<const Index> row_order, std::span<const Index> column_order,
                        Array<Offset>* positions = nullptr);

/// The same matrix with other values: f64 to f32 rounds.
template <Value To, Value From>
WEFT_API Csr<To> convert(const Csr<From>& matrix);

/// y = alpha op(A) x + beta y, one entry after the other, accumulated in f64: the reference all formats are tested
/// against. beta == 0 never reads y; alpha == 0 never reads x or A.
template <Value V>
WEFT_API void reference_apply(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<V> y);

}  // namespace weft
