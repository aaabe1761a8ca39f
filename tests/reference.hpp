#pragma once
#include <gtest/gtest.h>
#include <weft/csr.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace weft::test {

/// Checks y against alpha op(A) x + beta y0 computed in f64, element by element: the error may be a few roundings of
/// the magnitudes that were added. NaN and infinity must be where the reference has them.
template <Value V>
::testing::AssertionResult equals_reference(const Csr<V>& matrix, Op op, V alpha, std::span<const V> x, V beta,
                                            std::span<const V> before, std::span<const V> y) {
  const Index out = op == Op::none ? matrix.rows : matrix.cols;
  std::vector<double> sum(out, 0.0), magnitude(out, 0.0);
  std::vector<Offset> terms(out, 0);
  if (alpha != V(0))
    for (Index row = 0; row < matrix.rows; ++row)
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const Index column = matrix.columns[k];
        const Index target = op == Op::none ? row : column;
        const double term =
            static_cast<double>(matrix.values[k]) * static_cast<double>(x[op == Op::none ? column : row]);
        sum[target] += term;
        magnitude[target] += std::abs(term);
        ++terms[target];
      }
  constexpr double epsilon = std::numeric_limits<V>::epsilon();
  for (Index i = 0; i < out; ++i) {
    double expected = alpha == V(0) ? 0.0 : static_cast<double>(alpha) * sum[i];
    double scale = std::abs(static_cast<double>(alpha)) * magnitude[i];
    if (beta != V(0)) {
      expected += static_cast<double>(beta) * static_cast<double>(before[i]);
      scale += std::abs(static_cast<double>(beta) * static_cast<double>(before[i]));
    }
    const double got = static_cast<double>(y[i]);
    if (std::isnan(expected) || std::isinf(scale)) {
      if (std::isnan(expected) ? std::isnan(got) : got == expected) continue;
      return ::testing::AssertionFailure() << "element " << i << " is " << got << ", expected " << expected;
    }
    const double bound = epsilon * (static_cast<double>(terms[i]) + 4) * scale;
    if (!(std::abs(got - expected) <= bound))
      return ::testing::AssertionFailure()
             << "element " << i << " of " << out << " is " << got << ", expected " << expected << " within " << bound;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace weft::test
