#include <limits>

#include "solve/precondition/testing.hpp"

namespace weft {
namespace {

using namespace weft::testing;

/// A without what is outside of these blocks on the diagonal.
DenseRows diagonal_part(const DenseRows& a, const std::vector<Index>& sizes) {
  DenseRows part = zeros(a.size());
  std::size_t first = 0;
  for (const Index size : sizes) {
    const std::size_t end = first + static_cast<std::size_t>(size);
    for (std::size_t i = first; i < end; ++i)
      for (std::size_t j = first; j < end; ++j) part[i][j] = a[i][j];
    first = end;
  }
  return part;
}

TEST(BlockJacobi, InvertsTheBlocksOnTheDiagonal) {
  const auto matrix = with_wind<double>(6, 0.4);
  const DenseRows A = dense_of(matrix);
  for (const auto& [options, sizes] :
       std::vector<std::pair<BlockJacobiOptions, std::vector<Index>>>{{{.block = 6}, std::vector<Index>(6, 6)},
                                                                      {{.block = 7}, {7, 7, 7, 7, 7, 1}},
                                                                      {{.sizes = {1, 20, 5, 10}}, {1, 20, 5, 10}}})
    EXPECT_LE(largest_difference(dense_of<double>(*block_jacobi(matrix, options)), inverse_of(diagonal_part(A, sizes))),
              1e-13);
}

TEST(BlockJacobi, FindsTheBlocksOfTheMatrix) {
  const auto matrix = generate<double>("gen:elasticity3d:3");
  const auto M = block_jacobi(matrix);
  EXPECT_EQ(M->info().details, std::to_string(matrix.rows / 3) + " blocks of 3 rows");
  EXPECT_EQ(asymmetry(dense_of<double>(*M)), 0);
  EXPECT_TRUE(is_positive_definite(dense_of<double>(*M)));
}

TEST(BlockJacobi, TakesBlocksThatNeedPivoting) {
  const auto matrix = matrix_of<double>(4, {{0, 1, 2.0}, {1, 0, 4.0}, {2, 2, 1.0}, {2, 3, 1.0}, {3, 2, 1.0}});
  const DenseRows M = dense_of<double>(*block_jacobi(matrix, {.block = 2}));
  EXPECT_LE(distance_from_identity(times(M, dense_of(matrix))), 1e-15);
}

TEST(BlockJacobi, NamesTheFirstRowOfASingularBlock) {
  const auto matrix =
      matrix_of<double>(6, {{0, 0, 1.0}, {1, 1, 1.0}, {2, 2, 1.0}, {2, 3, 2.0}, {3, 2, 2.0}, {3, 3, 4.0}, {4, 4, 1.0}});
  expect_error(ErrorCode::invalid_argument, {"block-jacobi", "begins with row 2", "singular"},
               [&] { block_jacobi(matrix, {.block = 2}); });
  expect_error(ErrorCode::invalid_argument, {"begins with row 5", "singular"},
               [&] { block_jacobi(matrix, {.sizes = {2, 1, 2, 1}}); });
  auto bad = full_matrix<double>(6);
  bad.values[7] = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorCode::invalid_argument, {"row 1", "column 1", "nan"}, [&] { block_jacobi(bad, {.block = 3}); });
}

TEST(BlockJacobi, RefusesSizesThatDoNotFit) {
  const auto matrix = full_matrix<double>(6);
  expect_error(ErrorCode::invalid_argument, {"add up to 5"}, [&] { block_jacobi(matrix, {.sizes = {2, 3}}); });
  expect_error(ErrorCode::invalid_argument, {"block size is 0"}, [&] { block_jacobi(matrix, {.sizes = {6, 0}}); });
  expect_error(ErrorCode::invalid_argument, {"block is -1"}, [&] { block_jacobi(matrix, {.block = -1}); });
}

TEST(BlockJacobi, SavesIterationsWhereNodesAreCoupledInside) {
  // S A S' with blocks S that mix the unknowns of a node, each in its own way: nothing to a block, much to a diagonal.
  DenseRows A = dense_of(generate<double>("gen:elasticity3d:4"));
  for (int side = 0; side < 2; ++side) {
    for (std::size_t row = 0; row < A.size(); row += 3)
      for (std::size_t column = 0; column < A.size(); ++column) {
        A[row + 1][column] += static_cast<double>(row % 4) * A[row][column];
        A[row + 2][column] -= static_cast<double>(row % 5) * A[row + 1][column];
      }
    A = transposed(A);
  }
  const auto matrix = matrix_of(A);
  const auto single = solve_with<double>(&cg<double>, matrix, jacobi(matrix));
  const auto blocks = solve_with<double>(&cg<double>, matrix, block_jacobi(matrix));
  EXPECT_TRUE(blocks.converged());
  EXPECT_LT(1.5 * static_cast<double>(blocks.iterations), static_cast<double>(single.iterations));
}

}  // namespace
}  // namespace weft
