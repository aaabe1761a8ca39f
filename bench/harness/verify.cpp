#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

namespace {

/// What a part of y comes to; the parts are joined in their order, so that the verdict does not depend on the threads.
struct Comparison {
  bool correct = true;
  double backward_error = 0;
  double furthest = 0;  // difference in units of what is allowed
  Index worst = 0;
  long double largest_difference = 0;
  long double largest = 0;

  void join(const Comparison& other) {
    correct = correct && other.correct;
    backward_error = std::max(backward_error, other.backward_error);
    if (other.furthest > furthest) {
      furthest = other.furthest;
      worst = other.worst;
    }
    largest_difference = std::max(largest_difference, other.largest_difference);
    largest = std::max(largest, other.largest);
  }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

template <Value V>
Verdict Reference<V>::compare(std::span<const V> y) const {
  if (y.size() != expected_.size())
    throw Error(ErrorCode::invalid_argument, "the result has " + std::to_string(y.size()) +
                                                 " entries where the reference has " +
                                                 std::to_string(expected_.size()));
  constexpr double epsilon = std::numeric_limits<V>::epsilon();
  constexpr double tiny = std::numeric_limits<V>::denorm_min();
  const auto compare_entry = [&](std::int64_t i, Comparison& all) {
    const V rounded = static_cast<V>(expected_[i]);
    if (y[i] == rounded && !std::isfinite(rounded)) return;  // both overflowed to the same infinity
    // NaN or infinity in the matrix or in x: rounding decides which of the two comes out.
    if (!std::isfinite(magnitude_[i]) && !std::isfinite(y[i])) return;
    long double difference = std::abs(static_cast<long double>(y[i]) - expected_[i]);
    if (std::isnan(difference)) difference = infinity;  // one of them is no number
    all.largest_difference = std::max(all.largest_difference, difference);
    if (std::isfinite(expected_[i])) all.largest = std::max(all.largest, std::abs(expected_[i]));
    if (y[i] == rounded && magnitude_[i] == 0) return;
    const double allowed = (static_cast<double>(terms_[i]) + 3) * (epsilon * magnitude_[i] + tiny);
    const auto in_units_of = [&](double unit) { return unit == 0 ? infinity : static_cast<double>(difference) / unit; };
    all.backward_error = std::max(all.backward_error, in_units_of(magnitude_[i]));
    if (const double far = in_units_of(allowed); far > all.furthest) {
      all.furthest = far;
      all.worst = static_cast<Index>(i);
    }
    if (all.furthest > 1) all.correct = false;
  };

  constexpr std::int64_t part_size = 1 << 14;
  const auto size = static_cast<std::int64_t>(y.size());
  std::vector<Comparison> parts(static_cast<std::size_t>((size + part_size - 1) / part_size));
  parallel_for(static_cast<std::int64_t>(parts.size()), 1, [&](std::int64_t part) {
    for (std::int64_t i = part * part_size; i < std::min(size, (part + 1) * part_size); ++i)
      compare_entry(i, parts[part]);
  });
  Comparison all;
  for (const Comparison& part : parts) all.join(part);

  Verdict verdict{.correct = all.correct, .backward_error = all.backward_error, .worst = all.worst};
  if (all.largest_difference > 0)
    verdict.forward_error = all.largest == 0 ? infinity : static_cast<double>(all.largest_difference / all.largest);
  return verdict;
}

#define WEFT_INSTANTIATE(V) template class Reference<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
