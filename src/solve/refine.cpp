// Iterative refinement in mixed precision: corrections in f32, what is left of b in f64.
#include <algorithm>
#include <string>

#include "core/parallel.hpp"
#include "solve/device_steps.hpp"
#include "solve/iteration.hpp"

namespace weft {
namespace {

using solve::Stop;

constexpr std::int64_t chunk = 1 << 14;  // elements, for one thread at a time

/// to = scale from, rounded to f32
void narrow(double scale, const Vector<double>& from, Vector<float>& to) {
  const auto count = static_cast<std::int64_t>(from.size());
  const Device device = from.device();
  if (!device.is_cpu())
    return WEFT_ON_DEVICE(device, solve::narrow<float>)(device, count, scale, from.data(), to.data(), {});
  parallel_for(count, chunk, [scale, from = from.data(), to = to.data()](std::int64_t i) {
    to[i] = static_cast<float>(scale * from[i]);
  });
}

/// to += scale from
void add_wide(double scale, const Vector<float>& from, VectorView<double> to) {
  const auto count = static_cast<std::int64_t>(from.size());
  const Device device = from.device();
  if (!device.is_cpu())
    return WEFT_ON_DEVICE(device, solve::add_wide<float>)(device, count, scale, from.data(), to.data(), {});
  parallel_for(count, chunk, [scale, from = from.data(), to = to.data()](std::int64_t i) {
    to[i] += scale * static_cast<double>(from[i]);
  });
}

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
  require(options.correction_rtol > 0 && options.correction_rtol < 1, "refine: correction_rtol must be between 0 and 1");
  const SolveOptions<double> outer{.rtol = options.rtol,
                                   .atol = options.atol,
                                   .max_iterations = options.max_iterations,
                                   .restart = options.restart,
                                   .use_guess = options.use_guess,
                                   .callback = options.callback};
  solve::Iteration<double> iteration("refine", A, b, x, outer);
  Vector<float> right(A.device(), x.size()), correction(A.device(), x.size());
  return iteration.run([&](Vector<double>& r, double residual) {
    narrow(1 / residual, r, right);  // its length is 1: neither squares nor what is left of b underflow
    SolveOptions<float> inner{.rtol = next_rtol(iteration.tolerance() / residual, options.correction_rtol),
                              .max_iterations = iteration.iterations_left(),
                              .restart = options.restart,
                              .preconditioner = options.preconditioner};
    inner.callback = [&](const SolveStep& step) { return !iteration.record(residual * step.residual); };
    const SolveReport report = options.method(low, right, correction, inner);
    iteration.add_costs_of(report);
    add_wide(residual, correction, iteration.x());
    return stop_of(report.status);
  });
}

}  // namespace weft
