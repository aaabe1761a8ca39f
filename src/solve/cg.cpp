// The method of conjugate gradients (Hestenes and Stiefel, 1952), with a preconditioner.
#include <limits>

#include "solve/cg_on_device.hpp"
#include "solve/diagonal.hpp"
#include "solve/iteration.hpp"

namespace weft {
namespace {

using solve::Stop;

/// p.A p is not positive, where a first direction had `quotient` = p.A p / p.p. If it is negative by no more than
/// rounding, p is in the null space of A as far as one can tell.
template <Value V>
Stop why_not_positive(double product, double quotient, double p_norm) {
  if (!std::isfinite(product)) return Stop::not_finite;
  constexpr double rounding = 100 * static_cast<double>(std::numeric_limits<V>::epsilon());
  return product < -rounding * quotient * p_norm * p_norm ? Stop::indefinite : Stop::broke_down;
}

/// r.M r is not a positive number, where r is not zero.
Stop why_not_positive(double rz) {
  if (!std::isfinite(rz)) return Stop::not_finite;
  return rz < 0 ? Stop::indefinite : Stop::broke_down;
}

/// On the CPU. x gets its step one pass late, when p is read anyway.
template <Value V>
class Cg {
 public:
  Cg(solve::Iteration<V>& iteration, const Vector<V>* diagonal)
      : iteration_(iteration),
        diagonal_(diagonal),
        p_(iteration.vector()),
        q_(iteration.vector()),
        z_(iteration.has_preconditioner() && !diagonal ? iteration.vector() : Vector<V>(iteration.device(), 0)) {}

  Stop run(Vector<V>& r, double residual) {
    fill<V>(p_, V(0));
    const Vector<V>* z = prepare(r, residual * residual);
    double alpha = 0, beta = 0, quotient = 0;
    for (;;) {
      if (!(rz_ > 0) || !std::isfinite(rz_)) {
        axpy<V>(static_cast<V>(alpha), p_, iteration_.x());
        return why_not_positive(rz_);
      }
      turn(alpha, beta, r, z);
      alpha = 0;
      iteration_.multiply(p_, q_);
      const double product = steps().dot(p_, q_);
      if (!(product > 0) || !std::isfinite(product)) return why_not_positive<V>(product, quotient, steps().norm(p_));
      if (quotient == 0) quotient = product / steps().dot(p_, p_);
      alpha = rz_ / product;
      const double before = rz_;
      residual = advance(alpha, r, z);
      if (const auto stop = iteration_.step(residual)) {
        axpy<V>(static_cast<V>(alpha), p_, iteration_.x());
        return *stop;
      }
      beta = rz_ / before;
    }
  }

 private:
  solve::VectorSteps<V>& steps() { return iteration_.steps(); }

  /// Sets rz = r.M r, where r.r is known; returns M r unless M is a diagonal.
  const Vector<V>* prepare(const Vector<V>& r, double square) {
    if (!iteration_.has_preconditioner()) {
      rz_ = square;
      return &r;
    }
    if (diagonal_) {
      rz_ = steps().dot(r, *diagonal_, r);
      return nullptr;
    }
    const Vector<V>* const z = iteration_.precondition(r, z_);
    rz_ = steps().dot(r, *z);
    return z;
  }

  /// r -= alpha q, with rz = r.M r and z = M r; returns |r|.
  double advance(double alpha, Vector<V>& r, const Vector<V>*& z) {
    if (!diagonal_) {
      const double residual = steps().add(-alpha, q_, r);
      z = prepare(r, residual * residual);
      return residual;
    }
    const auto [square, weighed] = steps().reduce(alpha, q_, *diagonal_, r);
    rz_ = weighed;
    return std::sqrt(square);
  }

  void turn(double alpha, double beta, const Vector<V>& r, const Vector<V>* z) {
    if (z)
      steps().turn(alpha, beta, *z, p_, iteration_.x());
    else
      steps().turn(alpha, beta, *diagonal_, r, p_, iteration_.x());
  }

  solve::Iteration<V>& iteration_;
  const Vector<V>* diagonal_;
  Vector<V> p_, q_, z_;
  double rz_ = 0;
};

template <Value V>
SolveReport on_cpu(solve::Iteration<V>& iteration, const Vector<V>* diagonal) {
  Cg<V> method(iteration, diagonal);
  return iteration.run([&](Vector<V>& r, double residual) { return method.run(r, residual); });
}

template <Value V>
SolveReport on_device(solve::Iteration<V>& iteration, const LinearOperator<V>& A, const LinearOperator<V>* M,
                      const Vector<V>* diagonal) {
  solve::CgOnDevice<V> cg(iteration, A, M, diagonal);
  return iteration.run([&](Vector<V>& r, double residual) {
    const auto end = cg.run(r, residual);
    if (end.stop) return *end.stop;
    if (end.is_preconditioner) return why_not_positive(end.rz);
    const double p_norm = iteration.steps().norm(cg.direction());
    return why_not_positive<V>(end.product, end.quotient, p_norm);
  });
}

}  // namespace

template <Value V>
SolveReport cg(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
               VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  solve::Iteration<V> iteration("cg", A, b, x, options);
  const LinearOperator<V>* const M = options.preconditioner.get();
  const Vector<V>* const diagonal = solve::diagonal_of(M);
  return A.device().is_cpu() ? on_cpu(iteration, diagonal) : on_device(iteration, A, M, diagonal);
}

#define WEFT_INSTANTIATE(V) \
  template SolveReport cg<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
