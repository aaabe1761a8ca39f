#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>

#include <algorithm>
#include <vector>

#include "core/timer.hpp"
#include "formats/operator.hpp"

namespace weft {

/// Vectors on a device to time products with; x holds ordinary numbers, since zeros can run faster than real data.
template <Value V>
class Probe {
 public:
  Probe(Device device, Index rows, Index cols) : device_(device), host_x_(static_cast<std::size_t>(cols)) {
    for (std::size_t i = 0; i < host_x_.size(); ++i) host_x_[i] = V(1) + V(i % 31) / V(32);
    if (device.is_cpu()) {
      host_y_ = Array<V>(static_cast<std::size_t>(rows));
    } else {
      x_ = DeviceBuffer<V>(device, host_x_);
      y_ = DeviceBuffer<V>(device, static_cast<std::size_t>(rows));
    }
  }

  /// The median seconds of one product: warmed up once, then repeated until `budget` seconds or `repeats` are spent,
  /// three times at least.
  double seconds(Operator<V>& op, double budget, int repeats = 20) {
    const Product<V> product{V(1), device_.is_cpu() ? host_x_.data() : x_.data(), 0,
                             V(0), device_.is_cpu() ? host_y_.data() : y_.data(), 0,
                             1};
    Timer timer(device_);
    op.apply(product, {});
    synchronize(device_);
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
  Device device_;
  Array<V> host_x_, host_y_;
  DeviceBuffer<V> x_, y_;
};

}  // namespace weft
