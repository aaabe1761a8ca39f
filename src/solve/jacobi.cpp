#include <weft/error.hpp>
#include <weft/solve.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "solve/diagonal.hpp"

namespace weft {

template <Value V>
Preconditioner<V> jacobi(const MatrixSource<V>& A, Device device) {
  const Csr<V>& matrix = A.host();
  if (matrix.rows != matrix.cols)
    throw Error(ErrorCode::invalid_argument, "jacobi: the matrix has " + std::to_string(matrix.rows) + " rows and " +
                                                 std::to_string(matrix.cols) + " columns");
  Array<V> values(static_cast<std::size_t>(matrix.rows));
  for (Index row = 0; row < matrix.rows; ++row) {
    const Index* const begin = matrix.columns.data() + matrix.offsets[row];
    const Index* const end = matrix.columns.data() + matrix.offsets[row + 1];
    const Index* const found = std::lower_bound(begin, end, row);
    const V diagonal = found != end && *found == row ? matrix.values[found - matrix.columns.data()] : V(0);
    const V inverse = V(1) / diagonal;
    if (diagonal == V(0) || !std::isfinite(inverse) || !std::isfinite(diagonal))
      throw Error(ErrorCode::invalid_argument,
                  "jacobi: the diagonal entry of row " + std::to_string(row) +
                      (found != end && *found == row ? " is " + std::to_string(diagonal) : std::string(" is missing")) +
                      "; another preconditioner may do, or none");
    values[static_cast<std::size_t>(row)] = inverse;
  }
  return std::make_shared<solve::DiagonalOperator<V>>(Vector<V>(device, std::span<const V>(values)));
}

#define WEFT_INSTANTIATE(V) template Preconditioner<V> jacobi<V>(const MatrixSource<V>&, Device);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
