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
  /// A column that adds at most `rounding` of the largest to those before it adds nothing: A is singular.
  explicit Hessenberg(double rounding) : rounding_(rounding) {}

  void begin(double residual) {
    size_ = 0;
    largest_ = 0;
    right_.assign(1, residual);
  }
  /// The column to be added, all zeros: one element per column there is, inclusive, then its subdiagonal.
  std::vector<double>& next() {
    if (columns_.size() == size_) columns_.emplace_back();
    columns_[size_].assign(size_ + 2, 0.0);
    return columns_[size_];
  }
  /// Adds it. Returns the residual then.
  double add() {
    const std::size_t k = size_++;
    cosines_.resize(size_);
    sines_.resize(size_);
    right_.push_back(0);
    std::vector<double>& column = columns_[k];
    for (std::size_t i = 0; i < k; ++i) {
      const double upper = column[i], lower = column[i + 1];
      column[i] = cosines_[i] * upper + sines_[i] * lower;
      column[i + 1] = cosines_[i] * lower - sines_[i] * upper;
    }
    double length = std::hypot(column[k], column[k + 1]);
    largest_ = std::max(largest_, length);
    if (length <= rounding_ * largest_) length = 0;
    cosines_[k] = length > 0 ? column[k] / length : 0;
    sines_[k] = length > 0 ? column[k + 1] / length : 1;
    column[k] = length;
    right_[k + 1] = -sines_[k] * right_[k];
    right_[k] *= cosines_[k];
    return std::abs(right_[k + 1]);
  }

  /// What to take of each vector.
  std::vector<double> solution() const {
    std::vector<double> y(size_);
    for (std::size_t k = size_; k-- > 0;) {
      double sum = right_[k];
      for (std::size_t j = k + 1; j < size_; ++j) sum -= columns_[j][k] * y[j];
      y[k] = columns_[k][k] > 0 ? sum / columns_[k][k] : 0;
    }
    return y;
  }

 private:
  double rounding_, largest_ = 0;
  std::size_t size_ = 0;
  std::vector<std::vector<double>> columns_;
  std::vector<double> right_, cosines_, sines_;
};

template <Value V>
SolveReport gmres_of(std::string_view method, bool flexible, const LinearOperator<V>& A, VectorView<const V> b,
                     VectorView<V> x, const SolveOptions<V>& options) {
  solve::Iteration<V> iteration(method, A, b, x, options);
  const int restart = std::min<int>(options.restart, std::max<Index>(1, A.rows()));
  constexpr double rounding = static_cast<double>(std::numeric_limits<V>::epsilon());
  const bool keeps_all = flexible && iteration.has_preconditioner();
  std::vector<Vector<V>> basis, preconditioned;
  Vector<V> z = iteration.has_preconditioner() ? iteration.vector() : Vector<V>(A.device(), 0);
  Hessenberg hessenberg(rounding);
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
      std::vector<double>& column = hessenberg.next();
      double after = before;
      for (int pass = 0; pass < 2 && after > 0; ++pass) {
        for (std::size_t i = 0; i <= size; ++i) {
          const double part = iteration.steps().dot(basis[i], next);
          column[i] += part;
          after = iteration.steps().add(-part, basis[i], next);
        }
      }
      if (!std::isfinite(after)) return Stop::not_finite;
      const bool ends = after <= rounding * before;
      column[size + 1] = ends ? 0 : after;
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
    const std::vector<double> y = hessenberg.solution();
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
