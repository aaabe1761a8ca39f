#include <weft/csr.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

#include "sparse/canonical.hpp"
#include "sparse/permutation.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

/// Explains why `order` is not a permutation of 0..size-1. Slow and sequential; only for the error.
std::string permutation_fault(std::span<const Index> order, Index size, const std::string& name) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string element = name + "[" + std::to_string(i) + "] is " + std::to_string(order[i]);
    if (order[i] < 0 || order[i] >= size) return element + ", outside 0.." + std::to_string(size - 1);
    if (seen[order[i]]) return element + ", which stands in it twice; it must be a permutation";
    seen[order[i]] = true;
  }
  return name + " is no permutation";
}

}  // namespace

Array<Index> inverse_permutation(std::span<const Index> order, Index size, const std::string& name) {
  if (order.size() != static_cast<std::size_t>(size))
    throw Error(ErrorCode::invalid_argument,
                name + " has " + std::to_string(order.size()) + " elements instead of " + std::to_string(size));
  Array<Index> inverse(order.size());
  std::atomic<bool> fault{false};
  // A number that occurs twice leaves one of its two places unconfirmed, whichever thread wrote last.
  parallel_for(size, entry_grain, [&](Offset i) {
    if (order[i] < 0 || order[i] >= size) return fault.store(true, std::memory_order_relaxed);
    std::atomic_ref(inverse[order[i]]).store(static_cast<Index>(i), std::memory_order_relaxed);
  });
  if (!fault)
    parallel_for(size, entry_grain, [&](Offset i) {
      if (inverse[order[i]] != i) fault.store(true, std::memory_order_relaxed);
    });
  if (fault) throw Error(ErrorCode::invalid_argument, permutation_fault(order, size, name));
  return inverse;
}

template <Value V>
Csr<V> permute(const Csr<V>& matrix, std::span<const Index> row_order, std::span<const Index> column_order,
               Array<Offset>* positions) {
  Array<Index> new_column;
  if (!row_order.empty()) inverse_permutation(row_order, matrix.rows, "row_order");
  if (!column_order.empty()) new_column = inverse_permutation(column_order, matrix.cols, "column_order");

  Csr<V> result{matrix.rows, matrix.cols, Array<Offset>(matrix.offsets.size()), Array<Index>(matrix.columns.size()),
                Array<V>(matrix.values.size())};
  if (std::ranges::equal(row_order, column_order)) result.symmetry = matrix.symmetry;
  if (positions) *positions = Array<Offset>(matrix.columns.size());
  const auto old_row = [&](Offset row) { return row_order.empty() ? static_cast<Index>(row) : row_order[row]; };
  parallel_for(matrix.rows, entry_grain, [&](Offset row) {
    result.offsets[row] = matrix.offsets[old_row(row) + 1] - matrix.offsets[old_row(row)];
  });
  prefix_sum(result.offsets.data(), matrix.rows);
  parallel_row_parts(result.offsets.data(), matrix.rows, [&](Index row, Offset begin, Offset end) {
    const Offset shift = matrix.offsets[old_row(row)] - result.offsets[row];
    for (Offset i = begin; i < end; ++i) {
      const Index column = matrix.columns[i + shift];
      result.columns[i] = column_order.empty() ? column : new_column[column];
      if (positions)
        (*positions)[i] = i + shift;
      else
        result.values[i] = matrix.values[i + shift];
    }
  });
  if (!column_order.empty() && positions)
    sort_rows(result.rows, result.cols, result.offsets.data(), result.columns.data(), positions->data());
  else if (!column_order.empty())
    sort_rows(result.rows, result.cols, result.offsets.data(), result.columns.data(), result.values.data());
  if (positions)
    parallel_for(result.nonzeros(), entry_grain, [&](Offset i) { result.values[i] = matrix.values[(*positions)[i]]; });
  return result;
}

#define WEFT_INSTANTIATE(V) \
  template Csr<V> permute(const Csr<V>&, std::span<const Index>, std::span<const Index>, Array<Offset>*);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
