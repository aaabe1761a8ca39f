#pragma once
#include <weft/buffer.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <limits>

#include "bench/peers/peer.hpp"
#include "core/parallel.hpp"
#include "formats/operator.hpp"
#include "generate/random.hpp"

namespace weft::bench {

/// Numbers in (-1, 1), the same on every machine and for every number of threads.
template <Value V>
Array<V> random_vector(std::size_t size, std::uint64_t seed) {
  const generation::Random random(seed);
  Array<V> result(size);
  parallel_for(static_cast<std::int64_t>(size), 1 << 14,
               [&](std::int64_t i) { result[i] = static_cast<V>(random.uniform(static_cast<std::uint64_t>(i))); });
  return result;
}

/// x and y where a device can reach them.
template <Value V>
class Workspace {
 public:
  Workspace(Device device, Array<V> x, std::size_t y_size) : device_(device), host_x_(std::move(x)), host_y_(y_size) {
    if (device.is_cpu()) return;
    x_ = DeviceBuffer<V>(device, std::span<const V>(host_x_));
    y_ = DeviceBuffer<V>(device, y_size);
  }

  void set_y(std::span<const V> y) {
    parallel_for(static_cast<std::int64_t>(y.size()), 1 << 14, [&](std::int64_t i) { host_y_[i] = y[i]; });
    upload_y();
  }

  /// Makes sure that an entry of y nobody writes is found.
  void poison_y() {
    parallel_for(static_cast<std::int64_t>(host_y_.size()), 1 << 14,
                 [&](std::int64_t i) { host_y_[i] = std::numeric_limits<V>::quiet_NaN(); });
    upload_y();
  }

  /// Queues y = alpha op(A) x + beta y.
  void apply(Plan<V>& plan, Op op = Op::none, V alpha = 1, V beta = 0) {
    if (device_.is_cpu())
      plan.apply(op, alpha, std::span<const V>(host_x_), beta, std::span<V>(host_y_));
    else
      plan.apply(op, alpha, DeviceSpan<const V>(x_), beta, DeviceSpan<V>(y_));
  }
  void apply(Operator<V>& op) {
    op.apply({.x = device_.is_cpu() ? host_x_.data() : x_.data(), .y = device_.is_cpu() ? host_y_.data() : y_.data()},
             {});
  }
  void apply(Peer<V>& peer) {
    if (device_.is_cpu())
      peer.run(host_x_.data(), host_y_.data());
    else
      peer.run(x_.data(), y_.data());
  }

  /// For a peer that keeps time: runs so many products, returns their seconds.
  double time(Peer<V>& peer, std::int64_t products) {
    return device_.is_cpu() ? peer.time(host_x_.data(), host_y_.data(), products)
                            : peer.time(x_.data(), y_.data(), products);
  }

  const Array<V>& x() const { return host_x_; }

  /// y on the host, after everything queued is done.
  std::span<const V> y() {
    synchronize(device_);
    if (!device_.is_cpu()) detail::copy_to_host(device_, host_y_.data(), y_.data(), host_y_.bytes(), {});
    return {host_y_.data(), host_y_.size()};
  }

 private:
  void upload_y() {
    if (device_.is_cpu()) return;
    y_.upload(std::span<const V>(host_y_));
    synchronize(device_);
  }

  Device device_;
  Array<V> host_x_;
  Array<V> host_y_;
  DeviceBuffer<V> x_;
  DeviceBuffer<V> y_;
};

}  // namespace weft::bench
