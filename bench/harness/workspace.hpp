#pragma once
#include <weft/plan.hpp>
#include <weft/vector.hpp>

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
  Workspace(Device device, Array<V> x, std::size_t y_size)
      : host_x_(std::move(x)), host_y_(y_size), x_(device, std::span<const V>(host_x_)), y_(device, y_size) {}

  void set_y(std::span<const V> y) { y_.upload(y); }

  /// Makes sure that an entry of y nobody writes is found.
  void poison_y() { fill<V>(y_, std::numeric_limits<V>::quiet_NaN()); }

  /// Queues y = alpha op(A) x + beta y.
  void apply(const Plan<V>& plan, Op op = Op::none, V alpha = 1, V beta = 0) {
    plan.apply(op, alpha, VectorView<const V>(x_), beta, VectorView<V>(y_));
  }
  void apply(Operator<V>& op) { op.apply({.x = x_.data(), .y = y_.data()}, {}); }
  void apply(Peer<V>& peer) { peer.run(x_.data(), y_.data()); }

  /// For a peer that keeps time: runs so many products, returns their seconds.
  double time(Peer<V>& peer, std::int64_t products) { return peer.time(x_.data(), y_.data(), products); }

  const Array<V>& x() const { return host_x_; }

  /// y on the host, after everything queued is done.
  std::span<const V> y() {
    synchronize(y_.device());
    copy<V>(y_, std::span<V>(host_y_));
    return {host_y_.data(), host_y_.size()};
  }

 private:
  Array<V> host_x_;
  Array<V> host_y_;
  Vector<V> x_;
  Vector<V> y_;
};

}  // namespace weft::bench
