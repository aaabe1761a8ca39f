#include "solve/precondition/eigenvalue_bound.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/parallel.hpp"

namespace weft::precondition {
namespace {

/// How many eigenvalues are above `bound`: Sturm's sequence.
int count_above(const std::vector<double>& diagonal, const std::vector<double>& beside, double bound) {
  int above = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    pivot = diagonal[i] - bound - (i == 0 ? 0 : beside[i - 1] * beside[i - 1] / pivot);
    if (pivot == 0) pivot = -1e-300;
    if (pivot > 0) ++above;
  }
  return above;
}

/// The same on every machine: what generators of the standard library give is prescribed, bit by bit.
template <Value V>
Vector<V> first_direction(Device device, Index rows) {
  std::mt19937 random(20261);
  Array<V> host(static_cast<std::size_t>(rows));
  for (V& element : host) element = static_cast<V>(static_cast<double>(random()) / 4294967296.0 - 0.5);
  return Vector<V>(device, std::span<const V>(host.data(), host.size()));
}

}  // namespace

template <Value V>
double largest_row_sum(const Csr<V>& matrix, const Array<V>& inverse_diagonal) {
  constexpr Offset grain = 1 << 12;
  std::vector<double> largest(static_cast<std::size_t>(matrix.rows / grain) + 1);
  parallel_ranges(matrix.rows, grain, [&](Offset begin, Offset end) {
    double found = 0;
    for (Offset row = begin; row < end; ++row) {
      double sum = 0;
      for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
        sum += std::abs(static_cast<double>(matrix.values[i]));
      found = std::max(found, sum * std::abs(static_cast<double>(inverse_diagonal[row])));
    }
    largest[static_cast<std::size_t>(begin / grain)] = found;
  });
  return *std::max_element(largest.begin(), largest.end());
}

RitzPair largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  const std::size_t size = diagonal.size();
  double low = diagonal[0], high = diagonal[0];
  for (std::size_t i = 0; i < size; ++i) {
    const double reach = (i > 0 ? std::abs(beside[i - 1]) : 0) + (i + 1 < size ? std::abs(beside[i]) : 0);
    low = std::max(low, diagonal[i]);  // an eigenvalue is at least that
    high = std::max(high, diagonal[i] + reach);
  }
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = low + (high - low) / 2;
    (count_above(diagonal, beside, middle) > 0 ? low : high) = middle;
  }
  // The eigenvector from its end backwards: e_i-1 from the equation of row i.
  std::vector<double> vector(size);
  vector[size - 1] = 1;
  double squares = 1;
  for (std::size_t i = size - 1; i > 0; --i) {
    const double after = i + 1 < size ? beside[i] * vector[i + 1] : 0;
    vector[i - 1] = beside[i - 1] == 0 ? 0 : ((high - diagonal[i]) * vector[i] - after) / beside[i - 1];
    squares += vector[i - 1] * vector[i - 1];
  }
  return {high, 1 / std::sqrt(squares)};
}

template <Value V>
EigenvalueEstimate estimate_largest(const LinearOperator<V>& A, const LinearOperator<V>& scaling, int steps) {
  // Lanczos's method for the scaled matrix, in the inner product of the scaling: v are the directions, z the scaled
  // ones, and z.v of neighbours 0, of one itself 1.
  const Device device = A.device();
  const auto size = static_cast<std::size_t>(A.rows());
  Vector<V> v = first_direction<V>(device, A.rows()), z(device, size), next(device, size), before(device, size);
  fill<V>(before, V(0));
  scaling.apply(V(1), v, V(0), z);
  std::vector<double> diagonal, beside;
  double norm = dot<V>(v, z);
  EigenvalueEstimate estimate;
  const auto no_estimate = [] { return EigenvalueEstimate{0, 0, false}; };
  if (!(norm > 0) || !std::isfinite(norm)) return no_estimate();
  norm = std::sqrt(norm);
  for (int step = 0; step < steps; ++step) {
    scale<V>(static_cast<V>(1 / norm), v);
    scale<V>(static_cast<V>(1 / norm), z);
    A.apply(V(1), z, V(0), next);
    const double quotient = dot<V>(z, next);
    if (!(quotient > 0) || !std::isfinite(quotient)) return no_estimate();
    if (step > 0) beside.push_back(norm);
    diagonal.push_back(quotient);
    axpy<V>(static_cast<V>(-quotient), v, next);
    if (step > 0) axpy<V>(static_cast<V>(-norm), before, next);
    std::swap(before, v);
    std::swap(v, next);
    scaling.apply(V(1), v, V(0), z);
    norm = dot<V>(v, z);
    const RitzPair ritz = largest_of_tridiagonal(diagonal, beside);
    if (!std::isfinite(norm)) return no_estimate();
    norm = norm > 0 ? std::sqrt(norm) : 0;
    estimate = {ritz.value, norm * ritz.last_element, true};
    constexpr double rounding = 1e-5;
    if (norm <= rounding * ritz.value) break;  // all that this direction reaches is known
  }
  return estimate;
}

#define WEFT_INSTANTIATE(V)                                           \
  template double largest_row_sum<V>(const Csr<V>&, const Array<V>&); \
  template EigenvalueEstimate estimate_largest<V>(const LinearOperator<V>&, const LinearOperator<V>&, int);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::precondition
