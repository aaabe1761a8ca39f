// The method of generalised minimal residuals (Saad and Schultz, 1986), restarted, with a preconditioner on the right,
// so that its residual is that of A x = b; and its flexible form (Saad, 1993).
#include <algorithm>
#include <limits>
#include <vector>

#include "solve/iteration.hpp"

namespace weft {
namespace {

using solve::Stop;

/// The small least-squares problem: columns of the Hessenberg matrix come one by one and are rotated to a triangle.
class Hessenberg {
 public:
  explicit Hessenberg(int columns)
      : columns_(static_cast<std::size_t>(columns)),
        cells_(columns_ * (columns_ + 1)),
        right_(columns_ + 1),
        cosines_(columns_),
        sines_(columns_) {}

  void begin(double residual) {
    size_ = 0;
    std::fill(right_.begin(), right_.end(), 0.0);
    right_[0] = residual;
  }
  /// Of the column that is being added: 0 to the number of columns there are, inclusive, then its subdiagonal.
  double& at(std::size_t row) { return cells_[size_ * (columns_ + 1) + row]; }

  /// Adds it. Returns the residual then.
  double add() {
    const std::size_t k = size_;
    for (std::size_t i = 0; i < k; ++i) {
      const double upper = at(i), lower = at(i + 1);
      at(i) = cosines_[i] * upper + sines_[i] * lower;
      at(i + 1) = cosines_[i] * lower - sines_[i] * upper;
    }
    const double length = std::hypot(at(k), at(k + 1));
    cosines_[k] = length > 0 ? at(k) / length : 1;
    sines_[k] = length > 0 ? at(k + 1) / length : 0;
    at(k) = length;
    right_[k + 1] = -sines_[k] * right_[k];
    right_[k] *= cosines_[k];
    ++size_;
    return std::abs(right_[k + 1]);
  }

  /// What to take of each vector. Where A is singular a column may add nothing but rounding (at most `rounding` of the
  /// largest) to those before it: it gets nothing.
  std::vector<double> solution(double rounding) const {
    std::vector<double> y(size_);
    double largest = 0;
    for (std::size_t k = 0; k < size_; ++k) largest = std::max(largest, diagonal(k));
    for (std::size_t k = size_; k-- > 0;) {
      double sum = right_[k];
      for (std::size_t j = k + 1; j < size_; ++j) sum -= cells_[j * (columns_ + 1) + k] * y[j];
      y[k] = diagonal(k) > rounding * largest ? sum / diagonal(k) : 0;
    }
    return y;
  }

 private:
  double diagonal(std::size_t k) const { return cells_[k * (columns_ + 1) + k]; }

  std::size_t columns_, size_ = 0;
  std::vector<double> cells_, right_, cosines_, sines_;
};

template <Value V>
SolveReport gmres_of(std::string_view method, bool flexible, const LinearOperator<V>& A, VectorView<const V> b,
                     VectorView<V> x, const SolveOptions<V>& options) {
  solve::Iteration<V> iteration(method, A, b, x, options);
  const int restart = std::min<int>(options.restart, std::max<Index>(1, A.rows()));
  const bool keeps_all = flexible && iteration.has_preconditioner();
  std::vector<Vector<V>> basis, preconditioned;
  Vector<V> z = iteration.has_preconditioner() ? iteration.vector() : Vector<V>(A.device(), 0);
  Hessenberg hessenberg(restart);
  // Vectors are made when they are needed: most problems take fewer than `restart`.
  const auto at = [&](std::vector<Vector<V>>& vectors, std::size_t k) -> Vector<V>& {
    while (vectors.size() <= k) vectors.push_back(iteration.vector());
    return vectors[k];
  };

  return iteration.run([&](Vector<V>& r, double residual) {
    hessenberg.begin(residual);
    copy<V>(r, at(basis, 0));
    scale<V>(static_cast<V>(1 / residual), at(basis, 0));
    Stop stop = Stop::restart;
    std::size_t size = 0;
    while (size < static_cast<std::size_t>(restart)) {
      Vector<V>& next = at(basis, size + 1);
      const Vector<V>& direction = *iteration.precondition(basis[size], keeps_all ? at(preconditioned, size) : z);
      iteration.multiply(direction, next);
      const double before = iteration.steps().norm(next);
      if (!std::isfinite(before)) return Stop::not_finite;
      // Twice is enough: the second time takes away what rounding left the first time.
      for (std::size_t i = 0; i <= size; ++i) hessenberg.at(i) = 0;
      double after = before;
      for (int pass = 0; pass < 2 && after > 0; ++pass) {
        for (std::size_t i = 0; i <= size; ++i) {
          const double part = iteration.steps().dot(basis[i], next);
          hessenberg.at(i) += part;
          after = iteration.steps().add(-part, basis[i], next);
        }
      }
      if (!std::isfinite(after)) return Stop::not_finite;
      const bool ends = after <= static_cast<double>(std::numeric_limits<V>::epsilon()) * before;
      hessenberg.at(size + 1) = ends ? 0 : after;
      residual = hessenberg.add();
      ++size;
      if (const auto why = iteration.step(residual)) {
        stop = *why;
        break;
      }
      if (ends) break;
      scale<V>(static_cast<V>(1 / after), next);
    }
    // x += M (V y)
    const std::vector<double> y = hessenberg.solution(10 * static_cast<double>(std::numeric_limits<V>::epsilon()));
    if (keeps_all || !iteration.has_preconditioner()) {
      const auto& directions = keeps_all ? preconditioned : basis;
      for (std::size_t i = 0; i < size; ++i) axpy<V>(static_cast<V>(y[i]), directions[i], iteration.x());
    } else {
      fill<V>(r, V(0));
      for (std::size_t i = 0; i < size; ++i) axpy<V>(static_cast<V>(y[i]), basis[i], r);
      axpy<V>(V(1), *iteration.precondition(r, z), iteration.x());
    }
    return stop;
  });
}

}  // namespace

template <Value V>
SolveReport gmres(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                  VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  return gmres_of<V>("gmres", false, A, b, x, options);
}
template <Value V>
SolveReport fgmres(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                   VectorView<std::type_identity_t<V>> x, const SolveOptions<std::type_identity_t<V>>& options) {
  return gmres_of<V>("fgmres", true, A, b, x, options);
}

#define WEFT_INSTANTIATE(V)                                                                                            \
  template SolveReport gmres<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&); \
  template SolveReport fgmres<V>(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
