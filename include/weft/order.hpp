#pragma once
#include <weft/csr.hpp>
#include <weft/export.hpp>
#include <weft/runtime.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace weft {

/// Ways to renumber the rows, or rows and columns, of a matrix.
enum class Ordering {
  none,    ///< as it stands
  length,  ///< rows by their lengths, the longest first; rows only
  rcm,     ///< reverse Cuthill-McKee: entries close to the diagonal; rows and columns alike, square matrices only
  amd,     ///< approximate minimum degree, for factorizations; likewise. Needs a build with SuiteSparse
  bar,     ///< rows that compress well together (Tang et al. 2013); rows only
};

WEFT_API std::string_view to_string(Ordering ordering);
/// Throws Error(invalid_argument), with what there is, for an unknown name.
WEFT_API Ordering parse_ordering(std::string_view name);
WEFT_API const std::vector<Ordering>& orderings();  ///< all of them, `none` first

/// Row i of the reordered matrix is row rows[i] of the matrix, and its column j is column columns[j], as in `permute`.
/// An empty array keeps the order.
struct Order {
  Array<Index> rows;
  Array<Index> columns;
  bool empty() const { return rows.empty() && columns.empty(); }
};

/// What `bar` counts with: a slice of rows is read by warps, its packed columns by symbols, x by cache lines.
struct BarModel {
  int slice_rows = 256;
  int warp_rows = 32;
  int symbol_bits = 32;
  int line_bytes = 128;
};

struct OrderOptions {
  Progress progress = {};
  BarModel bar = {};
};

/// Finds an order; apply it with `permute`. Parallel where that pays, and the same for any number of threads. Throws
/// Error(unsupported) for rcm and amd of a matrix that is not square, and for amd in a build without SuiteSparse;
/// Error(cancelled) when the progress callback asks to stop.
template <Value V>
WEFT_API Order order(const Csr<V>& matrix, Ordering ordering, const OrderOptions& options = {});

/// The memory transactions that a product with the reordered matrix takes by the model, without those for the values:
/// equation (1) of the paper, with (3) read as a union, by which bar orders. For each slice, its warps times (the
/// symbols of a packed row + for each j the cache lines of x that the j-th entries of its rows touch).
template <Value V>
WEFT_API Offset bar_objective(const Csr<V>& matrix, const Order& order = {}, const BarModel& model = {});

/// permute(matrix, order.rows, order.columns, positions).
template <Value V>
Csr<V> permute(const Csr<V>& matrix, const Order& order, Array<Offset>* positions = nullptr) {
  return permute(matrix, order.rows, order.columns, positions);
}

/// to[i] = from[order[i]]: a vector in this order. An empty order copies. Throws Error(invalid_argument) unless both
/// vectors, and the order, have the same length; every number of the order must be one of an element.
WEFT_API void gather(std::span<const float> from, std::span<const Index> order, std::span<float> to);
WEFT_API void gather(std::span<const double> from, std::span<const Index> order, std::span<double> to);
/// And back: to[order[i]] = from[i].
WEFT_API void scatter(std::span<const float> from, std::span<const Index> order, std::span<float> to);
WEFT_API void scatter(std::span<const double> from, std::span<const Index> order, std::span<double> to);

}  // namespace weft
