// The method of minimal residuals for symmetric matrices (Paige and Saunders, 1975), with a preconditioner that is
// positive definite.
#include <algorithm>
#include <limits>
#include <utility>

#include "solve/iteration.hpp"

namespace weft {

template <Value V>
SolveReport minres(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                   VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  using solve::Stop;
  solve::Iteration<V> iteration("minres", A, b, x, options);
  // Lanczos vectors before the preconditioner, and three directions.
  Vector<V> last = iteration.vector(), now = iteration.vector(), next = iteration.vector();
  Vector<V> w_last = iteration.vector(), w = iteration.vector(), w_next = iteration.vector();
  Vector<V> z = iteration.vector();
  return iteration.run([&](Vector<V>& r, double residual) {
    copy<V>(r, now);
    fill<V>(last, V(0));
    fill<V>(w_last, V(0));
    fill<V>(w, V(0));
    // z = M now / gamma, where gamma is the length of `now`.
    const auto begin_direction = [&](const Vector<V>& preconditioned, double gamma) {
      if (&preconditioned != &z) copy<V>(preconditioned, z);
      scale<V>(static_cast<V>(1 / gamma), z);
    };
    double gamma_last = 1, gamma = 0;
    {
      const Vector<V>& preconditioned = *iteration.precondition(now, z);
      const double square =
          iteration.has_preconditioner() ? iteration.steps().dot(now, preconditioned) : residual * residual;
      if (!std::isfinite(square)) return Stop::not_finite;
      if (square <= 0) return Stop::indefinite;
      gamma = std::sqrt(square);
      begin_direction(preconditioned, gamma);
    }
    constexpr double rounding = 100 * static_cast<double>(std::numeric_limits<V>::epsilon());
    double largest = 0;
    double eta = gamma, cosine_last = 1, cosine = 1, sine_last = 0, sine = 0;
    for (;;) {
      iteration.multiply(z, next);
      const double delta = iteration.steps().dot(next, z);
      // next = A z - delta / gamma now - gamma / gamma_last last
      axpy<V>(static_cast<V>(-delta / gamma), now, next);
      axpy<V>(static_cast<V>(-gamma / gamma_last), last, next);
      const double along = cosine * delta - cosine_last * sine * gamma;
      const double above = sine * delta + cosine_last * cosine * gamma, far = sine_last * gamma;
      // w_next = (z - far w_last - above w) / diagonal, once the diagonal is known.
      copy<V>(z, w_next);
      const Vector<V>& preconditioned = *iteration.precondition(next, z);
      const double square = iteration.steps().dot(next, preconditioned);
      if (!std::isfinite(square) || !std::isfinite(along)) return Stop::not_finite;
      if (square < 0) return Stop::indefinite;
      const double gamma_next = std::sqrt(square);
      const double diagonal = std::hypot(along, gamma_next);
      // A is singular and does not reach what is left of b: another step would be along rounding.
      largest = std::max(largest, diagonal);
      if (diagonal <= rounding * largest) return Stop::restart;
      axpy<V>(static_cast<V>(-far), w_last, w_next);
      axpy<V>(static_cast<V>(-above), w, w_next);
      scale<V>(static_cast<V>(1 / diagonal), w_next);
      cosine_last = std::exchange(cosine, along / diagonal);
      sine_last = std::exchange(sine, gamma_next / diagonal);
      axpy<V>(static_cast<V>(cosine * eta), w_next, iteration.x());
      eta *= -sine;
      // The residual itself: r = sine^2 r + eta cosine next / gamma_next.
      scale<V>(static_cast<V>(sine * sine), r);
      const double r_norm =
          gamma_next > 0 ? iteration.steps().add(eta * cosine / gamma_next, next, r) : iteration.steps().norm(r);
      if (const auto stop = iteration.step(r_norm)) return *stop;
      if (gamma_next == 0) return Stop::tolerance;  // there is no other direction
      begin_direction(preconditioned, gamma_next);
      std::swap(last, now);
      std::swap(now, next);
      std::swap(w_last, w);
      std::swap(w, w_next);
      gamma_last = std::exchange(gamma, gamma_next);
    }
  });
}

#define WEFT_INSTANTIATE(V) \
  template SolveReport minres<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
