#pragma once
#include <weft/csr.hpp>

#include <span>

namespace weft::bench {

/// How far a result is from the reference.
struct Verdict {
  bool correct = true;
  double forward_error = 0;   ///< largest |y - reference| over the entries of y / largest |reference|
  double backward_error = 0;  ///< largest |y - reference| / (|alpha| |A| |x| + |beta| |y0|) over the entries of y: by
                              ///< how much A would have to differ, relatively, for y to be its exact product
  Index worst = 0;            ///< the entry that is furthest beyond, or nearest to, what rounding allows it
};

/// What y = alpha op(A) x + beta y must be, summed in long double, and how far rounding may take it from there: entry
/// i, a sum of n products, may be off by epsilon (n + 3) (|alpha| |A| |x| + |beta| |y0|)_i, whatever the order of
/// summation. Cancellation in y therefore raises no false alarm. A dropped entry of ordinary size shows in rows of up
/// to about 1 / sqrt(epsilon) entries.
template <Value V>
class Reference {
 public:
  /// `y0` is read only when beta != 0. Lengths must fit the matrix.
  Reference(Op op, V alpha, const Csr<V>& matrix, std::span<const V> x, V beta, std::span<const V> y0);

  /// Throws Error(invalid_argument) when y has another length.
  Verdict compare(std::span<const V> y) const;

 private:
  Array<long double> expected_;
  Array<double> magnitude_;  // |alpha| |A| |x| + |beta| |y0|
  Array<Offset> terms_;      // how many products each entry sums
};

}  // namespace weft::bench
