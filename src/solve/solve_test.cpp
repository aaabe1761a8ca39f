#include <weft/solve.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "solve/testing.hpp"

namespace weft {
namespace {

using namespace testing;

template <class V>
void expect_answers(Device device, Index n, double rtol, double error) {
  const auto symmetric = generate<V>("gen:poisson2d:" + std::to_string(n));
  const auto windy = with_wind<V>(n, 0.6);
  for (const auto& [name, method] : methods<V>())
    for (const bool preconditioned : {false, true})
      for (const auto* matrix : {&symmetric, &windy}) {
        if (matrix == &windy && !takes_unsymmetric(name)) continue;
        SolveOptions<V> options;
        options.rtol = rtol;
        if (preconditioned) options.preconditioner = jacobi(*matrix, device);
        const auto solved = solve_for_known<V>(method, *matrix, options, device);
        const std::string which = name + (preconditioned ? ", jacobi" : "") + (matrix == &windy ? ", wind" : "");
        EXPECT_TRUE(solved.report.converged()) << which << ' ' << solved.report;
        EXPECT_LE(solved.report.relative_residual, rtol) << which;
        EXPECT_LE(solved.error, error) << which;
        EXPECT_EQ(solved.report.residuals.size(), static_cast<std::size_t>(solved.report.iterations) + 1) << which;
        EXPECT_EQ(solved.report.method, name);
        EXPECT_GE(solved.report.products, solved.report.iterations) << which;
      }
}

TEST(Solve, FindsKnownAnswers) {
  expect_answers<double>(Device::cpu(), 30, 1e-10, 1e-7);
  expect_answers<float>(Device::cpu(), 12, 1e-5, 1e-3);
}

TEST(Solve, FindsKnownAnswersOnOtherDevices) {
  for (const Device device : available_devices())
    if (!device.is_cpu()) expect_answers<double>(device, 6, 1e-10, 1e-8);
}

TEST(Solve, MinresAndGmresTakeIndefiniteMatrices) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(i % 2 == 0 ? 1 + i : -1.5 - i);
  const auto matrix = diagonal(values);
  for (const auto& [name, method] : methods<double>()) {
    if (!takes_indefinite(name) || name == "bicgstab") continue;
    const auto solved = solve_for_known<double>(method, matrix, {.rtol = 1e-10, .restart = 60}, Device::cpu());
    EXPECT_TRUE(solved.report.converged()) << solved.report;
    EXPECT_LE(solved.error, 1e-8) << name;
  }
}

TEST(Solve, CgSaysThatAMatrixIsIndefinite) {
  const auto solved = solve_for_known<double>(&cg<double>, diagonal<double>({1, 2, -3, 4}), {}, Device::cpu());
  EXPECT_EQ(solved.report.status, SolveStatus::indefinite);
}

TEST(Solve, APreconditionerThatIsNotPositiveDefiniteIsFound) {
  const auto matrix = diagonal<double>({1, 2, 3, 4});
  SolveOptions<double> options;
  options.preconditioner = std::make_shared<Plan<double>>(plan(diagonal<double>({1, 1, -5, 1})));
  for (const Method<double> method : {Method<double>(&cg<double>), Method<double>(&minres<double>)})
    EXPECT_EQ(solve_for_known<double>(method, matrix, options, Device::cpu()).report.status, SolveStatus::indefinite);
}

TEST(Solve, WhatIsTrivialTakesNoIteration) {
  const auto matrix = generate<double>("gen:poisson2d:8");
  const Plan<double> A = plan(matrix);
  const std::size_t n = 64;
  const std::vector<double> zero(n), answer = random_vector<double>(n, 3);
  std::vector<double> b(n);
  A.apply(answer, b);
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> x = answer;
    SolveReport report =
        method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-12, .use_guess = true});
    EXPECT_EQ(report.iterations, 0) << name;
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(x, answer);
    report = method(A, std::span<const double>(zero), std::span<double>(x), {.use_guess = true});
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(x, zero) << name;
  }
}

