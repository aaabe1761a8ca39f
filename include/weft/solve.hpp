#pragma once
#include <weft/export.hpp>
#include <weft/linear_operator.hpp>
#include <weft/preconditioners.hpp>
#include <weft/types.hpp>
#include <weft/vector.hpp>

#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

// Solves A x = b with products only: for any LinearOperator, on the device where it multiplies.
namespace weft {

enum class SolveStatus {
  converged,       ///< |b - A x|, computed anew, is within the tolerance
  max_iterations,  ///< not within the tolerance after SolveOptions::max_iterations
  stalled,         ///< x cannot be made better: rounding, or a singular matrix and a b that it does not reach
  indefinite,      ///< the matrix or the preconditioner is not positive definite, as the method needs it
  broke_down,      ///< the method divided by zero; another one may go on
  diverged,        ///< the residual grew by more than 10^8
  not_finite,      ///< NaN or an infinity in A, b, x or the preconditioner
  cancelled,       ///< SolveOptions::callback returned false
};
WEFT_API std::string_view to_string(SolveStatus status);

/// About A^-1: its product with a residual is about the error.
template <Value V>
using Preconditioner = std::shared_ptr<const LinearOperator<V>>;

/// How far a solver is.
struct SolveStep {
  std::int64_t iteration = 0;
  double residual = 0;   ///< |b - A x| as the method knows it
  double tolerance = 0;  ///< what it should become
};

template <Value V>
struct SolveOptions {
  double rtol = 1e-5;  ///< converged when |b - A x| <= max(rtol |b|, atol)
  double atol = 0;
  std::int64_t max_iterations = 0;  ///< 0: ten times the number of rows
  int restart = 30;                 ///< gmres and fgmres: vectors that are kept, then begin anew
  bool use_guess = false;           ///< begin with the x that is given, not with 0
  Preconditioner<V> preconditioner = nullptr;
  std::function<bool(const SolveStep&)> callback = {};  ///< after each iteration; false: end as cancelled
};

struct SolveReport {
  SolveStatus status = SolveStatus::converged;
  std::string_view method;
  std::int64_t iterations = 0;
  double residual = 0;            ///< |b - A x| of the x returned, computed anew
  double relative_residual = 0;   ///< the same over |b|; 0 where b is 0
  double tolerance = 0;           ///< what `residual` was to become
  std::vector<double> residuals;  ///< |b - A x| as the method knew it: at the start, and after each iteration
  std::int64_t products = 0;      ///< with A
  double seconds = 0;
  /// Of these, with A and with the preconditioner. On a CPU; 0 on a GPU, which works while the host goes on.
  double product_seconds = 0, preconditioner_seconds = 0;

  bool converged() const { return status == SolveStatus::converged; }
};
/// One line: "cg: converged after 48 iterations, relative residual 8.3e-09, 12 ms".
WEFT_API std::ostream& operator<<(std::ostream& out, const SolveReport& report);

// Each needs a square operator, and b and x on its device. They throw Error(invalid_argument) for sizes, devices and
// options that do not fit; whatever happens to the numbers is in the report, and x is then the last one that was
// reached, or where the method began the last time if it failed and made that worse. The same input gives the same
// bits, for any number of threads.
//
//   cg        A symmetric, positive definite; the preconditioner too
//   minres    A symmetric; the preconditioner positive definite
//   gmres     any A; keeps `restart` vectors
//   fgmres    as gmres, with a preconditioner that may change from product to product; keeps twice as many
//   bicgstab  any A; keeps six vectors, two products per iteration

#define WEFT_SOLVER(METHOD)                                                                            \
  template <Value V>                                                                                   \
  WEFT_API SolveReport METHOD(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b, \
                              VectorView<std::type_identity_t<V>> x,                                   \
                              const SolveOptions<std::type_identity_t<V>>& options = {});              \
  template <Value V>                                                                                   \
  SolveReport METHOD(const LinearOperator<V>& A, std::span<const std::type_identity_t<V>> b,           \
                     std::span<std::type_identity_t<V>> x,                                             \
                     const SolveOptions<std::type_identity_t<V>>& options = {}) {                      \
    return METHOD(A, VectorView<const V>(b), VectorView<V>(x), options);                               \
  }
WEFT_SOLVER(cg)
WEFT_SOLVER(minres)
WEFT_SOLVER(gmres)
WEFT_SOLVER(fgmres)
WEFT_SOLVER(bicgstab)
#undef WEFT_SOLVER

/// Bounds of the eigenvalues of A, or of M A with a preconditioner M. Both 0: they are estimated.
struct ChebyshevIterationOptions {
  double smallest = 0;
  double largest = 0;
};

/// Needs no sums but the residual's: a step is a product and additions. For A symmetric and positive definite, the
/// preconditioner too. Where no bounds are given, the first twelve iterations are those of cg, which find some; bounds
/// that turn out wrong are moved.
template <Value V>
WEFT_API SolveReport chebyshev_iteration(const LinearOperator<V>& A, VectorView<const std::type_identity_t<V>> b,
                                         VectorView<std::type_identity_t<V>> x,
                                         const SolveOptions<std::type_identity_t<V>>& options = {},
                                         const ChebyshevIterationOptions& bounds = {});
template <Value V>
SolveReport chebyshev_iteration(const LinearOperator<V>& A, std::span<const std::type_identity_t<V>> b,
                                std::span<std::type_identity_t<V>> x,
                                const SolveOptions<std::type_identity_t<V>>& options = {},
                                const ChebyshevIterationOptions& bounds = {}) {
  return chebyshev_iteration(A, VectorView<const V>(b), VectorView<V>(x), options, bounds);
}

/// A method that `refine` takes for its corrections, such as &weft::cg<float>.
using InnerMethod = SolveReport (*)(const LinearOperator<float>& A, VectorView<const float> b, VectorView<float> x,
                                    const SolveOptions<float>& options);

struct RefineOptions {
  double rtol = 1e-5;  ///< as in SolveOptions
  double atol = 0;
  std::int64_t max_iterations = 0;  ///< of all corrections together; 0: ten times the number of rows
  bool use_guess = false;
  InnerMethod method = &cg<float>;
  double correction_rtol = 1e-5;  ///< a correction reduces its residual by this factor at most; f32 ends at about 1e-6
  int restart = 30;               ///< of gmres and fgmres
  Preconditioner<float> preconditioner = nullptr;
  std::function<bool(const SolveStep&)> callback = {};
};

/// Mixed precision: an answer of f64 whose work is done in f32, at half the bytes. Corrections of x are solved for with
/// `low`, which is A rounded to f32; what is left of b is computed with A, in f64. Converges where `method` does on
/// `low`, unless the condition number of A exceeds about 1e7: then corrections do not help, and it stalls.
WEFT_API SolveReport refine(const LinearOperator<double>& A, const LinearOperator<float>& low,
                            VectorView<const double> b, VectorView<double> x, const RefineOptions& options = {});
inline SolveReport refine(const LinearOperator<double>& A, const LinearOperator<float>& low, std::span<const double> b,
                          std::span<double> x, const RefineOptions& options = {}) {
  return refine(A, low, VectorView<const double>(b), VectorView<double>(x), options);
}

}  // namespace weft
