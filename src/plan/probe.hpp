#pragma once
#include <weft/vector.hpp>

#include <algorithm>

#include "core/timer.hpp"
#include "formats/operator.hpp"

namespace weft {

/// Vectors on a device to time products with; x holds ordinary numbers, since zeros can run faster than real data.
template <Value V>
class Probe {
 public:
  Probe(Device device, Index rows, Index cols)
      : x_(device, ordinary_numbers(cols)), y_(device, static_cast<std::size_t>(rows)) {}

  /// Seconds of one product among others like it: the least of three groups, after two to warm up. Short products are
  /// timed several in a row, so that what is between them counts as it does in a loop of the caller's. `expected` is
  /// about what one takes.
  double seconds(Operator<V>& op, double expected) {
    constexpr double long_enough = 100e-6;
    constexpr int max_group = 4, groups = 3;
    const Device device = x_.device();
    const Product<V> product{V(1), x_.data(), 0, V(0), y_.data(), 0, 1};
    const int group = expected * max_group < long_enough ? max_group : expected < long_enough ? 2 : 1;
    Timer timer(device);
    for (int i = 0; i < 2; ++i) op.apply(product, {});
    synchronize(device);
    double least = 1e30;
    for (int repeat = 0; repeat < groups; ++repeat) {
      timer.start();
      for (int i = 0; i < group; ++i) op.apply(product, {});
      timer.stop();
      least = std::min(least, timer.seconds() / group);
    }
    return std::max(least, 1e-9);
  }

 private:
  static Array<V> ordinary_numbers(Index count) {
    Array<V> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = V(1) + V(static_cast<typename ValueTraits<V>::Real>(i % 31) / 32);
    return numbers;
  }

  Vector<V> x_, y_;
};

}  // namespace weft
