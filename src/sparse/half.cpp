#include <weft/csr.hpp>

#include <string>

#include "core/parallel.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

/// How many entries of a row are below the diagonal; one on it is the last of the row.
template <Value V>
Offset below_diagonal(const Csr<V>& lower, Index row) {
  const Offset begin = lower.offsets[row], end = lower.offsets[row + 1];
  return end - begin - (begin < end && lower.columns[end - 1] == row ? 1 : 0);
}

template <Value V>
void require_half(const HalfCsr<V>& half) {
  const Csr<V>& lower = half.lower;
  const auto refuse = [](const std::string& sentence) { throw Error(ErrorCode::invalid_matrix, sentence); };
  if (half.symmetry == Symmetry::general) refuse("a matrix without symmetry has no half to make the whole of");
  if (lower.rows != lower.cols)
    refuse("the half of a symmetric matrix must be square, but this one has " + std::to_string(lower.rows) +
           " rows and " + std::to_string(lower.cols) + " columns");
  const bool skew = half.symmetry == Symmetry::skew;
  FirstPosition wrong;
  parallel_ranges(lower.rows, entry_grain, [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row) {
      if (lower.offsets[row] == lower.offsets[row + 1]) continue;
      const Offset last = lower.offsets[row + 1] - 1;
      const Index column = lower.columns[last];
      if (column > row || (skew && column == row && lower.values[last] != V(0))) return wrong.report(row);
    }
  });
  if (!wrong.found()) return;
  const Offset row = wrong.get();
  const bool above = lower.columns[lower.offsets[row + 1] - 1] > row;
  refuse("row " + std::to_string(row) +
         (above ? " of a lower half has an entry above the diagonal"
                : " of a skew-symmetric matrix has a diagonal other than zero"));
}

}  // namespace

// 1. The transposed half has, of each row, the columns from the diagonal on, ascending.
// 2. A row of the result is the row of the half, then that of its transpose without the diagonal.
template <Value V>
Csr<V> whole(const HalfCsr<V>& half) {
  require_half(half);
  const Csr<V>& lower = half.lower;
  const Csr<V> upper = transpose(lower);
  const bool skew = half.symmetry == Symmetry::skew;

  Csr<V> result;
  result.rows = lower.rows;
  result.cols = lower.cols;
  result.symmetry = half.symmetry;
  result.offsets = Array<Offset>(lower.offsets.size());
  const auto length = [](const Csr<V>& matrix, Offset row) { return matrix.offsets[row + 1] - matrix.offsets[row]; };
  parallel_for(lower.rows, entry_grain, [&](Offset row) {
    result.offsets[row] = below_diagonal(lower, static_cast<Index>(row)) + length(upper, row);
  });
  prefix_sum(result.offsets.data(), lower.rows);
  result.columns = Array<Index>(static_cast<std::size_t>(result.nonzeros()));
  result.values = Array<V>(static_cast<std::size_t>(result.nonzeros()));

  parallel_row_parts(lower.offsets.data(), lower.rows, [&](Index row, Offset begin, Offset end) {
    const Offset shift = result.offsets[row] - lower.offsets[row];
    for (Offset i = begin; i < end; ++i) {
      result.columns[i + shift] = lower.columns[i];
      result.values[i + shift] = lower.values[i];
    }
  });
  parallel_row_parts(upper.offsets.data(), upper.rows, [&](Index row, Offset begin, Offset end) {
    const Offset shift = result.offsets[row + 1] - upper.offsets[row + 1];
    for (Offset i = begin; i < end; ++i) {
      if (upper.columns[i] == row) continue;  // on the diagonal, which the half has written
      result.columns[i + shift] = upper.columns[i];
      result.values[i + shift] = skew ? -upper.values[i] : upper.values[i];
    }
  });
  return result;
}

#define WEFT_INSTANTIATE(V) template Csr<V> whole(const HalfCsr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
