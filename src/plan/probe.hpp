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

  /// Seconds of one product among others like it: the least of two groups, after one to warm up; of one group where
  /// that is long and a GPU's clock takes it. The clock starts after a product that is queued already, so that what is
  /// between products counts as it does in a loop of the caller's, and nothing else. `expected` is about what one
  /// takes.
  double seconds(Operator<V>& op, double expected) {
    op.apply(product(), {});
    synchronize(x_.device());
    double least = seconds_again(op, expected);
    for (int group = 1; group < groups(x_.device(), expected); ++group)
      least = std::min(least, seconds_again(op, expected));
    return least;
  }
  /// How many products `seconds` computes.
  static int products(Device device, double expected) { return 1 + groups(device, expected) * (1 + group(expected)); }

  /// One group, of something that has been timed before.
  double seconds_again(Operator<V>& op, double expected) {
    const int count = group(expected);
    Timer timer(x_.device());
    op.apply(product(), {});
    timer.start();
    for (int i = 0; i < count; ++i) op.apply(product(), {});
    timer.stop();
    return std::max(timer.seconds() / count, 1e-9);
  }

 private:
  static constexpr double short_product = 20e-6, long_product = 100e-6;
  static int group(double expected) { return expected < short_product ? 4 : expected < long_product ? 2 : 1; }
  static int groups(Device device, double expected) { return device.is_cpu() || expected < long_product ? 2 : 1; }

  Product<V> product() { return {V(1), x_.data(), 0, V(0), y_.data(), 0, 1}; }

  Vector<V> x_, y_;
};

}  // namespace weft
