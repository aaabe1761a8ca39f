#pragma once
#include <weft/linear_operator.hpp>
#include <weft/vector.hpp>

#include <span>

namespace weft::solve {

/// An operator that multiplies by a diagonal matrix. Methods that recognise it need no vector for its product: they
/// multiply where they read the residual anyway.
template <Value V>
class HasDiagonal {
 public:
  virtual ~HasDiagonal() = default;
  virtual const Vector<V>& diagonal() const = 0;

 protected:
  HasDiagonal() = default;
  HasDiagonal(const HasDiagonal&) = default;
  HasDiagonal& operator=(const HasDiagonal&) = default;
};

/// The diagonal that `matrix` is; null if it is not known to be one.
template <Value V>
const Vector<V>* diagonal_of(const LinearOperator<V>* matrix) {
  const auto* const known = dynamic_cast<const HasDiagonal<V>*>(matrix);
  return known ? &known->diagonal() : nullptr;
}

template <Value V>
class DiagonalOperator final : public LinearOperator<V>, public HasDiagonal<V> {
 public:
  using typename LinearOperator<V>::View;
  using typename LinearOperator<V>::MutableView;

  DiagonalOperator(Device device, std::span<const V> diagonal) : diagonal_(device, diagonal) {}

  Index rows() const override { return static_cast<Index>(diagonal_.size()); }
  Index cols() const override { return rows(); }
  Device device() const override { return diagonal_.device(); }
  void apply(V alpha, View x, V beta, MutableView y, Stream stream = {}) const override;

  const Vector<V>& diagonal() const override { return diagonal_; }
  void assign(std::span<const V> diagonal) { diagonal_.upload(diagonal); }

 private:
  Vector<V> diagonal_;
};

}  // namespace weft::solve
