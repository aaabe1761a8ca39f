#include <weft/csr.hpp>

#include <utility>
#include <vector>

#include "sparse/canonical.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

/// Empty when the arrays fit together and the offsets cut the entries into rows, else what is wrong.
std::string offsets_fault(Index rows, const Array<Offset>& offsets, std::size_t columns, std::size_t values) {
  if (offsets.size() != static_cast<std::size_t>(rows) + 1)
    return "the matrix has " + text(rows) + " rows and so needs " + text(Offset(rows) + 1) + " offsets, not " +
           std::to_string(offsets.size());
  if (columns != values)
    return "there are " + std::to_string(columns) + " columns but " + std::to_string(values) + " values";
  if (offsets[0] != 0) return "the first offset is " + text(offsets[0]) + " instead of 0";
  FirstPosition falls;
  parallel_ranges(rows, entry_grain, [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row)
      if (offsets[row + 1] < offsets[row]) return falls.report(row);
  });
  if (falls.found())
    return "the offsets fall from " + text(offsets[falls.get()]) + " to " + text(offsets[falls.get() + 1]) +
           " at row " + text(falls.get());
  if (offsets.back() != static_cast<Offset>(columns))
    return "the last offset is " + text(offsets.back()) + " but there are " + std::to_string(columns) + " entries";
  return {};
}

std::string columns_fault(Index rows, Index cols, const Array<Offset>& offsets, const Array<Index>& columns) {
  FirstPosition outside;
  parallel_ranges(static_cast<Offset>(columns.size()), entry_grain, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i)
      if (columns[i] < 0 || columns[i] >= cols) return outside.report(i);
  });
  if (!outside.found()) return {};
  const Offset entry = outside.get();
  return "entry " + text(entry) + " (row " + text(row_of(offsets.data(), rows, entry)) + ") is in column " +
         text(columns[entry]) + ", but the matrix has " + text(cols) + " columns, counted from 0";
}

std::string order_fault(Index rows, const Array<Offset>& offsets, const Array<Index>& columns) {
  FirstPosition wrong;
  parallel_row_parts(offsets.data(), rows, [&](Index row, Offset begin, Offset end) {
    for (Offset i = std::max(begin, offsets[row] + 1); i < end; ++i)
      if (columns[i] <= columns[i - 1]) return wrong.report(i);
  });
  if (!wrong.found()) return {};
  const Offset entry = wrong.get();
  const std::string place = "entry " + text(entry) + " (row " + text(row_of(offsets.data(), rows, entry)) +
                            ", column " + text(columns[entry]) + ")";
  if (columns[entry] == columns[entry - 1]) return place + " repeats the column of the entry before it";
  return place + " comes after column " + text(columns[entry - 1]) + "; columns must ascend inside a row";
}

}  // namespace

template <Value V>
std::string check(const Csr<V>& matrix) {
  if (matrix.rows < 0 || matrix.cols < 0)
    return "a matrix of " + text(matrix.rows) + " x " + text(matrix.cols) + " cannot be";
  std::string fault = offsets_fault(matrix.rows, matrix.offsets, matrix.columns.size(), matrix.values.size());
  if (fault.empty()) fault = columns_fault(matrix.rows, matrix.cols, matrix.offsets, matrix.columns);
  if (fault.empty()) fault = order_fault(matrix.rows, matrix.offsets, matrix.columns);
  return fault;
}

template <Value V>
Csr<V> make_csr(std::int64_t rows, std::int64_t cols, Array<Offset> offsets, Array<Index> columns, Array<V> values,
                Duplicates duplicates) {
  check_dimensions(rows, cols);
  std::string fault = offsets_fault(static_cast<Index>(rows), offsets, columns.size(), values.size());
  if (fault.empty()) fault = columns_fault(static_cast<Index>(rows), static_cast<Index>(cols), offsets, columns);
  if (!fault.empty()) throw Error(ErrorCode::invalid_matrix, fault);

  const auto refusal = [&](Index row, Index column) {
    const Index* all = std::as_const(columns).data();
    const Index* end = all + offsets[row + 1];
    const Index* first = std::find(all + offsets[row], end, column);
    const Index* second = std::find(first + 1, end, column);
    return "entries " + text(first - all) + " and " + text(second - all) + " both stand at row " + text(row) +
           ", column " + text(column) + ", and duplicates are refused";
  };
  return make_canonical(Csr<V>{static_cast<Index>(rows), static_cast<Index>(cols), offsets, columns, values}, false,
                        duplicates, refusal);
}

template <Value To, Value From>
Csr<To> convert(const Csr<From>& matrix) {
  if constexpr (std::same_as<To, From>) {
    return matrix;
  } else {
    Array<To> values(matrix.values.size());
    parallel_for(matrix.nonzeros(), entry_grain, [&](Offset i) { values[i] = static_cast<To>(matrix.values[i]); });
    return {matrix.rows, matrix.cols, matrix.offsets, matrix.columns, std::move(values), matrix.symmetry};
  }
}

template <Value V>
void reference_apply(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<V> y) {
  const bool transposed = op == Op::transpose;
  const std::size_t x_size = static_cast<std::size_t>(transposed ? matrix.rows : matrix.cols);
  const std::size_t y_size = static_cast<std::size_t>(transposed ? matrix.cols : matrix.rows);
  if (x.size() != x_size || y.size() != y_size)
    throw Error(ErrorCode::invalid_argument, "the product takes x of length " + std::to_string(x_size) +
                                                 " and y of length " + std::to_string(y_size) + ", but they have " +
                                                 std::to_string(x.size()) + " and " + std::to_string(y.size()));

  // What beta leaves of y; neither 0 * NaN nor 0 * infinity may come in.
  using Wide = typename ValueTraits<V>::Wide;
  const auto kept = [&](std::size_t i) { return beta == V(0) ? Wide(0) : Wide(beta) * Wide(y[i]); };
  if (alpha == V(0)) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<V>(kept(i));
    return;
  }
  const auto product = [&](Offset i, std::size_t x_at) { return Wide(matrix.values[i]) * Wide(x[x_at]); };
  if (!transposed) {
    for (Index row = 0; row < matrix.rows; ++row) {
      Wide sum = 0;
      for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) sum += product(i, matrix.columns[i]);
      y[row] = static_cast<V>(Wide(alpha) * sum + kept(row));
    }
    return;
  }
  std::vector<Wide> sums(y_size, Wide(0));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) sums[matrix.columns[i]] += product(i, row);
  for (std::size_t column = 0; column < y_size; ++column)
    y[column] = static_cast<V>(Wide(alpha) * sums[column] + kept(column));
}

#define WEFT_INSTANTIATE(V)                                                                                \
  template std::string check(const Csr<V>&);                                                               \
  template Csr<V> make_csr(std::int64_t, std::int64_t, Array<Offset>, Array<Index>, Array<V>, Duplicates); \
  template void reference_apply(Op, V, const Csr<V>&, std::span<const V>, V, std::span<V>);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

#define WEFT_INSTANTIATE(V)                   \
  template Csr<float> convert(const Csr<V>&); \
  template Csr<double> convert(const Csr<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
