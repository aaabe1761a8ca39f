#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <array>
#include <set>

#include "generate/testing.hpp"

namespace weft {
namespace {

using Dense = std::vector<std::vector<double>>;

/// The textbook way, independent of the generator's: strain matrices at 2x2x2 Gauss points and the 6x6 material matrix.
Dense brick_by_gauss_points() {
  const auto material = testing::material_matrix();
  Dense result(24, std::vector<double>(24, 0.0));
  for (int point = 0; point < 8; ++point) {
    std::array<double, 3> at;
    for (int axis = 0; axis < 3; ++axis) at[axis] = 0.5 + ((point >> axis & 1) ? 0.5 : -0.5) / std::sqrt(3.0);
    double strain[6][24] = {};
    for (int corner = 0; corner < 8; ++corner) {
      std::array<double, 3> gradient;
      for (int axis = 0; axis < 3; ++axis) {
        gradient[axis] = 1;
        for (int other = 0; other < 3; ++other) {
          const bool high = corner >> other & 1;
          gradient[axis] *= other == axis ? (high ? 1 : -1) : (high ? at[other] : 1 - at[other]);
        }
      }
      for (int axis = 0; axis < 3; ++axis) strain[axis][3 * corner + axis] = gradient[axis];
      const int shear[3][2] = {{1, 2}, {0, 2}, {0, 1}};
      for (int k = 0; k < 3; ++k) {
        strain[3 + k][3 * corner + shear[k][0]] = gradient[shear[k][1]];
        strain[3 + k][3 * corner + shear[k][1]] = gradient[shear[k][0]];
      }
    }
    for (int p = 0; p < 24; ++p)
      for (int q = 0; q < 24; ++q)
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < 6; ++j) result[p][q] += strain[i][p] * material[i][j] * strain[j][q] / 8;
  }
  return result;
}

TEST(Elasticity3d, OneBrickIsTheTextbookElementOnSprings) {
  Dense expected = brick_by_gauss_points();
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b)
      for (int axis = 0; axis < 3; ++axis) {
        const int differences = ((a ^ b) & 1) + ((a ^ b) >> 1);
        expected[3 * a + axis][3 * b + axis] += differences == 0 ? 1.0 / 9 : differences == 1 ? 1.0 / 18 : 1.0 / 36;
      }
  const Csr<double> matrix = generate<double>("gen:elasticity3d:2:variation=0");
  EXPECT_EQ(matrix.nonzeros(), 24 * 24) << "zeros of the element are stored";
  const Dense actual = testing::dense_of(matrix);
  for (int p = 0; p < 24; ++p)
    for (int q = 0; q < 24; ++q) EXPECT_NEAR(actual[p][q], expected[p][q], 1e-14) << p << ", " << q;
}

TEST(Elasticity3d, IsSymmetricAndPositiveDefinite) {
  for (const char* source : {"gen:elasticity3d:2", "gen:elasticity3d:4:3:5", "gen:elasticity3d:3:variation=99"}) {
    const Csr<double> matrix = generate<double>(source);
    EXPECT_TRUE(testing::is_symmetric(matrix)) << source;
    EXPECT_TRUE(testing::is_positive_definite(matrix)) << source;
    EXPECT_TRUE(testing::is_symmetric(generate<float>(source))) << source;
  }
}

TEST(Elasticity3d, RigidMotionsCostNothingAboveTheSprings) {
  const int nx = 4, ny = 5, nz = 6;
  const Csr<double> matrix = generate<double>("gen:elasticity3d:4:5:6");
  for (int motion = 0; motion < 6; ++motion) {
    std::vector<double> x(matrix.rows, 0.0);
    for (int node = 0; node < nx * ny * nz; ++node) {
      const double place[3] = {double(node % nx), double(node / nx % ny), double(node / (nx * ny))};
      const int axis = motion % 3;
      if (motion < 3) {
        x[3 * node + axis] = 1;
      } else {
        x[3 * node + (axis + 1) % 3] = -place[(axis + 2) % 3];
        x[3 * node + (axis + 2) % 3] = place[(axis + 1) % 3];
      }
    }
    const std::vector<double> force = testing::product(matrix, x);
    double on_springs = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
      if (row < 3 * nx * ny)
        on_springs = std::max(on_springs, std::abs(force[row]));
      else
        EXPECT_NEAR(force[row], 0, 1e-13) << "motion " << motion << " row " << row;
    }
    EXPECT_GT(on_springs, 0.1);
  }
}

TEST(Elasticity3d, HasTheFullPatternAndManyDistinctValues) {
  const Csr<double> matrix = generate<double>("gen:elasticity3d:7:6:5");
  EXPECT_EQ(matrix.rows, 3 * 7 * 6 * 5);
  EXPECT_EQ(matrix.nonzeros(), Offset{9} * (3 * 7 - 2) * (3 * 6 - 2) * (3 * 5 - 2));
  const std::set<double> distinct(matrix.values.begin(), matrix.values.end());
  EXPECT_GT(distinct.size(), static_cast<std::size_t>(matrix.nonzeros() / 8));
}

}  // namespace
}  // namespace weft
