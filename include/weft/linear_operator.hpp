#pragma once
#include <weft/device.hpp>
#include <weft/export.hpp>
#include <weft/types.hpp>
#include <weft/vector.hpp>

namespace weft {

/// Anything that multiplies a vector: a Plan, or a class of yours that stores no matrix at all. Solvers take any.
///
///   class Laplacian : public weft::LinearOperator<double> {
///     weft::Index rows() const override { return n_; }
///     weft::Index cols() const override { return n_; }
///     weft::Device device() const override { return weft::Device::cpu(); }
///     void apply(double alpha, View x, double beta, MutableView y, weft::Stream) const override { ... }
///   };
template <Value V>
class WEFT_API LinearOperator {
 public:
  using View = VectorView<const V>;
  using MutableView = VectorView<V>;

  virtual ~LinearOperator() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual Device device() const = 0;  ///< where x and y must be

  /// y = alpha A x + beta y, queued on `stream`. beta == 0 never reads y, alpha == 0 never reads x; x and y do not
  /// overlap.
  virtual void apply(V alpha, View x, V beta, MutableView y, Stream stream = {}) const = 0;

 protected:
  LinearOperator() = default;
  LinearOperator(const LinearOperator&) = default;
  LinearOperator& operator=(const LinearOperator&) = default;
};

}  // namespace weft
