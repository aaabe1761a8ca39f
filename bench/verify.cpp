#include "verify.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "core/parallel.hpp"

namespace weft::bench {

template <Value V>
Reference<V>::Reference(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<const V> y0) {
  const auto size = static_cast<std::size_t>(op == Op::none ? matrix.rows : matrix.cols);
  expected_ = beta != V(0) ? Array<V>::copy_of(y0) : Array<V>(size, V(0));
  reference_apply<V>(op, alpha, matrix, x, beta, expected_);

  magnitude_ = Array<double>(size, 0.0);
  terms_ = Array<Offset>(size, 0);
  const auto product = [&](Offset entry, Index along) {
    return std::abs(static_cast<double>(alpha) * static_cast<double>(matrix.values[entry]) *
                    static_cast<double>(x[along]));
  };
  if (op == Op::none) {
    parallel_for(matrix.rows, 1024, [&](std::int64_t row) {
      double sum = 0;
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) sum += product(k, matrix.columns[k]);
      magnitude_[row] = sum;
      terms_[row] = matrix.offsets[row + 1] - matrix.offsets[row];
    });
  } else {
    for (Index row = 0; row < matrix.rows; ++row)
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        magnitude_[matrix.columns[k]] += product(k, row);
        ++terms_[matrix.columns[k]];
      }
  }
  if (beta != V(0))
    for (std::size_t i = 0; i < size; ++i)
      magnitude_[i] += std::abs(static_cast<double>(beta) * static_cast<double>(y0[i]));
}

template <Value V>
Verdict Reference<V>::compare(std::span<const V> y) const {
  if (y.size() != expected_.size())
    throw Error(ErrorCode::invalid_argument, "the result has " + std::to_string(y.size()) +
                                                 " entries where the reference has " +
                                                 std::to_string(expected_.size()));
  constexpr double epsilon = std::numeric_limits<V>::epsilon();
  constexpr double tiny = std::numeric_limits<V>::denorm_min();
  Verdict verdict;
  double furthest = 0;  // difference in units of what is allowed
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i] == expected_[i]) continue;  // both may have overflowed to the same infinity
    // NaN or infinity in the matrix or in x: rounding decides which of the two comes out.
    if (!std::isfinite(magnitude_[i]) && !std::isfinite(y[i])) continue;
    const double difference = std::abs(static_cast<double>(y[i]) - static_cast<double>(expected_[i]));
    const double allowed = (static_cast<double>(terms_[i]) + 3) * (epsilon * magnitude_[i] + tiny);
    const auto in_units_of = [&](double unit) {
      return std::isnan(difference) || unit == 0 ? std::numeric_limits<double>::infinity() : difference / unit;
    };
    verdict.max_error = std::max(verdict.max_error, in_units_of(magnitude_[i]));
    if (const double far = in_units_of(allowed); far > furthest) {
      furthest = far;
      verdict.worst = static_cast<Index>(i);
    }
    if (furthest > 1) verdict.correct = false;
  }
  return verdict;
}

#define WEFT_INSTANTIATE(V) template class Reference<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
