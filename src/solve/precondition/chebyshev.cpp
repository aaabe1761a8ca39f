#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/timer.hpp"
#include "solve/diagonal.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/eigenvalue_bound.hpp"
#include "solve/precondition/options.hpp"

namespace weft {
namespace precondition {
namespace {

template <Value V>
class Chebyshev final : public Base<V> {
 public:
  Chebyshev(const LinearOperator<V>& P, const MatrixSource<V>& A, const ChebyshevOptions& options)
      : Base<V>("chebyshev", A.rows(), P.device()),
        product_(P),
        options_(options),
        inverse_diagonal_(inverse_diagonal("chebyshev", A.host())),
        scaling_(P.device(), inverse_diagonal_),
        residual_(P.device(), static_cast<std::size_t>(A.rows())),
        step_(P.device(), static_cast<std::size_t>(A.rows())) {
    find_bound(A);
    this->info_.nonzeros = (options.degree - 1) * A.nonzeros() + options.degree * Offset(A.rows());
    this->info_.bytes = scaling_.diagonal().bytes();
    this->info_.setup_seconds = timer_.seconds();
  }

  void update_values(const MatrixSource<V>& A) override {
    const Stopwatch timer;
    require_rows("chebyshev", A, this->rows_);
    inverse_diagonal_ = inverse_diagonal("chebyshev", A.host());
    scaling_.assign(inverse_diagonal_);
    find_bound(A);
    this->info_.update_seconds = timer.seconds();
  }

  /// Chebyshev's iteration for D^-1 A z = D^-1 alpha x, from 0 (Saad, Iterative Methods for Sparse Linear Systems,
  /// algorithm 12.1), whose last z is linear in x.
  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    if (beta == V(0))
      fill<V>(y, V(0), stream);
    else if (beta != V(1))
      scale<V>(beta, y, stream);
    if (alpha == V(0)) return;
    const double smallest = largest_ / options_.ratio;
    const double middle = (largest_ + smallest) / 2, half = (largest_ - smallest) / 2, sigma = middle / half;
    double rho = 1 / sigma;
    scaling_.apply(static_cast<V>(static_cast<double>(alpha) / middle), x, V(0), step_, stream);
    axpy<V>(V(1), step_, y, stream);
    for (int k = 1; k < options_.degree; ++k) {
      if (k == 1) {
        fill<V>(residual_, V(0), stream);
        axpy<V>(alpha, x, residual_, stream);
      }
      product_.apply(V(-1), step_, V(1), residual_, stream);
      const double next = 1 / (2 * sigma - rho);
      scaling_.apply(static_cast<V>(2 * next / half), residual_, static_cast<V>(next * rho), step_, stream);
      axpy<V>(V(1), step_, y, stream);
      rho = next;
    }
  }

 private:
  void find_bound(const MatrixSource<V>& A) {
    largest_ = options_.largest;
    if (largest_ == 0 && A.rows() > 0) {
      const EigenvalueEstimate estimate = estimate_largest<V>(product_, scaling_, options_.steps);
      if (!estimate.positive)
        refuse("chebyshev",
               "the matrix, divided by its diagonal, is not positive definite; minres, or another "
               "preconditioner, may do");
      largest_ = std::min(largest_row_sum(A.host(), inverse_diagonal_), estimate.value + estimate.residual);
    }
    if (A.rows() == 0) largest_ = 1;
    char text[120];
    std::snprintf(text, sizeof text, "degree %d, eigenvalues of %.3g to %.3g", options_.degree,
                  largest_ / options_.ratio, largest_);
    this->info_.details = text;
  }

  Stopwatch timer_;
  const LinearOperator<V>& product_;
  ChebyshevOptions options_;
  Array<V> inverse_diagonal_;
  solve::DiagonalOperator<V> scaling_;
  double largest_ = 0;
  mutable Vector<V> residual_, step_;
};

}  // namespace
}  // namespace precondition

template <Value V>
MadePreconditioner<V> chebyshev(const LinearOperator<V>& P, const MatrixSource<std::type_identity_t<V>>& A,
                                const ChebyshevOptions& options) {
  using precondition::require_in_range;
  const std::string name = "chebyshev";
  precondition::require_square(name, A);
  if (P.rows() != A.rows() || P.cols() != A.cols())
    precondition::refuse(name, "the operator is of another size than the matrix");
  require_in_range(name, "degree", options.degree, 1, ChebyshevOptions::max_degree);
  require_in_range(name, "ratio", options.ratio, 1.001, 1e9);
  require_in_range(name, "largest", options.largest, 0, 1e300);
  require_in_range(name, "steps", options.steps, 1, 1000);
  return std::make_shared<precondition::Chebyshev<V>>(P, A, options);
}

#define WEFT_INSTANTIATE(V)                                                                     \
  template MadePreconditioner<V> chebyshev<V>(const LinearOperator<V>&, const MatrixSource<V>&, \
                                              const ChebyshevOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
