#pragma once
// What tests of solvers share: the methods, matrices, and how far a result is off.
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/solve.hpp>
#include <weft/spmv.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sparse/testing.hpp"

namespace weft::testing {

template <class V>
using Method = SolveReport (*)(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);

template <class V>
const std::vector<std::pair<std::string, Method<V>>>& methods() {
  static const std::vector<std::pair<std::string, Method<V>>> all{
      {"cg", &cg<V>}, {"minres", &minres<V>}, {"gmres", &gmres<V>}, {"fgmres", &fgmres<V>}, {"bicgstab", &bicgstab<V>}};
  return all;
}
inline bool takes_unsymmetric(const std::string& method) { return method != "cg" && method != "minres"; }
inline bool takes_indefinite(const std::string& method) { return method != "cg"; }

template <class V>
std::vector<V> random_vector(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<V> all(size);
  for (V& one : all) one = static_cast<V>(value(random));
  return all;
}

template <class V>
double distance(const std::vector<V>& a, const Array<V>& b) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(double(a[i]) - double(b[i]), 2);
    size += std::pow(double(a[i]), 2);
  }
  return std::sqrt(sum / size);
}

/// As poisson2d, with a wind: not symmetric.
template <class V>
Csr<V> with_wind(Index n, double wind) {
  std::vector<Entry<V>> entries;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const Index row = i * n + j;
      entries.push_back({row, row, V(4)});
      if (i > 0) entries.push_back({row, row - n, V(-1)});
      if (i + 1 < n) entries.push_back({row, row + n, V(-1)});
      if (j > 0) entries.push_back({row, row - 1, static_cast<V>(-1 - wind)});
      if (j + 1 < n) entries.push_back({row, row + 1, static_cast<V>(-1 + wind)});
    }
  return to_csr(coo_of<V>(n * n, n * n, entries));
}

template <class V>
Csr<V> diagonal(const std::vector<V>& values) {
  std::vector<Entry<V>> entries;
  for (std::size_t i = 0; i < values.size(); ++i)
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  return to_csr(coo_of<V>(static_cast<Index>(values.size()), static_cast<Index>(values.size()), entries));
}

/// Solves for a known answer and says how far off the result is.
template <class V>
struct Solved {
  SolveReport report;
  double error = 0;
};
template <class V>
Solved<V> solve_for_known(Method<V> method, const Csr<V>& matrix, SolveOptions<V> options, Device device) {
  const std::vector<V> answer = random_vector<V>(static_cast<std::size_t>(matrix.cols), 7);
  std::vector<V> b(answer.size());
  reference_apply<V>(Op::none, V(1), matrix, answer, V(0), b);
  const Plan<V> A = plan(matrix, {.device = device, .format = "csr"});
  const Vector<V> right(device, b);
  Vector<V> x(device, b.size());
  fill<V>(x, std::numeric_limits<V>::quiet_NaN());
  Solved<V> solved;
  solved.report = method(A, right, x, options);
  solved.error = distance(answer, x.download());
  return solved;
}

/// The Laplacian of a ring of n nodes: semidefinite.
inline Csr<double> ring(Index n) {
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 2.0});
    entries.push_back({i, (i + 1) % n, -1.0});
    entries.push_back({i, (i + n - 1) % n, -1.0});
  }
  return to_csr(coo_of<double>(n, n, entries));
}

/// A preconditioner that is not a number times the identity, symmetric and positive definite.
inline Csr<double> uneven(Index n) {
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 0.3 + 0.1 * (i % 5)});
    if (i + 1 < n) {
      entries.push_back({i, i + 1, 0.05 + 0.02 * (i % 3)});
      entries.push_back({i + 1, i, 0.05 + 0.02 * (i % 3)});
    }
  }
  return to_csr(coo_of<double>(n, n, entries));
}

}  // namespace weft::testing