TEST(Solve, TinyMatrices) {
  const Plan<double> none = plan(Csr<double>{0, 0, Array<Offset>(1, 0), {}, {}});
  const Plan<double> one = plan(diagonal<double>({4}));
  for (const auto& [name, method] : methods<double>()) {
    EXPECT_TRUE(method(none, VectorView<const double>(), VectorView<double>(), {}).converged()) << name;
    const std::vector<double> b{2};
    std::vector<double> x{0};
    EXPECT_TRUE(method(one, std::span<const double>(b), std::span<double>(x), {}).converged()) << name;
    EXPECT_NEAR(x[0], 0.5, 1e-14) << name;
  }
}

TEST(Solve, NotANumberStopsAtOnce) {
  auto matrix = generate<double>("gen:poisson2d:8");
  const std::size_t n = 64;
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> b(n, 1), x(n);
    const Plan<double> good = plan(matrix);
    b[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(method(good, std::span<const double>(b), std::span<double>(x), {}).status, SolveStatus::not_finite)
        << name;
    b[5] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(method(good, std::span<const double>(b), std::span<double>(x), {}).status, SolveStatus::not_finite)
        << name;
    b[5] = 1;
    Csr<double> bad = generate<double>("gen:poisson2d:8");
    bad.values[100] = std::numeric_limits<double>::quiet_NaN();
    const Plan<double> wrong = plan(bad, {.format = "csr"});
    const SolveReport report = method(wrong, std::span<const double>(b), std::span<double>(x), {});
    EXPECT_EQ(report.status, SolveStatus::not_finite) << name;
    EXPECT_LE(report.iterations, 1) << name;
  }
}

TEST(Solve, ASingularMatrixThatDoesNotReachBIsNotSolved) {
  const auto matrix = diagonal<double>({1, 2, 3, 0, 5, 6});
  const Plan<double> A = plan(matrix);
  const std::vector<double> b(6, 1.0);
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> x(6);
    const SolveReport report = method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-10});
    EXPECT_FALSE(report.converged()) << name;
    EXPECT_GE(report.residual, 1 - 1e-12) << name;  // that much of b cannot be reached
    EXPECT_LE(report.residual, 10 * std::sqrt(6.0)) << name;
    EXPECT_LE(report.iterations, 60) << name;
  }
}

TEST(Solve, ASingularMatrixThatReachesBIsSolved) {
  const Index n = 50;
  const Plan<double> A = plan(ring(n));
  std::vector<double> b(n);
  b[3] = 1;
  b[30] = -1;
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> x(n);
    const SolveReport report =
        method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-10, .restart = 60});
    EXPECT_TRUE(report.converged()) << report;
  }
}

TEST(Solve, ASemidefiniteMatrixIsNotCalledIndefinite) {
  for (const Index n : {50, 300})
    for (const double sink : {-1.0, -0.9})  // -0.9: the matrix does not reach b
      for (const auto& [name, method] : methods<double>()) {
        const Plan<double> A = plan(ring(n));
        std::vector<double> b(static_cast<std::size_t>(n)), x(b.size());
        b[3] = 1;
        b[30] = sink;
        const SolveReport report =
            method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-15, .restart = n});
        EXPECT_NE(report.status, SolveStatus::indefinite) << n << ' ' << report;
        EXPECT_LE(report.relative_residual, 10) << n << ' ' << report;
      }
}

TEST(Solve, WhatAMethodKnowsOfItsResidualIsTrue) {
  const auto symmetric = generate<double>("gen:poisson2d:12");
  const auto windy = with_wind<double>(12, 0.6);
  for (const auto& [name, method] : methods<double>())
    for (const auto* matrix : {&symmetric, &windy})
      for (const int iterations : {1, 2, 7, 20}) {
        if (matrix == &windy && !takes_unsymmetric(name)) continue;
        SolveOptions<double> options{.rtol = 1e-14, .max_iterations = iterations, .restart = 50};
        options.preconditioner = std::make_shared<Plan<double>>(plan(uneven(144)));
        const auto solved = solve_for_known<double>(method, *matrix, options, Device::cpu());
        EXPECT_EQ(solved.report.status, SolveStatus::max_iterations) << name;
        EXPECT_NEAR(solved.report.residuals.back() / solved.report.residual, 1, 1e-8) << name << ' ' << iterations;
      }
}

