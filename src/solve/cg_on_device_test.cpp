// Conjugate gradients decide on the device when to stop; they must come to the same end as on a CPU.
#include <gmock/gmock.h>

#include "solve/testing.hpp"
#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

namespace weft {
namespace {

using namespace testing;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Calls body(device) for each device that is not the CPU.
template <class F>
void on_devices(F&& body) {
  for (const Device device : available_devices())
    if (!device.is_cpu()) body(device);
}

SolveOptions<double> with(SolveOptions<double> options, const Csr<double>& matrix, Device device, bool jacobi_too,
                          bool general) {
  if (jacobi_too) options.preconditioner = jacobi(matrix, device);
  if (general)
    options.preconditioner =
        std::make_shared<Plan<double>>(plan(uneven(matrix.rows), {.device = device, .format = "csr"}));
  return options;
}

/// For b = 1 unless given.
struct Ended {
  SolveReport report;
  std::vector<double> x;
};
Ended solve_on(Device device, const Csr<double>& matrix, const SolveOptions<double>& options,
               std::vector<double> b = {}) {
  if (b.empty()) b.assign(static_cast<std::size_t>(matrix.rows), 1.0);
  const Plan<double> A = plan(matrix, {.device = device, .format = "csr"});
  const Vector<double> right(device, b);
  Vector<double> x(device, b.size());
  fill<double>(x, nan);
  Ended ended;
  ended.report = cg(A, right, x, options);
  const Array<double> answer = x.download();
  ended.x.assign(answer.begin(), answer.end());
  return ended;
}

TEST(CgOnDevice, TakesTheStepsThatItTakesOnACpu) {
  const auto matrix = generate<double>("gen:poisson2d:12");
  for (const int preconditioner : {0, 1, 2}) {
    const auto options = [&](Device device) {
      return with({.rtol = 1e-9}, matrix, device, preconditioner == 1, preconditioner == 2);
    };
    const std::vector<double> b = random_vector<double>(144, 3);
    const Ended expected = solve_on(Device::cpu(), matrix, options(Device::cpu()), b);
    ASSERT_TRUE(expected.report.converged());
    on_devices([&](Device device) {
      const Ended found = solve_on(device, matrix, options(device), b);
      EXPECT_TRUE(found.report.converged()) << found.report;
      EXPECT_EQ(found.report.iterations, expected.report.iterations) << preconditioner;
      ASSERT_EQ(found.report.residuals.size(), expected.report.residuals.size());
      for (std::size_t i = 0; i < expected.report.residuals.size(); ++i)
        EXPECT_NEAR(found.report.residuals[i] / expected.report.residuals[i], 1, 1e-6) << i;
      for (std::size_t i = 0; i < expected.x.size(); ++i) EXPECT_NEAR(found.x[i], expected.x[i], 1e-6);
    });
  }
}

TEST(CgOnDevice, SeesWhyAMatrixOrAPreconditionerDoesNotDo) {
  on_devices([](Device device) {
    EXPECT_EQ(solve_on(device, diagonal<double>({1, 2, -3, 4}), {}).report.status, SolveStatus::indefinite);
    EXPECT_EQ(solve_on(device, diagonal<double>({-3, -3}), {}).report.status, SolveStatus::indefinite);
    const auto positive = diagonal<double>({1, 2, 3, 4});
    for (const bool as_diagonal : {false, true}) {
      SolveOptions<double> options;
      const auto negative = diagonal<double>({1, 1, -5, 1});
      if (as_diagonal)
        options.preconditioner = jacobi(diagonal<double>({1, 1, -0.2, 1}), device);
      else
        options.preconditioner = std::make_shared<Plan<double>>(plan(negative, {.device = device, .format = "csr"}));
      EXPECT_EQ(solve_on(device, positive, options).report.status, SolveStatus::indefinite) << as_diagonal;
      EXPECT_EQ(solve_on(device, positive, options, {1, 1, 0.1, 1}).report.status,
                solve_on(Device::cpu(), positive,
                         [&] {
                           SolveOptions<double> there;
                           there.preconditioner = std::make_shared<Plan<double>>(plan(negative));
                           return there;
                         }(),
                         {1, 1, 0.1, 1})
                    .report.status);
    }
    const Ended singular = solve_on(device, diagonal<double>({1, 2, 3, 0, 5, 6}), {.rtol = 1e-10});
    EXPECT_FALSE(singular.report.converged());
    EXPECT_GE(singular.report.residual, 1 - 1e-12);
  });
}

TEST(CgOnDevice, ASemidefiniteMatrixIsNotCalledIndefinite) {
  on_devices([](Device device) {
    std::vector<double> b(50);
    b[3] = 1;
    b[30] = -1;
    EXPECT_TRUE(solve_on(device, ring(50), {.rtol = 1e-10}, b).report.converged());
    b[30] = -0.9;
    EXPECT_NE(solve_on(device, ring(50), {.rtol = 1e-15}, b).report.status, SolveStatus::indefinite);
  });
}

TEST(CgOnDevice, NotANumberStopsAtOnce) {
  on_devices([](Device device) {
    std::vector<double> b(64, 1.0);
    b[5] = nan;
    const auto good = generate<double>("gen:poisson2d:8");
    EXPECT_EQ(solve_on(device, good, {}, b).report.status, SolveStatus::not_finite);
    auto bad = generate<double>("gen:poisson2d:8");
    bad.values[100] = nan;
    const Ended ended = solve_on(device, bad, {});
    EXPECT_EQ(ended.report.status, SolveStatus::not_finite);
    EXPECT_LE(ended.report.iterations, 1);
  });
}

TEST(CgOnDevice, EndsAfterSoManyIterationsAndNotOneLater) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  on_devices([&](Device device) {
    for (const int most : {1, 2, 7, 8, 9, 16, 17, 30}) {
      const SolveOptions<double> options{.rtol = 1e-14, .max_iterations = most};
      const Ended ended = solve_on(device, matrix, options), expected = solve_on(Device::cpu(), matrix, options);
      EXPECT_EQ(ended.report.status, SolveStatus::max_iterations);
      EXPECT_EQ(ended.report.iterations, most);
      EXPECT_NEAR(ended.report.residuals.back() / ended.report.residual, 1, 1e-8) << most;
      for (std::size_t i = 0; i < expected.x.size(); ++i) ASSERT_NEAR(ended.x[i], expected.x[i], 1e-9) << most;
    }
  });
}

TEST(CgOnDevice, TheCallbackMayCancelAndThrow) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  on_devices([&](Device device) {
    std::vector<double> seen;
    SolveOptions<double> options{.rtol = 1e-12};
    options.callback = [&](const SolveStep& step) {
      seen.push_back(step.residual);
      return seen.size() < 11;
    };
    const Ended ended = solve_on(device, matrix, options);
    EXPECT_EQ(ended.report.status, SolveStatus::cancelled);
    EXPECT_EQ(seen.size(), 11u);
    EXPECT_LT(ended.report.relative_residual, 1);
    options.callback = [&](const SolveStep&) -> bool { throw std::runtime_error("enough"); };
    EXPECT_THROW(solve_on(device, matrix, options), std::runtime_error);
  });
}

