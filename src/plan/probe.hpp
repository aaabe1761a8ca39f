#pragma once
#include <weft/vector.hpp>

#include <algorithm>
#include <vector>

#include "core/timer.hpp"
#include "formats/operator.hpp"

namespace weft {

/// Vectors on a device to time products with; x holds ordinary numbers, since zeros can run faster than real data.
template <Value V>
class Probe {
 public:
  Probe(Device device, Index rows, Index cols)
      : x_(device, ordinary_numbers(cols)), y_(device, static_cast<std::size_t>(rows)) {}

  /// The median seconds of one product: warmed up once, then repeated until `budget` seconds or `repeats` are spent,
  /// three times at least.
  double seconds(Operator<V>& op, double budget, int repeats = 20) {
    const Device device = x_.device();
    const Product<V> product{V(1), x_.data(), 0, V(0), y_.data(), 0, 1};
    Timer timer(device);
    op.apply(product, {});
    synchronize(device);
    std::vector<double> times;
    double spent = 0;
    while (times.size() < 3 || (static_cast<int>(times.size()) < repeats && spent < budget)) {
      timer.start();
      op.apply(product, {});
      timer.stop();
      times.push_back(timer.seconds());
      spent += times.back();
    }
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
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
