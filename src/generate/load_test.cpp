#include "generate/load.hpp"

#include <gtest/gtest.h>
#include <weft/plan.hpp>
#include <weft/solve.hpp>

#include <cmath>

#include "generate/testing.hpp"

namespace weft::generation {
namespace {

struct Kind {
  Equation equation;
  Order order;
};

class Loads : public ::testing::TestWithParam<Kind> {
 protected:
  Csr<double> matrix(const Mesh& mesh) const { return assemble<double>(mesh, GetParam().equation, GetParam().order); }
  std::vector<double> load(const Mesh& mesh, const Field& field) const {
    const Array<double> load = load_of(mesh, GetParam().equation, GetParam().order, field);
    return {load.begin(), load.end()};
  }
  std::vector<double> values(const Mesh& mesh, const Field& field) const {
    const Array<double> values = values_at_nodes(mesh, GetParam().equation, GetParam().order, field);
    return {values.begin(), values.end()};
  }
  bool quadratic() const { return GetParam().order == Order::p2; }
};

INSTANTIATE_TEST_SUITE_P(Fem, Loads,
                         ::testing::Values(Kind{Equation::poisson, Order::p1}, Kind{Equation::poisson, Order::p2},
                                           Kind{Equation::elasticity, Order::p1},
                                           Kind{Equation::elasticity, Order::p2}),
                         [](const auto& param) {
                           return std::string(param.param.equation == Equation::poisson ? "poisson" : "elasticity") +
                                  (param.param.order == Order::p1 ? "_p1" : "_p2");
                         });

/// Different in each direction and for each unknown.
Field linear_field() {
  return {[](const Point& p, int unknown) { return 1 + unknown + 2 * p[0] - (3 + unknown) * p[1] + 0.5 * p[2]; },
          [](const Point&, int unknown) { return Point{2, -(3.0 + unknown), 0.5}; }};
}
Field quadratic_field() {
  return {[](const Point& p, int unknown) { return p[0] * p[0] - (1 + unknown) * p[1] * p[2] + p[2] * p[2]; },
          [](const Point& p, int unknown) {
            return Point{2 * p[0], -(1.0 + unknown) * p[2], -(1.0 + unknown) * p[1] + 2 * p[2]};
          }};
}

TEST_P(Loads, OfAFieldThatTheElementsHoldIsTheMatrixTimesIt) {
  const Mesh mesh = testing::box_mesh(3);
  const Field field = quadratic() ? quadratic_field() : linear_field();
  const std::vector<double> expected = testing::product(matrix(mesh), values(mesh, field)), found = load(mesh, field);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13) << i;
}

TEST_P(Loads, TheAnswerComesToTheFieldAsFastAsTheElementsPromise) {
  double errors[2];
  for (int refinement = 0; refinement < 2; ++refinement) {
    const Mesh mesh = testing::box_mesh(4 << refinement);
    const Field field = smooth_field(mesh);
    const Csr<double> A = matrix(mesh);
    const std::vector<double> b = load(mesh, field), expected = values(mesh, field);
    std::vector<double> x(b.size());
    const SolveReport report = cg(plan(A, {.format = "csr"}), b, x, {.rtol = 1e-11, .preconditioner = jacobi(A)});
    ASSERT_TRUE(report.converged()) << report.iterations;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      difference += (x[i] - expected[i]) * (x[i] - expected[i]);
      size += expected[i] * expected[i];
    }
    errors[refinement] = std::sqrt(difference / size);
  }
  const double order = std::log2(errors[0] / errors[1]);
  EXPECT_GT(order, quadratic() ? 2.7 : 1.7) << errors[0] << " " << errors[1];
  EXPECT_LT(errors[1], quadratic() ? 1e-3 : 5e-2);
}

TEST_P(Loads, AreTheSameForAnyNumberOfThreads) {
  const Mesh mesh = testing::box_mesh(4);
  const Field field = smooth_field(mesh);
  const testing::Threads one(1);
  const std::vector<double> alone = load(mesh, field);
  const testing::Threads four(4);
  EXPECT_EQ(alone, load(mesh, field));
}

TEST(ManufacturedProblem, IsMadeOfWhatTheSourceNames) {
  const std::string text = testing::mesh_file("cube-2.2.msh") + ":elasticity:p2";
  const ManufacturedProblem problem = manufacture(text);
  const Csr<double> matrix = fem<double>(text, {});
  EXPECT_EQ(problem.load.size(), static_cast<std::size_t>(matrix.rows));
  EXPECT_EQ(problem.answer.size(), problem.load.size());
  EXPECT_THROW(manufacture("nothing"), Error);
}

}  // namespace
}  // namespace weft::generation
