#include "verify.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.hpp"

namespace weft::bench {

template <Value V>
Reference<V>::Reference(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<const V> y0) {
  const auto size = static_cast<std::size_t>(op == Op::none ? matrix.rows : matrix.cols);
  expected_ = Array<long double>(size, 0.0L);
  magnitude_ = Array<double>(size, 0.0);
  terms_ = Array<Offset>(size, 0);
  const auto product = [&](Offset entry, Index along) {
    return static_cast<long double>(matrix.values[entry]) * static_cast<long double>(x[along]);
  };
  if (alpha == V(0)) {  // neither A nor x is looked at
  } else if (op == Op::none) {
    parallel_for(matrix.rows, 1024, [&](std::int64_t row) {
      long double sum = 0, magnitude = 0;
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const long double term = product(k, matrix.columns[k]);
        sum += term;
        magnitude += std::abs(term);
      }
      expected_[row] = sum;
      magnitude_[row] = static_cast<double>(magnitude);
      terms_[row] = matrix.offsets[row + 1] - matrix.offsets[row];
    });
  } else {
    for (Index row = 0; row < matrix.rows; ++row)
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const long double term = product(k, row);
        expected_[matrix.columns[k]] += term;
        magnitude_[matrix.columns[k]] += static_cast<double>(std::abs(term));
        ++terms_[matrix.columns[k]];
      }
  }
  parallel_for(static_cast<std::int64_t>(size), 1 << 14, [&](std::int64_t i) {
    expected_[i] *= static_cast<long double>(alpha);
    magnitude_[i] *= std::abs(static_cast<double>(alpha));
    if (beta == V(0)) return;
    const long double kept = static_cast<long double>(beta) * static_cast<long double>(y0[i]);
    expected_[i] += kept;
    magnitude_[i] += static_cast<double>(std::abs(kept));
  });
}

template <Value V>
Verdict Reference<V>::compare(std::span<const V> y) const {
  if (y.size() != expected_.size())
    throw Error(ErrorCode::invalid_argument, "the result has " + std::to_string(y.size()) +
                                                 " entries where the reference has " +
                                                 std::to_string(expected_.size()));
  constexpr double epsilon = std::numeric_limits<V>::epsilon();
  constexpr double tiny = std::numeric_limits<V>::denorm_min();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Verdict verdict;
  double furthest = 0;  // difference in units of what is allowed
  long double largest_difference = 0, largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const V rounded = static_cast<V>(expected_[i]);
    if (y[i] == rounded && !std::isfinite(rounded)) continue;  // both overflowed to the same infinity
    // NaN or infinity in the matrix or in x: rounding decides which of the two comes out.
    if (!std::isfinite(magnitude_[i]) && !std::isfinite(y[i])) continue;
    const long double difference = std::abs(static_cast<long double>(y[i]) - expected_[i]);
    if (!(difference <= largest_difference)) largest_difference = difference;
    largest = std::max(largest, std::abs(expected_[i]));
    if (y[i] == rounded && magnitude_[i] == 0) continue;
    const double allowed = (static_cast<double>(terms_[i]) + 3) * (epsilon * magnitude_[i] + tiny);
    const auto in_units_of = [&](double unit) {
      return std::isnan(difference) || unit == 0 ? infinity : static_cast<double>(difference) / unit;
    };
    verdict.backward_error = std::max(verdict.backward_error, in_units_of(magnitude_[i]));
    if (const double far = in_units_of(allowed); far > furthest) {
      furthest = far;
      verdict.worst = static_cast<Index>(i);
    }
    if (furthest > 1) verdict.correct = false;
  }
  if (!(largest_difference == 0))
    verdict.forward_error =
        std::isnan(largest_difference) || largest == 0 ? infinity : static_cast<double>(largest_difference / largest);
  return verdict;
}

#define WEFT_INSTANTIATE(V) template class Reference<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
