// The stabilised method of biconjugate gradients (van der Vorst, 1992), with a preconditioner on the right, so that its
// residual is that of A x = b.
#include <limits>

#include "solve/iteration.hpp"

namespace weft {

template <Value V>
SolveReport bicgstab(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                     VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  using solve::Stop;
  solve::Iteration<V> iteration("bicgstab", A, b, x, options);
  Vector<V> shadow = iteration.vector(), p = iteration.vector(), v = iteration.vector(), t = iteration.vector();
  Vector<V> z = iteration.has_preconditioner() ? iteration.vector() : Vector<V>(A.device(), 0);
  // Below it, a quotient of sums is nothing but rounding.
  constexpr double tiny = static_cast<double>(std::numeric_limits<V>::epsilon()) * 1e-3;
  return iteration.run([&](Vector<V>& r, double residual) {
    copy<V>(r, shadow);
    const double shadow_norm = residual;
    double rho = 0, alpha = 0, omega = 0;
    for (bool first = true;; first = false) {
      const double before = rho;
      rho = first ? residual * residual : iteration.steps().dot(shadow, r);
      if (!std::isfinite(rho)) return Stop::not_finite;
      if (std::abs(rho) <= tiny * shadow_norm * residual) return Stop::broke_down;
      if (first) {
        copy<V>(r, p);
      } else {  // p = r + beta (p - omega v)
        axpy<V>(static_cast<V>(-omega), v, p);
        xpby<V>(r, static_cast<V>(rho / before * (alpha / omega)), p);
      }
      const Vector<V>& direction = *iteration.precondition(p, z);
      iteration.multiply(direction, v);
      const double product = iteration.steps().dot(shadow, v);
      if (!std::isfinite(product)) return Stop::not_finite;
      if (product == 0) return Stop::broke_down;
      alpha = rho / product;
      const double half = iteration.steps().advance(alpha, direction, v, iteration.x(), r);
      if (half <= iteration.tolerance()) return iteration.step(half).value_or(Stop::tolerance);
      const Vector<V>& second = *iteration.precondition(r, z);
      iteration.multiply(second, t);
      const double tt = iteration.steps().dot(t, t), tr = iteration.steps().dot(t, r);
      if (!std::isfinite(tt) || !std::isfinite(tr)) return Stop::not_finite;
      omega = tt > 0 ? tr / tt : 0;
      if (omega == 0) return iteration.step(half).value_or(Stop::broke_down);
      residual = iteration.steps().advance(omega, second, t, iteration.x(), r);
      if (const auto stop = iteration.step(residual)) return *stop;
    }
  });
}

#define WEFT_INSTANTIATE(V)                                                                      \
  template SolveReport bicgstab<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, \
                                   const SolveOptions<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
