#pragma once
#include <weft/vector.hpp>

#include <cmath>
#include <vector>

#include "core/parallel.hpp"

namespace weft::solve {

/// Passes over vectors of one length on one device, for methods that make them again and again: each reads and writes
/// as much as it can at once, and allocates nothing. Sums are of f64 and have the same bits for any number of threads.
template <Value V>
class VectorSteps {
 public:
  VectorSteps(Device device, std::size_t size)
      : device_(device), size_(static_cast<std::int64_t>(size)), parts_((size + chunk - 1) / chunk) {}

  double dot(const Vector<V>& x, const Vector<V>& y) {
    if (!device_.is_cpu()) return weft::dot<V>(x, y);
    return sum([x = x.data(), y = y.data()](std::int64_t i) { return double(x[i]) * double(y[i]); });
  }
  double norm(const Vector<V>& x) { return std::sqrt(dot(x, x)); }

  /// y += alpha x; returns |y|.
  double add(double alpha, const Vector<V>& x, Vector<V>& y) {
    if (!device_.is_cpu()) {
      axpy<V>(static_cast<V>(alpha), x, y);
      return weft::norm<V>(y);
    }
    return std::sqrt(sum([a = static_cast<V>(alpha), x = x.data(), y = y.data()](std::int64_t i) {
      const V now = a * x[i] + y[i];
      y[i] = now;
      return double(now) * double(now);
    }));
  }

  /// x += alpha p, r -= alpha q; returns |r|. p may be r itself.
  double advance(double alpha, const Vector<V>& p, const Vector<V>& q, VectorView<V> x, Vector<V>& r) {
    if (!device_.is_cpu()) {
      axpy<V>(static_cast<V>(alpha), p, x);
      axpy<V>(static_cast<V>(-alpha), q, r);
      return weft::norm<V>(r);
    }
    return std::sqrt(
        sum([a = static_cast<V>(alpha), p = p.data(), q = q.data(), x = x.data(), r = r.data()](std::int64_t i) {
          x[i] = a * p[i] + x[i];
          const V now = r[i] - a * q[i];
          r[i] = now;
          return double(now) * double(now);
        }));
  }

 private:
  static constexpr std::int64_t chunk = 1 << 13;  // elements, for one thread at a time

  /// The sum of term(i) over all elements, in an order that depends on their number only.
  template <class Term>
  double sum(const Term& term) {
    parallel_ranges(size_, chunk, [&](std::int64_t begin, std::int64_t end) {
      constexpr int lanes = 8;  // sums side by side, for vector instructions
      double sums[lanes] = {};
      std::int64_t i = begin;
      for (; i + lanes <= end; i += lanes)
        for (int lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
      for (; i < end; ++i) sums[i % lanes] += term(i);
      double part = 0;
      for (const double lane : sums) part += lane;
      parts_[static_cast<std::size_t>(begin / chunk)] = part;
    });
    double total = 0;
    for (const double part : parts_) total += part;
    return total;
  }

  Device device_;
  std::int64_t size_;
  std::vector<double> parts_;
};

}  // namespace weft::solve
