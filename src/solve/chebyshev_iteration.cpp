// Chebyshev's iteration (Golub and Varga, 1961): no sums are needed to go on, only bounds of the eigenvalues of M A.
// Where they are not given, its first iterations are conjugate gradients, whose coefficients are the tridiagonal matrix
// of Lanczos's method (Saad, Iterative Methods for Sparse Linear Systems, 6.7.3).
#include <algorithm>
#include <vector>

#include "solve/iteration.hpp"
#include "solve/precondition/eigenvalue_bound.hpp"

namespace weft {
namespace {

using solve::Stop;

/// What the coefficients of conjugate gradients say about the eigenvalues.
class Lanczos {
 public:
  void add(double alpha, double beta_before) {
    diagonal_.push_back(1 / alpha + (alphas_.empty() ? 0 : beta_before / alphas_.back()));
    if (!alphas_.empty()) beside_.push_back(std::sqrt(beta_before) / alphas_.back());
    alphas_.push_back(alpha);
  }
  double largest() const { return precondition::largest_of_tridiagonal(diagonal_, beside_).value; }
  double smallest() const {
    std::vector<double> negative = diagonal_;
    for (double& element : negative) element = -element;
    return -precondition::largest_of_tridiagonal(negative, beside_).value;
  }

 private:
  std::vector<double> diagonal_, beside_, alphas_;
};

template <Value V>
class Chebyshev {
 public:
  Chebyshev(solve::Iteration<V>& iteration, const ChebyshevIterationOptions& bounds)
      : iteration_(iteration),
        smallest_(bounds.smallest),
        largest_(bounds.largest),
        d_(iteration.vector()),
        q_(iteration.vector()),
        z_(iteration.has_preconditioner() ? iteration.vector() : Vector<V>(iteration.device(), 0)) {}

  Stop run(Vector<V>& r, double residual) {
    if (largest_ == 0)
      if (const auto stop = begin_with_cg(r, residual)) return *stop;
    double best = residual;
    for (int weak_passes = 0; weak_passes < max_weak_passes;) {
      if (const auto stop = pass(r, residual)) return *stop;
      weak_passes = residual < (1 - 1e-3) * best ? 0 : weak_passes + 1;
      best = std::min(best, residual);
    }
    return Stop::restart;
  }

 private:
  static constexpr int max_weak_passes = 8;
  static constexpr int pass_length = 40;
  static constexpr int cg_steps = 12;

  /// Steps of conjugate gradients that find bounds. Changes `residual` to what is left.
  std::optional<Stop> begin_with_cg(Vector<V>& r, double& residual) {
    Lanczos lanczos;
    double rz = 0, beta = 0;
    int steps = 0;
    for (; steps < cg_steps; ++steps) {
      const Vector<V>& z = *iteration_.precondition(r, z_);
      const double before = rz;
      rz = iteration_.steps().dot(r, z);
      if (!std::isfinite(rz)) return Stop::not_finite;
      if (rz <= 0) return rz < 0 ? Stop::indefinite : Stop::broke_down;
      beta = steps > 0 ? rz / before : 0;
      xpby<V>(z, static_cast<V>(beta), d_);
      iteration_.multiply(d_, q_);
      const double product = iteration_.steps().dot(d_, q_);
      if (!std::isfinite(product)) return Stop::not_finite;
      if (product <= 0) return Stop::indefinite;
      const double alpha = rz / product;
      lanczos.add(alpha, beta);
      residual = iteration_.steps().advance(alpha, d_, q_, iteration_.x(), r);
      if (const auto stop = iteration_.step(residual)) {
        if (*stop == Stop::tolerance) use(lanczos);  // it may be wrong, and then this goes on
        return stop;
      }
    }
    use(lanczos);
    return std::nullopt;
  }

  void use(const Lanczos& lanczos) {
    // Both are inside the spectrum: the largest found is close to the end of it, the smallest seldom is.
    largest_ = 1.1 * lanczos.largest();
    smallest_ = smallest_ > 0 ? smallest_ : std::max(lanczos.smallest(), 1e-6 * largest_);
  }

  /// Begins the polynomial anew from the residual r. What earlier passes left of it belongs to eigenvalues outside of
  /// the bounds: below, its quotient says where; above, it grows.
  std::optional<Stop> pass(Vector<V>& r, double& residual) {
    const double first = residual;
    const Vector<V>* z = iteration_.precondition(r, z_);
    if (const auto stop = lower_bound(r, *z)) return stop;
    const double middle = (largest_ + smallest_) / 2, half = (largest_ - smallest_) / 2;
    const double sigma = half > 0 ? middle / half : 0;
    double rho = sigma > 0 ? 1 / sigma : 0, factor = 1 / middle;
    copy<V>(*z, d_);  // x changes by factor d
    for (int i = 0; i < pass_length; ++i) {
      iteration_.multiply(d_, q_);
      residual = iteration_.steps().advance(factor, d_, q_, iteration_.x(), r);
      if (const auto stop = iteration_.step(residual)) return stop;
      constexpr double grows = 10;
      if (residual > grows * first) {
        largest_ *= 1.5;
        return std::nullopt;
      }
      const double next_rho = sigma > 0 ? 1 / (2 * sigma - rho) : 0;
      const double next_factor = sigma > 0 ? 2 * next_rho / half : factor;
      z = iteration_.precondition(r, z_);
      xpby<V>(*z, static_cast<V>(next_rho * rho * factor / next_factor), d_);
      rho = next_rho;
      factor = next_factor;
    }
    return std::nullopt;
  }

  /// z = M r is the sum of eigenvectors with z.A z / z.r as their mean eigenvalue.
  std::optional<Stop> lower_bound(const Vector<V>& r, const Vector<V>& z) {
    iteration_.multiply(z, q_);
    const double above = iteration_.steps().dot(z, q_), below = iteration_.steps().dot(z, r);
    if (!std::isfinite(above) || !std::isfinite(below)) return Stop::not_finite;
    if (above <= 0 || below <= 0) return above < 0 || below < 0 ? Stop::indefinite : Stop::broke_down;
    smallest_ = std::min(smallest_, above / below);
    largest_ = std::max(largest_, above / below);
    return std::nullopt;
  }

  solve::Iteration<V>& iteration_;
  double smallest_, largest_;
  Vector<V> d_, q_, z_;
};

template <Value V>
SolveReport iterate(solve::Iteration<V>& iteration, const ChebyshevIterationOptions& bounds) {
  Chebyshev<V> method(iteration, bounds);
  return iteration.run([&](Vector<V>& r, double residual) { return method.run(r, residual); });
}

}  // namespace

template <Value V>
SolveReport chebyshev_iteration(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                                VectorView<std::type_identity_t<V>> x,
                                const SolveOptions<std::type_identity_t<V>>& options,
                                const ChebyshevIterationOptions& bounds) {
  const bool both = bounds.smallest > 0 && bounds.largest > bounds.smallest && std::isfinite(bounds.largest);
  if (!both && !(bounds.smallest == 0 && bounds.largest == 0))
    throw Error(ErrorCode::invalid_argument,
                "chebyshev_iteration: the bounds of the eigenvalues must be 0 < smallest < largest, or both 0");
  solve::Iteration<V> iteration("chebyshev_iteration", A, b, x, options);
  return iterate(iteration, bounds);
}

#define WEFT_INSTANTIATE(V)                                                                                 \
  template SolveReport chebyshev_iteration<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, \
                                              const SolveOptions<V>&, const ChebyshevIterationOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