TEST(Solve, MinresAndGmresHaveTheSameResiduals) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(i % 2 == 0 ? 1 + i : -1.5 - i);
  const auto matrix = diagonal(values);
  const SolveOptions<double> options{.rtol = 1e-6, .restart = 60};
  const auto one = solve_for_known<double>(&minres<double>, matrix, options, Device::cpu()).report;
  const auto other = solve_for_known<double>(&gmres<double>, matrix, options, Device::cpu()).report;
  const std::size_t both = std::min(one.residuals.size(), other.residuals.size());
  ASSERT_GE(both, 30u);
  for (std::size_t i = 0; i + 2 < both; ++i)  // rounding decides the last
    EXPECT_NEAR(one.residuals[i] / other.residuals[i], 1, 1e-6) << i;
}

/// Another one each time.
class Changing : public LinearOperator<double> {
 public:
  explicit Changing(Index size) : even_(plan(uneven(size))), odd_(plan(generate<double>("gen:poisson2d:12"))) {}
  Index rows() const override { return even_.rows(); }
  Index cols() const override { return even_.cols(); }
  Device device() const override { return Device::cpu(); }
  void apply(double alpha, View x, double beta, MutableView y, Stream stream) const override {
    (calls_++ % 2 == 0 ? even_ : odd_).apply(alpha, x, beta, y, stream);
  }

 private:
  Plan<double> even_, odd_;
  mutable int calls_ = 0;
};

TEST(Solve, FgmresTakesAPreconditionerThatChanges) {
  SolveOptions<double> options{.rtol = 1e-10, .restart = 200};
  options.preconditioner = std::make_shared<Changing>(144);
  const auto solved =
      solve_for_known<double>(&fgmres<double>, with_wind<double>(12, 0.6), options, Device::cpu()).report;
  EXPECT_TRUE(solved.converged()) << solved;
  EXPECT_LE(solved.products, solved.iterations + 2);  // it was right the first time
}

TEST(Solve, AGoodGuessSavesIterations) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  const Plan<double> A = plan(matrix);
  const std::vector<double> answer = random_vector<double>(400, 3);
  std::vector<double> b(400);
  A.apply(answer, b);
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> x(400), close = answer;
    for (std::size_t i = 0; i < close.size(); ++i) close[i] += 1e-6 * static_cast<double>(i % 7);
    const auto far = method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-8});
    const auto near =
        method(A, std::span<const double>(b), std::span<double>(close), {.rtol = 1e-8, .use_guess = true});
    EXPECT_TRUE(near.converged()) << near;
    EXPECT_GT(near.iterations, 0) << name;
    EXPECT_LT(near.iterations, far.iterations) << name;
  }
}

TEST(Solve, BsWhoseSquaresAreOutOfRangeAreRefused) {
  const Plan<double> A = plan(generate<double>("gen:poisson2d:8"));
  const Plan<float> single = plan(generate<float>("gen:poisson2d:8"));
  std::vector<double> x(64);
  std::vector<float> y(64);
  for (const double size : {1e-170, 1e-145, 1e200})
    for (const auto& [name, method] : methods<double>())
      expect_error(ErrorCode::invalid_argument, {"largest element of b", "times a number"}, [&, solve = method] {
        const std::vector<double> b(64, size);
        solve(A, std::span<const double>(b), std::span<double>(x), {});
      });
  for (const float size : {1e-41f, 1e35f})
    for (const auto& [name, method] : methods<float>())
      expect_error(ErrorCode::invalid_argument, {"largest element of b"}, [&, solve = method] {
        const std::vector<float> b(64, size);
        solve(single, std::span<const float>(b), std::span<float>(y), {});
      });
}

TEST(Solve, ALargeRestartCostsNothing) {
  const Plan<double> A = plan(generate<double>("gen:poisson2d:300"));
  const std::vector<double> b(90000, 1.0);
  std::vector<double> x(b.size());
  const auto report = gmres(A, std::span<const double>(b), std::span<double>(x),
                            {.max_iterations = 3, .restart = std::numeric_limits<int>::max()});
  EXPECT_EQ(report.iterations, 3);
}

