// Iterative refinement in mixed precision: corrections in f32, what is left of b in f64.
#include <algorithm>
#include <string>

#include "solve/iteration.hpp"
#include "solve/precondition/single.hpp"

namespace weft {
namespace {

using solve::Stop;

/// What the outer iteration does after a correction that ended so. One that reached what f32 can give is as good as
/// another: whether it helped is seen from the residual in f64.
Stop stop_of(SolveStatus correction) {
  switch (correction) {
    case SolveStatus::converged:
    case SolveStatus::stalled:
      return Stop::restart;
    case SolveStatus::max_iterations:
      return Stop::iterations;
    case SolveStatus::indefinite:
      return Stop::indefinite;
    case SolveStatus::broke_down:
      return Stop::broke_down;
    case SolveStatus::diverged:
      return Stop::diverged;
    case SolveStatus::not_finite:
      return Stop::not_finite;
    case SolveStatus::cancelled:
      return Stop::cancelled;
  }
  return Stop::not_finite;
}

/// How far the next correction reduces the residual, which has to fall to `needed` of itself: all corrections to come
/// by the same factor, so that there are as few as possible and none is cut short.
double next_rtol(double needed, double smallest) {
  const double goal = needed / 2;  // rounding to f32 costs some
  if (!(goal > 0)) return smallest;
  const double corrections = std::max(1.0, std::ceil(std::log(goal) / std::log(smallest)));
  return std::pow(goal, 1 / corrections);
}

void require(bool holds, const std::string& sentence) {
  if (!holds) throw Error(ErrorCode::invalid_argument, sentence);
}

}  // namespace

SolveReport refine(const LinearOperator<double>& A, const LinearOperator<float>& low, VectorView<const double> b,
                   VectorView<double> x, const RefineOptions& options) {
  require(options.method != nullptr, "refine: there is no method for the corrections");
  require(low.rows() == A.rows() && low.cols() == A.cols(), "refine: the f32 operator has another size than A");
  require(low.device() == A.device(), "refine: the f32 operator is on another device than A");
  require(options.correction_rtol > 0 && options.correction_rtol < 1,
          "refine: correction_rtol must be between 0 and 1");
  const SolveOptions<double> outer{.rtol = options.rtol,
                                   .atol = options.atol,
                                   .max_iterations = options.max_iterations,
                                   .restart = options.restart,
                                   .use_guess = options.use_guess,
                                   .callback = options.callback};
  solve::Iteration<double> iteration("refine", A, b, x, outer);
  Vector<float> right(A.device(), x.size()), correction(A.device(), x.size());
  return iteration.run([&](Vector<double>& r, double residual) {
    scale<double>(1 / residual, r);  // its length is 1: neither squares nor elements underflow in f32
    precondition::round_to_single(r, right, {});
    SolveOptions<float> inner{.rtol = next_rtol(iteration.tolerance() / residual, options.correction_rtol),
                              .max_iterations = iteration.iterations_left(),
                              .restart = options.restart,
                              .preconditioner = options.preconditioner};
    inner.callback = [&](const SolveStep& step) { return !iteration.record(residual * step.residual); };
    const SolveReport report = options.method(low, right, correction, inner);
    iteration.add_costs_of(report);
    precondition::add_single(residual, correction, 1, iteration.x(), {});
    return stop_of(report.status);
  });
}

}  // namespace weft
