#include <gmock/gmock.h>
#include <weft/preconditioners.hpp>

#include "solve/testing.hpp"

namespace weft {
namespace {

using namespace testing;

template <class V>
SolveReport without_bounds(const LinearOperator<V>& A, VectorView<const V> b, VectorView<V> x,
                           const SolveOptions<V>& options) {
  return chebyshev_iteration(A, b, x, options);
}

TEST(ChebyshevIteration, FindsKnownAnswersWithoutBounds) {
  for (const Device device : available_devices()) {
    for (const char* const source : {"gen:poisson2d:12", "gen:elasticity3d:3"})
      for (const bool preconditioned : {false, true}) {
        const auto matrix = generate<double>(source);
        SolveOptions<double> options{.rtol = 1e-10};
        if (preconditioned) options.preconditioner = jacobi(matrix, device);
        const auto solved = solve_for_known<double>(&without_bounds<double>, matrix, options, device);
        EXPECT_TRUE(solved.report.converged()) << source << ' ' << solved.report;
        EXPECT_LE(solved.error, 1e-7) << source;
      }
  }
  const auto single = generate<float>("gen:poisson2d:12");
  EXPECT_LE(solve_for_known<float>(&without_bounds<float>, single, {.rtol = 1e-5}, Device::cpu()).error, 1e-3);
}

TEST(ChebyshevIteration, IsAsFastAsItsBoundsPromise) {
  const Index n = 30;
  const auto matrix = generate<double>("gen:poisson2d:30");
  const Plan<double> A = plan(matrix);
  const std::vector<double> b = random_vector<double>(static_cast<std::size_t>(n) * n, 3);
  std::vector<double> x(b.size());
  const double pi = std::acos(-1.0), c = std::cos(pi / (n + 1));
  const ChebyshevIterationOptions exact{.smallest = 4 - 4 * c, .largest = 4 + 4 * c};
  const auto report = chebyshev_iteration(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-8}, exact);
  EXPECT_TRUE(report.converged());
  // The polynomial begins anew every 40 iterations, which costs log 2 each time.
  const double root = std::sqrt(exact.largest / exact.smallest), rate = std::log((root + 1) / (root - 1));
  EXPECT_LE(static_cast<double>(report.iterations), 40 + std::log(2e8) / (rate - std::log(2.0) / 40)) << report;
}

TEST(ChebyshevIteration, MovesBoundsThatAreWrong) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  const Plan<double> A = plan(matrix);
  const std::vector<double> b = random_vector<double>(400, 3);
  for (const ChebyshevIterationOptions wrong :
       {ChebyshevIterationOptions{2.0, 3.0}, {0.5, 1.0}, {1e-3, 8.0}, {0.01, 1e4}, {100.0, 200.0}}) {
    std::vector<double> x(b.size());
    const auto report = chebyshev_iteration(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-6}, wrong);
    if (wrong.largest < 1e3) {
      EXPECT_TRUE(report.converged()) << wrong.smallest << ' ' << report;
    }
    EXPECT_LE(report.relative_residual, 1) << report;
  }
}

TEST(ChebyshevIteration, SaysWhatItCannotDo) {
  const auto run = [](const Csr<double>& matrix) {
    return solve_for_known<double>(&without_bounds<double>, matrix, {.rtol = 1e-10}, Device::cpu()).report.status;
  };
  EXPECT_EQ(run(diagonal<double>({1, 2, -3, 4})), SolveStatus::indefinite);
  EXPECT_EQ(run(diagonal<double>({1, 2, std::nan(""), 4})), SolveStatus::not_finite);
  EXPECT_EQ(run(diagonal<double>({3, 3, 3})), SolveStatus::converged);
  const Plan<double> A = plan(generate<double>("gen:poisson2d:4"));
  const std::vector<double> b(16, 1.0);
  std::vector<double> x(16);
  for (const ChebyshevIterationOptions wrong :
       {ChebyshevIterationOptions{0, 1}, {1, 0}, {2, 1}, {1, 1}, {-1, 1}, {std::nan(""), 1}, {1, std::nan("")}})
    expect_error(ErrorCode::invalid_argument, {"0 < smallest < largest"},
                 [&] { chebyshev_iteration(A, std::span<const double>(b), std::span<double>(x), {}, wrong); });
}

TEST(ChebyshevIteration, EndsWhereASingularMatrixDoesNotReachB) {
  const Plan<double> A = plan(ring(50));
  std::vector<double> b(50), x(50);
  b[3] = 1;
  b[30] = -0.9;
  const auto report = chebyshev_iteration(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-10});
  EXPECT_FALSE(report.converged());
  EXPECT_LE(report.relative_residual, 1.0001) << report;
}

}  // namespace
}  // namespace weft