TEST(Solve, WhatGmresCannotDoInOneRestartItSays) {
  // A cyclic shift: no vector of fewer than n products helps.
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < 20; ++i) entries.push_back({i, (i + 1) % 20, 1.0});
  const Plan<double> A = plan(to_csr(coo_of<double>(20, 20, entries)));
  std::vector<double> b(20), x(20);
  b[0] = 1;
  SolveReport report = gmres(A, std::span<const double>(b), std::span<double>(x), {.restart = 5});
  EXPECT_EQ(report.status, SolveStatus::stalled);
  report = gmres(A, std::span<const double>(b), std::span<double>(x), {.restart = 20});
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.iterations, 20);
}

TEST(Solve, GmresDoesNotBlowUpOnASingularMatrix) {
  // Strictly upper triangular: the powers of A end, and none of them reaches the last element of b.
  std::vector<Entry<double>> entries;
  for (Index i = 0; i + 1 < 30; ++i)
    for (Index j = i + 1; j < std::min<Index>(30, i + 4); ++j) entries.push_back({i, j, 1.0 / (1 + i + j)});
  const Plan<double> A = plan(to_csr(coo_of<double>(30, 30, entries)));
  const std::vector<double> b = random_vector<double>(30, 11);
  for (const Method<double> method : {Method<double>(&gmres<double>), Method<double>(&fgmres<double>)}) {
    std::vector<double> x(30);
    const SolveReport report = method(A, std::span<const double>(b), std::span<double>(x), {.rtol = 1e-10});
    EXPECT_FALSE(report.converged());
    EXPECT_LE(report.relative_residual, 1 + 1e-12) << report;
  }
}

TEST(Solve, BicgstabSaysThatItBrokeDown) {
  // The first direction is at right angles to where it is measured.
  const Plan<double> A = plan(to_csr(coo_of<double>(2, 2, {{0, 1, 1.0}, {1, 0, -1.0}})));
  const std::vector<double> b{1, 0};
  std::vector<double> x(2);
  EXPECT_EQ(bicgstab(A, std::span<const double>(b), std::span<double>(x)).status, SolveStatus::broke_down);
}

TEST(Solve, ATighterToleranceThanTheTypeHasStalls) {
  const auto matrix = generate<float>("gen:poisson2d:20");
  for (const auto& [name, method] : methods<float>()) {
    const auto solved = solve_for_known<float>(method, matrix, {.rtol = 1e-12}, Device::cpu());
    EXPECT_EQ(solved.report.status, SolveStatus::stalled) << solved.report;
    EXPECT_LE(solved.error, 1e-3) << name;
  }
}

TEST(Solve, EndsAfterSoManyIterations) {
  const auto matrix = generate<double>("gen:poisson2d:30");
  for (const auto& [name, method] : methods<double>()) {
    const auto solved = solve_for_known<double>(method, matrix, {.rtol = 1e-12, .max_iterations = 7}, Device::cpu());
    EXPECT_EQ(solved.report.status, SolveStatus::max_iterations) << name;
    EXPECT_EQ(solved.report.iterations, 7) << name;
    EXPECT_LT(solved.report.relative_residual, 1) << name;
  }
}

TEST(Solve, TheCallbackSeesEachIterationAndMayCancel) {
  const auto matrix = generate<double>("gen:poisson2d:30");
  for (const auto& [name, method] : methods<double>()) {
    std::vector<double> seen;
    SolveOptions<double> options{.rtol = 1e-10};
    options.callback = [&](const SolveStep& step) {
      EXPECT_EQ(step.iteration, static_cast<std::int64_t>(seen.size()) + 1);
      EXPECT_GT(step.tolerance, 0);
      seen.push_back(step.residual);
      return seen.size() < 5;
    };
    const auto solved = solve_for_known<double>(method, matrix, options, Device::cpu());
    EXPECT_EQ(solved.report.status, SolveStatus::cancelled) << name;
    EXPECT_EQ(seen, std::vector<double>(solved.report.residuals.begin() + 1, solved.report.residuals.end())) << name;
  }
}

