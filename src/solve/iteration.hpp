#pragma once
#include <weft/error.hpp>
#include <weft/solve.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/timer.hpp"
#include "solve/vector_steps.hpp"

// What all methods share: products with A and the preconditioner, when to stop, and what is reported.
namespace weft::solve {

/// Why a method stopped for now.
enum class Stop {
  tolerance,   ///< it believes to be there
  restart,     ///< it must begin anew from the x that it has
  broke_down,  ///< it divided by zero
  indefinite,
  diverged,
  not_finite,
  cancelled,
  iterations,
};

template <Value V>
class Iteration {
 public:
  Iteration(std::string_view method, const LinearOperator<V>& A, VectorView<const V> b, VectorView<V> x,
            const SolveOptions<V>& options)
      : A_(A),
        b_(b),
        x_(x),
        options_(options),
        residual_vector_(A.device(), x.size()),
        kept_(A.device(), x.size()),
        steps_(A.device(), x.size()) {
    report_.method = method;
    require(A.rows() == A.cols(), "the operator has " + std::to_string(A.rows()) + " rows and " +
                                      std::to_string(A.cols()) + " columns; only square ones can be solved with");
    const auto rows = static_cast<std::size_t>(A.rows());
    require(b.size() == rows,
            "b has " + std::to_string(b.size()) + " elements, the operator " + std::to_string(rows) + " rows");
    require(x.size() == rows,
            "x has " + std::to_string(x.size()) + " elements, the operator " + std::to_string(rows) + " rows");
    require(b.device() == A.device(), "b is not on the operator's device, " + A.device().name());
    require(x.device() == A.device(), "x is not on the operator's device, " + A.device().name());
    require(b.data() + b.size() <= x.data() || x.data() + x.size() <= b.data(), "b and x overlap");
    require(options.rtol >= 0 && options.atol >= 0, "tolerances must not be negative");
    require(options.max_iterations >= 0, "max_iterations must not be negative");
    require(options.restart >= 1, "restart must be at least 1");
    if (const auto& M = options.preconditioner) {
      require(M->rows() == A.rows() && M->cols() == A.cols(), "the preconditioner has another size than the operator");
      require(M->device() == A.device(), "the preconditioner is on another device than the operator");
    }
    max_iterations_ = options.max_iterations > 0 ? options.max_iterations : 10 * std::int64_t{A.rows()};
  }

  Device device() const { return A_.device(); }
  std::size_t size() const { return x_.size(); }
  VectorView<V> x() const { return x_; }
  double tolerance() const { return report_.tolerance; }
  VectorSteps<V>& steps() { return steps_; }
  Vector<V> vector() const { return Vector<V>(device(), size()); }

  /// y = A x
  void multiply(VectorView<const V> from, VectorView<V> to) { multiply(V(1), from, V(0), to); }

  /// The vector that M r is in: `z`, or r itself where there is no preconditioner.
  const Vector<V>* precondition(const Vector<V>& r, Vector<V>& z) {
    if (!options_.preconditioner) return &r;
    const Stopwatch timer;
    options_.preconditioner->apply(V(1), r, V(0), z);
    if (device().is_cpu()) report_.preconditioner_seconds += timer.seconds();
    return &z;
  }
  bool has_preconditioner() const { return options_.preconditioner != nullptr; }

  /// After each iteration, with what the method knows of the residual. Nothing: go on.
  std::optional<Stop> step(double residual) {
    const auto cancelled = record(residual);
    if (!std::isfinite(residual)) return Stop::not_finite;
    if (cancelled) return cancelled;
    if (residual <= report_.tolerance) return Stop::tolerance;
    if (residual > max_residual()) return Stop::diverged;
    if (report_.iterations >= max_iterations_) return Stop::iterations;
    return std::nullopt;
  }

  // What step() consists of, for methods that decide elsewhere when to stop.

  /// Keeps the residual and calls the callback.
  std::optional<Stop> record(double residual) {
    ++report_.iterations;
    report_.residuals.push_back(residual);
    if (std::isfinite(residual) && options_.callback &&
        !options_.callback({report_.iterations, residual, report_.tolerance}))
      return Stop::cancelled;
    return std::nullopt;
  }
  std::int64_t iterations_left() const { return max_iterations_ - report_.iterations; }
  /// Beyond it, the method diverges.
  double max_residual() const {
    constexpr double too_much = 1e8;
    return too_much * first_residual_;
  }
  void count_products(std::int64_t products) { report_.products += products; }
  /// What another solver spent for this one.
  void add_costs_of(const SolveReport& inner) {
    report_.products += inner.products;
    report_.product_seconds += inner.product_seconds;
    report_.preconditioner_seconds += inner.preconditioner_seconds;
  }

  /// Runs `method(r, |r|)` until x is good enough or cannot become better. It begins from the residual r, which it may
  /// overwrite, changes x and says why it stopped.
  template <class Method>
  SolveReport run(Method&& method) {
    const Stopwatch timer;
    report_.status = solve(method);
    report_.seconds = timer.seconds();
    return std::move(report_);
  }

