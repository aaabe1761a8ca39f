#pragma once
#include <gmock/gmock.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/solve.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "solve/testing.hpp"
#include "sparse/testing.hpp"

/// What the tests of preconditioners share: dense matrices, and small sparse ones.
namespace weft::testing {

/// Rows of f64.
using DenseRows = std::vector<std::vector<double>>;

inline DenseRows zeros(std::size_t size) { return DenseRows(size, std::vector<double>(size)); }

template <class V>
DenseRows dense_of(const Csr<V>& matrix) {
  DenseRows dense = zeros(static_cast<std::size_t>(matrix.rows));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      dense[row][matrix.columns[i]] = static_cast<double>(matrix.values[i]);
  return dense;
}

/// Column by column, by its products with unit vectors.
template <class V>
DenseRows dense_of(const LinearOperator<V>& op) {
  const auto size = static_cast<std::size_t>(op.rows());
  DenseRows dense = zeros(size);
  Vector<V> y(op.device(), size);
  for (std::size_t j = 0; j < size; ++j) {
    std::vector<V> unit(size);
    unit[j] = 1;
    const Vector<V> x(op.device(), std::span<const V>(unit));
    op.apply(V(1), x, V(0), y);
    const Array<V> column = y.download();
    for (std::size_t i = 0; i < size; ++i) dense[i][j] = static_cast<double>(column[i]);
  }
  return dense;
}

inline DenseRows times(const DenseRows& a, const DenseRows& b) {
  DenseRows product = zeros(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t j = 0; j < a.size(); ++j) product[i][j] += a[i][k] * b[k][j];
  return product;
}

inline DenseRows transposed(const DenseRows& a) {
  DenseRows result = zeros(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) result[j][i] = a[i][j];
  return result;
}

/// |I - a| in the Frobenius norm.
inline double distance_from_identity(const DenseRows& a) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) squares += std::pow(a[i][j] - (i == j ? 1 : 0), 2);
  return std::sqrt(squares);
}

/// The larger one, or the one that is not a number.
inline double larger(double a, double b) { return b > a || std::isnan(b) ? b : a; }

inline double largest_difference(const DenseRows& a, const DenseRows& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) largest = larger(largest, std::abs(a[i][j] - b[i][j]));
  return largest;
}

inline double asymmetry(const DenseRows& a) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) largest = larger(largest, std::abs(a[i][j] - a[j][i]));
  return largest;
}

/// Whether Cholesky's factorization of the symmetric part succeeds.
inline bool is_positive_definite(DenseRows a) {
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 0)) return false;
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < a.size(); ++i) {
      a[i][j] = (a[i][j] + a[j][i]) / 2;
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  return true;
}

inline DenseRows inverse_of(DenseRows a) {
  const std::size_t size = a.size();
  DenseRows inverse = zeros(size);
  for (std::size_t i = 0; i < size; ++i) inverse[i][i] = 1;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < size; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(inverse[k], inverse[pivot]);
    for (std::size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j < size; ++j) {
        a[i][j] -= factor * a[k][j];
        inverse[i][j] -= factor * inverse[k][j];
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) inverse[i][j] /= a[i][i];
  return inverse;
}

template <class V>
Csr<V> matrix_of(Index rows, const std::vector<Entry<V>>& entries) {
  return to_csr(coo_of<V>(rows, rows, entries));
}

/// Without what is 0.
inline Csr<double> matrix_of(const DenseRows& a) {
  std::vector<Entry<double>> entries;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      if (a[i][j] != 0) entries.push_back({static_cast<Index>(i), static_cast<Index>(j), a[i][j]});
  return matrix_of<double>(static_cast<Index>(a.size()), entries);
}

template <class V>
Csr<V> diagonal_matrix(const std::vector<V>& values) {
  std::vector<Entry<V>> entries;
  for (std::size_t i = 0; i < values.size(); ++i)
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  return matrix_of<V>(static_cast<Index>(values.size()), entries);
}

/// All entries there, symmetric, positive definite.
template <class V>
Csr<V> full_matrix(Index rows) {
  std::vector<Entry<V>> entries;
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < rows; ++j) entries.push_back({i, j, static_cast<V>(i == j ? 3.0 + i : 1.0 / (1 + i + j))});
  return matrix_of<V>(rows, entries);
}

/// The same pattern, all values other ones: rows and columns scaled by positive numbers.
template <class V>
Csr<V> scaled(const Csr<V>& matrix) {
  Csr<V> result = matrix;
  result.values = matrix.values.clone();
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      result.values[i] *= static_cast<V>((1 + row % 7) * (1 + matrix.columns[i] % 7));
  return result;
}

template <class V>
std::vector<V> random_numbers(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<V> all(size);
  for (V& one : all) one = static_cast<V>(value(random));
  return all;
}

/// M times a fixed vector, on the host.
template <class V>
std::vector<V> product_of(const LinearOperator<V>& M) {
  const auto size = static_cast<std::size_t>(M.rows());
  const std::vector<V> numbers = random_numbers<V>(size, 3);
  const Vector<V> x(M.device(), std::span<const V>(numbers));
  Vector<V> y(M.device(), size);
  M.apply(V(1), x, V(0), y);
  const Array<V> host = y.download();
  return {host.begin(), host.end()};
}

/// Solves for the b of a random x, to 1e-8.
template <class V>
SolveReport solve_with(Method<V> method, const Csr<V>& matrix, Preconditioner<V> M) {
  const Plan<V> A = plan(matrix, {.format = "csr"});
  const std::vector<V> answer = random_numbers<V>(static_cast<std::size_t>(matrix.rows), 7);
  std::vector<V> b(answer.size()), x(answer.size());
  A.apply(answer, b);
  SolveOptions<V> options;
  options.rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
  options.preconditioner = std::move(M);
  return method(A, std::span<const V>(b), std::span<V>(x), options);
}

}  // namespace weft::testing