TEST(Solve, HasTheSameBitsForAnyNumberOfThreads) {
  const auto matrix = generate<double>("gen:poisson3d:30");
  const std::vector<double> b = random_vector<double>(27000, 5);
  for (const auto& [name, method] : methods<double>()) {
    std::vector<std::vector<double>> results;
    for (const int threads : {1, 2, 5, 2}) {
      const Threads scope(threads);
      const Plan<double> A = plan(matrix, {.format = "csr"});
      SolveOptions<double> options{.rtol = 1e-8};
      options.preconditioner = jacobi(matrix);
      std::vector<double> x(b.size());
      method(A, std::span<const double>(b), std::span<double>(x), options);
      results.push_back(x);
    }
    for (const auto& x : results) EXPECT_EQ(x, results[0]) << name;
  }
}

TEST(Solve, RefusesWhatDoesNotFit) {
  const Plan<double> A = plan(generate<double>("gen:poisson2d:4"));
  const Plan<double> wide = plan(to_csr(coo_of<double>(2, 3, {{0, 0, 1.0}})));
  const Plan<double> other = plan(generate<double>("gen:poisson2d:3"));
  const std::vector<double> b(16, 1.0), short_b(15, 1.0);
  std::vector<double> x(16), short_x(15);
  const auto refuses = [&](const LinearOperator<double>& op, const std::vector<double>& right,
                           std::vector<double>& left, const SolveOptions<double>& options,
                           const std::string& sentence) {
    for (const auto& [name, method] : methods<double>())
      expect_error(ErrorCode::invalid_argument, {sentence},
                   [&] { method(op, std::span<const double>(right), std::span<double>(left), options); });
  };
  refuses(wide, b, x, {}, "only square ones");
  refuses(A, short_b, x, {}, "b has 15 elements");
  refuses(A, b, short_x, {}, "x has 15 elements");
  std::vector<double> both(20);
  for (const auto& [name, method] : methods<double>())
    expect_error(ErrorCode::invalid_argument, {"overlap"}, [&, solve = method] {
      solve(A, std::span<const double>(both).first(16), std::span<double>(both).last(16), {});
    });
  refuses(A, b, x, {.rtol = -1}, "tolerances");
  refuses(A, b, x, {.rtol = std::nan("")}, "tolerances");
  refuses(A, b, x, {.max_iterations = -1}, "max_iterations");
  refuses(A, b, x, {.restart = 0}, "restart");
  SolveOptions<double> options;
  options.preconditioner = std::make_shared<Plan<double>>(plan(generate<double>("gen:poisson2d:3")));
  refuses(A, b, x, options, "another size");
}

TEST(Jacobi, NamesTheRowWithoutADiagonalEntry) {
  const auto missing = to_csr(coo_of<double>(3, 3, {{0, 0, 1.0}, {1, 2, 1.0}, {2, 2, 1.0}}));
  expect_error(ErrorCode::invalid_argument, {"row 1 is missing"}, [&] { jacobi(missing); });
  expect_error(ErrorCode::invalid_argument, {"row 2"}, [&] { jacobi(diagonal<double>({1, 2, 0})); });
  expect_error(ErrorCode::invalid_argument, {"2 rows and 3 columns"},
               [&] { jacobi(to_csr(coo_of<double>(2, 3, {{0, 0, 1.0}}))); });
}

TEST(Jacobi, SavesIterationsWhereRowsAreScaled) {
  auto matrix = generate<double>("gen:poisson2d:20");
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      matrix.values[k] *= std::pow(10, (row % 7 + matrix.columns[k] % 7) / 4.0);
  const auto without = solve_for_known<double>(&cg<double>, matrix, {.rtol = 1e-8}, Device::cpu());
  SolveOptions<double> options{.rtol = 1e-8};
  options.preconditioner = jacobi(matrix);
  const auto with = solve_for_known<double>(&cg<double>, matrix, options, Device::cpu());
  EXPECT_TRUE(with.report.converged());
  EXPECT_LT(2 * with.report.iterations, without.report.iterations);
}

TEST(SolveReport, PrintsOneLine) {
  const auto solved = solve_for_known<double>(&cg<double>, generate<double>("gen:poisson2d:8"), {}, Device::cpu());
  std::ostringstream out;
  out << solved.report;
  EXPECT_THAT(out.str(), ::testing::MatchesRegex("cg: converged after [0-9]+ iterations, relative residual "
                                                 "[0-9.]+e-[0-9]+, [0-9.e+-]+ ms"));
}

}  // namespace
}  // namespace weft
