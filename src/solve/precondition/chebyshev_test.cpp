#include "solve/precondition/eigenvalue_bound.hpp"
#include "solve/precondition/testing.hpp"

namespace weft {
namespace {

using namespace weft::testing;

TEST(Chebyshev, IsSymmetricAndPositiveDefinite) {
  for (const char* const source : {"gen:poisson2d:8", "gen:elasticity3d:3"}) {
    const auto matrix = scaled(generate<double>(source));
    const Plan<double> P = plan(matrix, {.format = "csr"});
    for (const int degree : {1, 2, 3, 7}) {
      const DenseRows M = dense_of<double>(*chebyshev(P, matrix, {.degree = degree}));
      EXPECT_LE(asymmetry(M), 1e-12) << source << ' ' << degree;
      EXPECT_TRUE(is_positive_definite(M)) << source << ' ' << degree;
    }
  }
}

TEST(Chebyshev, ComesCloserToTheInverseWithTheDegree) {
  const auto matrix = generate<double>("gen:poisson2d:8");
  const Plan<double> P = plan(matrix, {.format = "csr"});
  double before = 1e300;
  for (const int degree : {2, 4, 8, 16, 32, 64}) {
    const DenseRows M = dense_of<double>(*chebyshev(P, matrix, {.degree = degree, .ratio = 200}));
    const double error = distance_from_identity(times(M, dense_of(matrix)));
    EXPECT_LT(error, before) << degree;
    before = error;
  }
  EXPECT_LT(before, 0.01);
}

TEST(Chebyshev, IsThePolynomialThatItShouldBe) {
  // For a diagonal matrix D^-1 A is 1: there 1 - z A is T_k(t) / T_k(s), with t = (middle - 1) / half and s = middle /
  // half.
  const auto matrix = diagonal_matrix<double>({2, 4, 8});
  const Plan<double> P = plan(matrix);
  const double largest = 3, ratio = 4, middle = (largest + largest / ratio) / 2, half = (largest - largest / ratio) / 2;
  for (const int degree : {1, 2, 3, 8}) {
    const auto M = chebyshev(P, matrix, {.degree = degree, .ratio = ratio, .largest = largest});
    const double rest =
        std::cos(degree * std::acos((middle - 1) / half)) / std::cosh(degree * std::acosh(middle / half));
    const DenseRows dense = dense_of<double>(*M);
    EXPECT_NEAR(dense[0][0], (1 - rest) / 2, 1e-14) << degree;
    EXPECT_NEAR(dense[2][2], (1 - rest) / 8, 1e-14) << degree;
  }
}

TEST(Chebyshev, SavesIterationsOverJacobi) {
  const auto matrix = generate<double>("gen:poisson2d:40");
  const Plan<double> P = plan(matrix, {.format = "csr"});
  const auto with_jacobi = solve_with<double>(&cg<double>, matrix, jacobi(matrix));
  const auto with_polynomial = solve_with<double>(&cg<double>, matrix, chebyshev(P, matrix, {.degree = 6}));
  EXPECT_TRUE(with_polynomial.converged());
  EXPECT_LT(3 * with_polynomial.iterations, with_jacobi.iterations);
}

TEST(Chebyshev, RefusesWhatIsNotPositive) {
  const auto refused = [](const Csr<double>& matrix, const std::vector<std::string>& words) {
    const Plan<double> P = plan(matrix);
    expect_error(ErrorCode::invalid_argument, words, [&] { chebyshev(P, matrix); });
  };
  refused(matrix_of<double>(2, {{0, 0, 1.0}, {0, 1, 5.0}, {1, 0, 5.0}, {1, 1, 1.0}}), {"not positive definite"});
  refused(diagonal_matrix<double>({1, 0, 1}), {"row 1"});
  const auto matrix = generate<double>("gen:poisson2d:4");
  const Plan<double> P = plan(matrix), other = plan(generate<double>("gen:poisson2d:5"));
  expect_error(ErrorCode::invalid_argument, {"another size"}, [&] { chebyshev(other, matrix); });
  expect_error(ErrorCode::invalid_argument, {"degree is 0"}, [&] { chebyshev(P, matrix, {.degree = 0}); });
  expect_error(ErrorCode::invalid_argument, {"ratio is 1"}, [&] { chebyshev(P, matrix, {.ratio = 1}); });
}

TEST(EigenvalueBound, OfATridiagonalMatrixIsExact) {
  // 2 on the diagonal, 1 beside it: 2 + 2 cos(pi / (n + 1)), the eigenvector sines.
  const double pi = std::acos(-1.0);
  for (const std::size_t n : {1u, 2u, 5u, 30u}) {
    const auto found =
        precondition::largest_of_tridiagonal(std::vector<double>(n, 2.0), std::vector<double>(n - 1, 1.0));
    const double angle = pi / static_cast<double>(n + 1);
    EXPECT_NEAR(found.value, 2 + 2 * std::cos(angle), 1e-12) << n;
    EXPECT_NEAR(found.last_element, std::sqrt(2.0 / static_cast<double>(n + 1)) * std::sin(angle), 1e-6) << n;
  }
}

TEST(EigenvalueBound, IsAboveTheLargestEigenvalueAndCloseToIt) {
  for (const char* const source : {"gen:poisson2d:30", "gen:elasticity3d:5"}) {
    const auto matrix = generate<double>(source);
    const Plan<double> P = plan(matrix, {.format = "csr"});
    const auto D = jacobi(matrix);
    const auto rough = precondition::estimate_largest<double>(P, *D, 10);
    const auto exact = precondition::estimate_largest<double>(P, *D, 120);
    ASSERT_TRUE(rough.positive && exact.positive);
    EXPECT_LE(rough.value, exact.value * (1 + 1e-10)) << source;
    EXPECT_GE(rough.value + rough.residual, exact.value) << source;
    EXPECT_LE(rough.value + rough.residual, 1.3 * exact.value) << source;
  }
}

}  // namespace
}  // namespace weft