 private:
  static void require(bool holds, const std::string& sentence) {
    if (!holds) throw Error(ErrorCode::invalid_argument, sentence);
  }

  void multiply(V alpha, VectorView<const V> from, V beta, VectorView<V> to) {
    const Stopwatch timer;
    A_.apply(alpha, from, beta, to);
    ++report_.products;
    if (device().is_cpu()) report_.product_seconds += timer.seconds();
  }

  double compute_residual() {
    copy<V>(b_, residual_vector_);
    multiply(V(-1), x_, V(1), residual_vector_);
    return steps_.norm(residual_vector_);
  }

  void know(double residual, double b_norm) {
    report_.residual = residual;
    report_.relative_residual = b_norm > 0 ? residual / b_norm : 0;
  }

  /// Squares of elements far from 1 under- or overflow, and then nothing that follows would be true.
  void require_usable_size(double b_norm) const {
    constexpr bool wide = sizeof(V) == 8;
    constexpr double smallest = wide ? 1e-140 : 1e-30, largest = wide ? 1e140 : 1e30;
    if (b_norm >= smallest && b_norm <= largest) return;
    double most = 0;
    Array<V> host;
    if (!device().is_cpu()) {
      host = Array<V>(size());
      copy<V>(b_, VectorView<V>(std::span<V>(host)));
    }
    const V* const elements = device().is_cpu() ? b_.data() : host.data();
    for (std::size_t i = 0; i < size(); ++i) {
      if (!std::isfinite(elements[i])) return;  // the report says so
      most = std::max(most, std::abs(static_cast<double>(elements[i])));
    }
    require(most == 0, "the largest element of b is " + text_of(most) +
                           ", too far from 1: solve for b times a number, and divide x by it");
  }
  static std::string text_of(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", number);
    return text;
  }

  template <class Method>
  SolveStatus solve(Method&& method) {
    const double b_norm = norm<V>(b_);
    require_usable_size(b_norm);
    report_.tolerance = std::max(options_.rtol * b_norm, options_.atol);
    if (!options_.use_guess) fill<V>(x_, V(0));
    if (b_norm == 0) {  // the answer, whatever A is
      fill<V>(x_, V(0));
      report_.residuals.push_back(0);
      return SolveStatus::converged;
    }
    double residual = b_norm;
    if (options_.use_guess)
      residual = compute_residual();
    else
      copy<V>(b_, residual_vector_);
    first_residual_ = residual;
    report_.residuals.push_back(residual);
    int weak_passes = 0;
    for (;;) {
      know(residual, b_norm);
      if (!std::isfinite(residual)) return SolveStatus::not_finite;
      if (residual <= report_.tolerance) return SolveStatus::converged;
      copy<V>(x_, kept_);
      const Stop stop = method(residual_vector_, residual);
      const double before = residual;
      residual = compute_residual();
      const bool has_failed =
          stop == Stop::tolerance || stop == Stop::restart || stop == Stop::broke_down || stop == Stop::diverged;
      constexpr double much_worse = 10;
      const bool was_finite = std::isfinite(residual);
      if (was_finite ? residual > (has_failed ? 1 : much_worse) * before : has_failed) {
        copy<V>(kept_, x_);
        residual = before;
      }
      know(residual, b_norm);
      if (!was_finite && stop != Stop::diverged) return SolveStatus::not_finite;
      if (residual <= report_.tolerance && stop != Stop::cancelled) continue;
      // A method that begins anew must have made some progress. One that believed to be there, or broke down, may be
      // wrong a few times, if it helps.
      constexpr int max_weak_passes = 3;
      weak_passes = 2 * residual < before ? 0 : weak_passes + 1;
      const bool progress = stop == Stop::restart ? residual < (1 - 1e-6) * before
                                                  : residual < 0.99 * before && weak_passes < max_weak_passes;
      switch (stop) {
        case Stop::tolerance:
        case Stop::restart:
          if (!progress) return SolveStatus::stalled;
          break;
        case Stop::broke_down:
          if (!progress) return SolveStatus::broke_down;
          break;
        case Stop::indefinite:
          return SolveStatus::indefinite;
        case Stop::diverged:
          return SolveStatus::diverged;
        case Stop::not_finite:
          return SolveStatus::not_finite;
        case Stop::cancelled:
          return SolveStatus::cancelled;
        case Stop::iterations:
          return SolveStatus::max_iterations;
      }
      if (report_.iterations >= max_iterations_) return SolveStatus::max_iterations;
    }
  }

  const LinearOperator<V>& A_;
  VectorView<const V> b_;
  VectorView<V> x_;
  const SolveOptions<V>& options_;
  Vector<V> residual_vector_;
  Vector<V> kept_;  ///< x as it was when the method began the last time
  VectorSteps<V> steps_;
  std::int64_t max_iterations_ = 0;
  double first_residual_ = 0;
  SolveReport report_;
};

}  // namespace weft::solve
