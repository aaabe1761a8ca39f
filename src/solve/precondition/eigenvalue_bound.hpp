#pragma once
#include <weft/csr.hpp>
#include <weft/linear_operator.hpp>

#include <vector>

namespace weft::precondition {

/// What an eigenvalue of D^-1 A is not above, D the diagonal of A: the largest sum of a row's |a_ij| / |a_ii|.
template <Value V>
double largest_row_sum(const Csr<V>& matrix, const Array<V>& inverse_diagonal);

/// What Lanczos's method finds after `steps` products: the largest eigenvalue of `scaling` `A`, both symmetric and
/// positive definite, is not much above `value` + `residual`, and is at least `value`.
struct EigenvalueEstimate {
  double value = 0;
  double residual = 0;
  bool positive = true;  ///< false: it met a direction in which one of them is not; the rest means nothing
};
template <Value V>
EigenvalueEstimate estimate_largest(const LinearOperator<V>& A, const LinearOperator<V>& scaling, int steps);

/// The largest eigenvalue of the symmetric tridiagonal matrix with this diagonal and these elements beside it, and the
/// size of the last element of its eigenvector of length 1.
struct RitzPair {
  double value = 0;
  double last_element = 0;
};
RitzPair largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside);

}  // namespace weft::precondition
