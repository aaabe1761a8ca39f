#pragma once
#include <weft/linear_operator.hpp>
#include <weft/vector.hpp>

#include <utility>

namespace weft::solve {

/// Multiplies by a diagonal matrix. Methods that recognise it need no vector for its product: they multiply where they
/// read the residual anyway.
template <Value V>
class DiagonalOperator : public LinearOperator<V> {
 public:
  using typename LinearOperator<V>::View;
  using typename LinearOperator<V>::MutableView;

  explicit DiagonalOperator(Vector<V> diagonal) : diagonal_(std::move(diagonal)) {}

  Index rows() const override { return static_cast<Index>(diagonal_.size()); }
  Index cols() const override { return rows(); }
  Device device() const override { return diagonal_.device(); }
  void apply(V alpha, View x, V beta, MutableView y, Stream stream = {}) const override;

  const Vector<V>& diagonal() const { return diagonal_; }

 protected:
  Vector<V> diagonal_;
};

/// The diagonal that `matrix` is; null if it is not known to be one.
template <Value V>
const Vector<V>* diagonal_of(const LinearOperator<V>* matrix) {
  const auto* const known = dynamic_cast<const DiagonalOperator<V>*>(matrix);
  return known ? &known->diagonal() : nullptr;
}

}  // namespace weft::solve
