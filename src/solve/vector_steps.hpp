#pragma once
#include <weft/vector.hpp>

#include <array>
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

  // Passes of conjugate gradients on a CPU; those on a device are in device_steps.cu.

  /// x.D y, where D is a diagonal matrix
  double dot(const Vector<V>& x, const Vector<V>& diagonal, const Vector<V>& y) {
    return sum([x = x.data(), d = diagonal.data(), y = y.data()](std::int64_t i) {
      return double(d[i] * x[i]) * double(y[i]);
    });
  }

  /// r -= alpha q; returns r.r and r.D r.
  std::array<double, 2> reduce(double alpha, const Vector<V>& q, const Vector<V>& diagonal, Vector<V>& r) {
    return sums<2>([a = static_cast<V>(alpha), q = q.data(), d = diagonal.data(), r = r.data()](std::int64_t i) {
      const V now = r[i] - a * q[i];
      r[i] = now;
      return std::array{double(now) * double(now), double(d[i] * now) * double(now)};
    });
  }

  /// x += alpha p, p = z + beta p
  void turn(double alpha, double beta, const Vector<V>& z, Vector<V>& p, VectorView<V> x) {
    for_each([a = static_cast<V>(alpha), b = static_cast<V>(beta), z = z.data(), p = p.data(),
              x = x.data()](std::int64_t i) {
      x[i] = a * p[i] + x[i];
      p[i] = z[i] + b * p[i];
    });
  }
  /// The same with z = D r
  void turn(double alpha, double beta, const Vector<V>& diagonal, const Vector<V>& r, Vector<V>& p, VectorView<V> x) {
    for_each([a = static_cast<V>(alpha), b = static_cast<V>(beta), d = diagonal.data(), r = r.data(), p = p.data(),
              x = x.data()](std::int64_t i) {
      x[i] = a * p[i] + x[i];
      p[i] = d[i] * r[i] + b * p[i];
    });
  }

 private:
  static constexpr std::int64_t chunk = 1 << 13;  // elements, for one thread at a time

  template <class Body>
  void for_each(const Body& body) {
    parallel_ranges(size_, chunk, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i);
    });
  }

  template <class Term>
  double sum(const Term& term) {
    return sums<1>([&](std::int64_t i) { return std::array{term(i)}; })[0];
  }

  /// Sums of the numbers that term(i) returns over all elements, in an order that depends on their count only.
  template <std::size_t N, class Term>
  std::array<double, N> sums(const Term& term) {
    using Sums = std::array<double, N>;
    parallel_ranges(size_, chunk, [&](std::int64_t begin, std::int64_t end) {
      constexpr int lanes = 8;  // sums side by side, for vector instructions
      double side_by_side[N][lanes] = {};
      const auto add = [&](std::int64_t i, int lane) {
        const Sums terms = term(i);
        for (std::size_t n = 0; n < N; ++n) side_by_side[n][lane] += terms[n];
      };
      std::int64_t i = begin;
      for (; i + lanes <= end; i += lanes)
        for (int lane = 0; lane < lanes; ++lane) add(i + lane, lane);
      for (; i < end; ++i) add(i, static_cast<int>(i % lanes));
      for (std::size_t n = 0; n < N; ++n) {
        double part = 0;
        for (const double lane : side_by_side[n]) part += lane;
        parts_[static_cast<std::size_t>(begin / chunk)][n] = part;
      }
    });
    Sums totals{};
    for (const auto& part : parts_)
      for (std::size_t n = 0; n < N; ++n) totals[n] += part[n];
    return totals;
  }

  Device device_;
  std::int64_t size_;
  std::vector<std::array<double, 2>> parts_;
};

}  // namespace weft::solve