TEST(CgOnDevice, ThrowsWhatTheOperatorThrows) {
  class Failing : public LinearOperator<double> {
   public:
    explicit Failing(Device device) : device_(device) {}
    Index rows() const override { return 4; }
    Index cols() const override { return 4; }
    Device device() const override { return device_; }
    void apply(double, View, double, MutableView, Stream) const override {
      throw Error(ErrorCode::unsupported, "not today");
    }

   private:
    Device device_;
  };
  on_devices([](Device device) {
    const Vector<double> b(device, std::vector<double>(4, 1.0));
    Vector<double> x(device, 4);
    expect_error(ErrorCode::unsupported, {"not today"}, [&] { cg<double>(Failing(device), b, x); });
  });
}

TEST(CgOnDevice, HasTheSameBitsEveryTime) {
  const auto matrix = generate<double>("gen:poisson2d:40");
  on_devices([&](Device device) {
    const auto options = with({.rtol = 1e-8, .max_iterations = 40}, matrix, device, true, false);
    std::vector<std::vector<double>> results;
    for (int i = 0; i < 3; ++i) results.push_back(solve_on(device, matrix, options).x);
#ifdef WEFT_HAS_EMULATOR
    using simt::emulator::LaneOrder;
    for (const LaneOrder order : {LaneOrder{LaneOrder::Kind::reverse}, LaneOrder{LaneOrder::Kind::random}}) {
      const simt::emulator::LaneOrderScope scope(order);
      results.push_back(solve_on(device, matrix, options).x);
    }
#endif
    for (const auto& x : results) EXPECT_EQ(x, results[0]);
  });
}

}  // namespace
}  // namespace weft
