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

/// x and y where a device can reach them. Several vectors x are `x` times powers of two, of alternating signs: so all
/// y are known from the first, to the bit, and are all different.
template <Value V>
class Workspace {
 public:
  Workspace(Device device, Array<V> x, std::size_t y_size, int vectors = 1, Layout layout = Layout::column_major)
      : count_(static_cast<std::size_t>(vectors)),
        layout_(layout),
        host_x_(std::move(x)),
        host_y_(y_size * count_),
        x_(device, std::span<const V>(vectors == 1 ? host_x_ : all_x())),
        y_(device, y_size * count_) {}

  void set_y(std::span<const V> y) { y_.upload(y); }

  /// Makes sure that an entry of y nobody writes is found.
  void poison_y() { fill<V>(y_, std::numeric_limits<V>::quiet_NaN()); }

  /// Queues y = alpha op(A) x + beta y.
  void apply(const Plan<V>& plan, Op op = Op::none, V alpha = 1, V beta = 0) {
    if (count_ == 1)
      plan.apply(op, alpha, VectorView<const V>(x_), beta, VectorView<V>(y_));
    else if (x_.device().is_cpu())
      plan.apply(op, alpha, vectors<Vectors<const V>>(std::span<const V>(x_.data(), x_.size())), beta,
                 vectors<Vectors<V>>(std::span<V>(y_.data(), y_.size())));
    else
      plan.apply(op, alpha, vectors<DeviceVectors<const V>>(DeviceSpan<const V>(x_.data(), x_.size(), x_.device())),
                 beta, vectors<DeviceVectors<V>>(DeviceSpan<V>(y_.data(), y_.size(), y_.device())));
  }
  void apply(Operator<V>& op) { op.apply({.x = x_.data(), .y = y_.data()}, {}); }
  void apply(Peer<V>& peer) { peer.run(x_.data(), y_.data()); }

  /// For a peer that keeps time: runs so many products, returns their seconds.
  double time(Peer<V>& peer, std::int64_t products) { return peer.time(x_.data(), y_.data(), products); }

  const Array<V>& x() const { return host_x_; }

  /// All of y on the host, after everything queued is done.
  std::span<const V> y() {
    synchronize(y_.device());
    copy<V>(y_, std::span<V>(host_y_));
    return {host_y_.data(), host_y_.size()};
  }

  /// What the product with the first x is by one of the vectors.
  std::span<const V> y(int vector) {
    const std::span<const V> all = y();
    if (count_ == 1) return all;
    const std::size_t size = all.size() / count_;
    one_y_ = Array<V>(size);
    for (std::size_t i = 0; i < size; ++i)
      one_y_[i] = all[place(i, static_cast<std::size_t>(vector), size)] / factor(static_cast<std::size_t>(vector));
    return {one_y_.data(), size};
  }

 private:
  static V factor(std::size_t vector) {
    return static_cast<V>(vector % 2 == 0 ? 1 : -1) * static_cast<V>(std::int64_t{1} << vector % 16);
  }
  std::size_t place(std::size_t i, std::size_t vector, std::size_t size) const {
    return layout_ == Layout::row_major ? i * count_ + vector : i + vector * size;
  }
  Array<V> all_x() const {
    Array<V> all(host_x_.size() * count_);
    for (std::size_t j = 0; j < count_; ++j)
      for (std::size_t i = 0; i < host_x_.size(); ++i) all[place(i, j, host_x_.size())] = host_x_[i] * factor(j);
    return all;
  }
  template <class Many, class Span>
  Many vectors(Span span) const {
    return {span, static_cast<int>(count_), layout_ == Layout::row_major ? count_ : span.size() / count_, layout_};
  }

  std::size_t count_;
  Layout layout_;
  Array<V> host_x_;
  Array<V> host_y_;
  Array<V> one_y_;
  Vector<V> x_;
  Vector<V> y_;
};

}  // namespace weft::bench
