#pragma once
#include <weft/vector.hpp>

#include <algorithm>

#include "core/timer.hpp"
#include "formats/operator.hpp"

namespace weft {

/// Vectors on a device to time products with; x is filled there, since bringing it would take longer than the products.
template <Value V>
class Probe {
 public:
  Probe(Device device, Index rows, Index cols)
      : x_(device, static_cast<std::size_t>(cols)), y_(device, static_cast<std::size_t>(rows)) {
    fill(VectorView<V>(x_), V(1.375));  // zeros can run faster than real data
  }

  /// Seconds of one product among others like it: the least of two groups, after one to warm up. The clock starts
  /// behind a product that is queued already, so that what is between products counts as it does in a loop of the
  /// caller's, and nothing else. `expected` is about what one takes.
  double seconds(Operator<V>& op, double expected) {
    op.apply(product(), {});
    synchronize(x_.device());
    return std::min(seconds_again(op, expected), seconds_again(op, expected));
  }

  /// One group, of something that has been timed before.
  double seconds_again(Operator<V>& op, double expected) {
    constexpr double short_product = 20e-6, long_product = 100e-6;
    const int group = expected < short_product ? 4 : expected < long_product ? 2 : 1;
    Timer timer(x_.device());
    op.apply(product(), {});
    timer.start();
    for (int i = 0; i < group; ++i) op.apply(product(), {});
    timer.stop();
    return std::max(timer.seconds() / group, 1e-9);
  }

 private:
  Product<V> product() { return {V(1), x_.data(), 0, V(0), y_.data(), 0, 1}; }

  Vector<V> x_, y_;
};

}  // namespace weft
