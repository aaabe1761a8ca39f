#include <gmock/gmock.h>

#include "solve/testing.hpp"

namespace weft {
namespace {

using namespace testing;

Csr<float> rounded(const Csr<double>& matrix) {
  std::vector<Entry<float>> entries;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      entries.push_back({row, matrix.columns[k], static_cast<float>(matrix.values[k])});
  return to_csr(coo_of<float>(matrix.rows, matrix.cols, entries));
}

struct Refined {
  SolveReport report;
  double error = 0;
};
Refined refine_for_known(const Csr<double>& matrix, RefineOptions options, Device device) {
  const std::vector<double> answer = random_vector<double>(static_cast<std::size_t>(matrix.cols), 7);
  std::vector<double> b(answer.size());
  reference_apply<double>(Op::none, 1.0, matrix, answer, 0.0, b);
  const Plan<double> A = plan(matrix, {.device = device, .format = "csr"});
  const Plan<float> low = plan(rounded(matrix), {.device = device, .format = "csr"});
  const Vector<double> right(device, b);
  Vector<double> x(device, b.size());
  fill<double>(x, std::numeric_limits<double>::quiet_NaN());
  Refined refined;
  refined.report = refine(A, low, right, x, options);
  refined.error = distance(answer, x.download());
  return refined;
}

TEST(Refine, ReachesWhatF32CannotWithEachMethod) {
  for (const Device device : available_devices()) {
    const Index n = device.is_cpu() ? 12 : 5;
    const auto symmetric = generate<double>("gen:poisson2d:" + std::to_string(n));
    const auto windy = with_wind<double>(n, 0.6);
    for (const auto& [name, method] : methods<float>())
      for (const auto* matrix : {&symmetric, &windy}) {
        if (matrix == &windy && !takes_unsymmetric(name)) continue;
        RefineOptions options{.rtol = 1e-12, .method = method};
        options.preconditioner = jacobi(rounded(*matrix), device);
        const Refined refined = refine_for_known(*matrix, options, device);
        EXPECT_TRUE(refined.report.converged()) << name << ' ' << refined.report;
        EXPECT_LE(refined.error, 1e-9) << name;
        EXPECT_EQ(refined.report.method, "refine");
        EXPECT_EQ(refined.report.residuals.size(), static_cast<std::size_t>(refined.report.iterations) + 1);
        EXPECT_GT(refined.report.products, refined.report.iterations) << "those with A count, too";
      }
  }
}

TEST(Refine, TakesResidualsFarFromOne) {
  auto matrix = generate<double>("gen:poisson2d:12");
  for (double& value : matrix.values) value *= 1e-30;
  const Refined refined = refine_for_known(matrix, {.rtol = 1e-12}, Device::cpu());
  EXPECT_TRUE(refined.report.converged()) << refined.report;
  EXPECT_LE(refined.error, 1e-9);
}

TEST(Refine, StallsWhereF32IsNoHelp) {
  // A condition number of 1e14, which f32 does not see.
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < 30; ++i)
    for (Index j = 0; j < 30; ++j) entries.push_back({i, j, 1.0 / (1 + i + j)});
  const Refined refined = refine_for_known(to_csr(coo_of<double>(30, 30, entries)),
                                           {.rtol = 1e-15, .method = &gmres<float>}, Device::cpu());
  EXPECT_FALSE(refined.report.converged());
  EXPECT_LE(refined.report.relative_residual, 1) << refined.report;
}

TEST(Refine, EndsAsTheMethodDoes) {
  const auto matrix = generate<double>("gen:poisson2d:30");
  Refined refined = refine_for_known(matrix, {.rtol = 1e-12, .max_iterations = 50}, Device::cpu());
  EXPECT_EQ(refined.report.status, SolveStatus::max_iterations);
  EXPECT_EQ(refined.report.iterations, 50);
  RefineOptions options{.rtol = 1e-12};
  options.callback = [](const SolveStep& step) { return step.iteration < 60; };
  refined = refine_for_known(matrix, options, Device::cpu());
  EXPECT_EQ(refined.report.status, SolveStatus::cancelled);
  EXPECT_EQ(refined.report.iterations, 60);
  EXPECT_EQ(refine_for_known(diagonal<double>({1, 2, -3, 4}), {}, Device::cpu()).report.status,
            SolveStatus::indefinite);
  auto infinite = generate<double>("gen:poisson2d:5");
  for (double& value : infinite.values) value *= 1e100;  // infinite in f32
  EXPECT_EQ(refine_for_known(infinite, {}, Device::cpu()).report.status, SolveStatus::not_finite);
}

TEST(Refine, RefusesWhatDoesNotFit) {
  const Plan<double> A = plan(generate<double>("gen:poisson2d:4"));
  const Plan<float> same = plan(generate<float>("gen:poisson2d:4")), other = plan(generate<float>("gen:poisson2d:3"));
  const std::vector<double> b(16, 1.0);
  std::vector<double> x(16);
  const auto refuses = [&](const LinearOperator<float>& low, const RefineOptions& options,
                           const std::string& sentence) {
    expect_error(ErrorCode::invalid_argument, {sentence},
                 [&] { refine(A, low, std::span<const double>(b), std::span<double>(x), options); });
  };
  refuses(other, {}, "another size");
  refuses(same, {.method = nullptr}, "no method");
  refuses(same, {.correction_rtol = 0}, "correction_rtol");
  refuses(same, {.correction_rtol = 1}, "correction_rtol");
  refuses(same, {.rtol = -1}, "tolerances");
}

}  // namespace
}  // namespace weft
