#pragma once
#include <weft/vector.hpp>

#include "simt/on_device.hpp"

// Matrices that are stored in f32, and applied to vectors of f64.
namespace weft::precondition {

/// to_i = from_i, rounded.
void round_to_single(VectorView<const double> from, VectorView<float> to, Stream stream);

/// y_i = alpha x_i + beta y_i; y is not read when beta is 0.
void add_single(double alpha, VectorView<const float> x, double beta, VectorView<double> y, Stream stream);

/// Room for vectors of R beside those of V, where these differ.
template <Value V, Value R>
class StoredVectors {
 public:
  StoredVectors() = default;
  StoredVectors(Device device, std::size_t size) : x_(device, size), y_(device, size) {}

  /// y = alpha M x + beta y, where multiply(alpha, x, beta, y) does that for vectors of R.
  template <class Multiply>
  void apply(const Multiply& multiply, V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) {
    if (alpha != V(0)) {
      round_to_single(x, x_, stream);
      multiply(R(1), VectorView<const R>(x_), R(0), VectorView<R>(y_));
      add_single(alpha, y_, beta, y, stream);
    } else if (beta == V(0)) {
      fill<V>(y, V(0), stream);
    } else {
      scale<V>(beta, y, stream);
    }
  }

 private:
  Vector<R> x_, y_;
};
template <Value V>
class StoredVectors<V, V> {
 public:
  StoredVectors() = default;
  StoredVectors(Device, std::size_t) {}

  template <class Multiply>
  void apply(const Multiply& multiply, V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream) {
    multiply(alpha, x, beta, y);
  }
};

}  // namespace weft::precondition

// clang-format off
WEFT_DECLARE_ON_DEVICES(
    precondition,
    void round_to_single(Device device, std::int64_t count, const double* from, float* to, Stream stream);
    void add_single(Device device, std::int64_t count, double alpha, const float* x, double beta, double* y,
                    Stream stream);)
// clang-format on
