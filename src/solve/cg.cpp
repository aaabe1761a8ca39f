// The method of conjugate gradients (Hestenes and Stiefel, 1952), with a preconditioner.
#include <limits>

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

}  // namespace

template <Value V>
SolveReport cg(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
               VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  solve::Iteration<V> iteration("cg", A, b, x, options);
  Vector<V> p = iteration.vector(), q = iteration.vector();
  Vector<V> z = iteration.has_preconditioner() ? iteration.vector() : Vector<V>(A.device(), 0);
  return iteration.run([&](Vector<V>& r, double residual) {
    // p is the direction, q = A p, and rz = r.M r.
    const auto square = [&](const Vector<V>& preconditioned) {
      return iteration.has_preconditioner() ? iteration.steps().dot(r, preconditioned) : residual * residual;
    };
    double rz = 0, beta = 0, quotient = 0;
    for (;;) {
      const Vector<V>& preconditioned = *iteration.precondition(r, z);
      const double before = rz;
      rz = square(preconditioned);
      if (!std::isfinite(rz)) return Stop::not_finite;
      if (rz <= 0) return rz < 0 ? Stop::indefinite : Stop::broke_down;
      beta = before > 0 ? rz / before : 0;
      xpby<V>(preconditioned, static_cast<V>(beta), p);
      iteration.multiply(p, q);
      const double product = iteration.steps().dot(p, q);
      if (!(product > 0)) return why_not_positive<V>(product, quotient, iteration.steps().norm(p));
      if (quotient == 0) quotient = product / iteration.steps().dot(p, p);
      const double alpha = rz / product;
      residual = iteration.steps().advance(alpha, p, q, iteration.x(), r);
      if (const auto stop = iteration.step(residual)) return *stop;
    }
  });
}

#define WEFT_INSTANTIATE(V) \
  template SolveReport cg<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
