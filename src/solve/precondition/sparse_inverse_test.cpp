#include <limits>

#include "solve/precondition/testing.hpp"

namespace weft {
namespace {

using namespace weft::testing;

using Factory = MadePreconditioner<double> (*)(const MatrixSource<double>&, const SparseInverseOptions&);
const std::vector<std::pair<std::string, Factory>> both{{"isai", &isai<double>}, {"spai", &spai<double>}};

double error_of(const LinearOperator<double>& M, const Csr<double>& matrix) {
  return distance_from_identity(times(dense_of<double>(M), dense_of(matrix)));
}

TEST(SparseInverse, ComesCloserWithThePowerOfThePattern) {
  const auto matrix = with_wind<double>(8, 0.6);
  for (const auto& [name, make] : both) {
    std::vector<double> errors;
    for (const int power : {1, 2, 4}) errors.push_back(error_of(*make(matrix, {.power = power, .drop = 0}), matrix));
    EXPECT_LT(errors[1], 0.95 * errors[0]) << name;
    EXPECT_LT(errors[2], 0.95 * errors[1]) << name;
  }
}

TEST(SparseInverse, IsTheInverseWhereThePatternIsFull) {
  const auto entries = random_entries<double>(30, 30, 500, 5);
  const auto random = matrix_of<double>(30, entries);
  for (const auto& [name, make] : both) {
    EXPECT_LE(error_of(*make(random, {.power = 8, .drop = 0}), random), 1e-8) << name;
    const auto full = full_matrix<double>(24);
    for (const int block : {1, 4, 24})
      EXPECT_LE(error_of(*make(full, {.drop = 0, .block = block}), full), 1e-10) << name;
  }
}

TEST(SparseInverse, IsaiIsExactAtThePlacesOfItsPattern) {
  const auto matrix = with_wind<double>(7, 0.4);
  const DenseRows product = times(dense_of<double>(*isai(matrix, {.power = 1})), dense_of(matrix));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      EXPECT_NEAR(product[row][matrix.columns[i]], row == matrix.columns[i] ? 1 : 0, 1e-12);
}

TEST(SparseInverse, SpaiIsTheBestOfItsPattern) {
  // At the minimum of |e_i - m A| the rest is orthogonal to the rows of A that the pattern takes.
  const auto matrix = with_wind<double>(7, 0.4);
  const DenseRows A = dense_of(matrix);
  DenseRows rest = times(dense_of<double>(*spai(matrix, {.power = 1})), A);
  EXPECT_LT(distance_from_identity(rest), error_of(*isai(matrix, {.power = 1}), matrix));
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i][i] -= 1;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      double product = 0;
      for (std::size_t j = 0; j < A.size(); ++j) product += rest[row][j] * A[matrix.columns[k]][j];
      EXPECT_NEAR(product, 0, 1e-12);
    }
}

TEST(SparseInverse, SavesIterationsOfGmresAndBicgstab) {
  const auto matrix = with_wind<double>(40, 0.7);
  for (const Method<double> method : {Method<double>(&gmres<double>), Method<double>(&bicgstab<double>)}) {
    const auto with_jacobi = solve_with<double>(method, matrix, jacobi(matrix));
    for (const auto& [name, make] : both) {
      const auto report = solve_with<double>(method, matrix, make(matrix, {}));
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LT(report.iterations, 0.75 * static_cast<double>(with_jacobi.iterations)) << name << ": " << report;
    }
  }
}

TEST(SparseInverse, BlocksOfANodeAreOneSystem) {
  const auto matrix = generate<double>("gen:elasticity3d:3");
  for (const auto& [name, make] : both) {
    const auto in_blocks = make(matrix, {.drop = 0}), single = make(matrix, {.drop = 0, .block = 1});
    EXPECT_NE(in_blocks->info().details.find("3 x 3 blocks"), std::string::npos) << in_blocks->info().details;
    EXPECT_LE(largest_difference(dense_of<double>(*in_blocks), dense_of<double>(*single)), 1e-10) << name;
  }
}

TEST(SparseInverse, IsaiTakesLeastSquaresWhereASystemIsSingular) {
  // No diagonal: the systems of rows 0 and 1 are singular, the matrix is not.
  const auto matrix = matrix_of<double>(3, {{0, 1, 2.0}, {1, 2, 3.0}, {2, 0, 4.0}});
  const auto M = isai(matrix, {.power = 2, .drop = 0});
  EXPECT_LE(error_of(*M, matrix), 1e-14);
  EXPECT_LE(error_of(*spai(matrix, {.power = 2, .drop = 0}), matrix), 1e-14);
  const auto arrow =
      matrix_of<double>(3, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 1.0}, {0, 2, 1.0}, {2, 2, 1.0}, {2, 0, 2.0}});
  EXPECT_NE(isai(arrow, {.power = 1})->info().details.find("by least squares"), std::string::npos)
      << isai(arrow, {.power = 1})->info().details;
}

TEST(SparseInverse, RowsThatDependOnOthersDoNoHarm) {
  // Then M A is the projection on what the rows reach.
  const auto matrix = matrix_of(DenseRows{{2, 0, 0}, {2, 0, 0}, {2, 1, 2}});
  for (const auto& [name, make] : both) {
    const DenseRows projection = times(dense_of<double>(*make(matrix, {.block = 3})), dense_of(matrix));
    EXPECT_LE(asymmetry(projection), 1e-14) << name;
    EXPECT_LE(largest_difference(times(projection, projection), projection), 1e-14) << name;
    EXPECT_NEAR(projection[0][0] + projection[1][1] + projection[2][2], 2, 1e-14) << name;
  }
}

TEST(SparseInverse, NamesTheRowThatCannotBeFound) {
  for (const auto& [name, make] : both) {
    expect_error(ErrorCode::invalid_argument, {name, "row 1"},
                 [&, factory = make] { factory(matrix_of<double>(3, {{0, 0, 1.0}, {2, 2, 1.0}}), {}); });
    auto bad = with_wind<double>(20, 0.5);
    bad.values[bad.offsets[300]] = std::numeric_limits<double>::quiet_NaN();
    expect_error(ErrorCode::invalid_argument, {name, "row 300", "nan"}, [&, factory = make] { factory(bad, {}); });
    bad.values[bad.offsets[77]] = std::numeric_limits<double>::infinity();
    expect_error(ErrorCode::invalid_argument, {name, "row 77", "inf"}, [&, factory = make] { factory(bad, {}); });
  }
}

TEST(SparseInverse, ARowWithManyEntriesDoesNotReachIntoOthers) {
  const Index size = 20000;
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < size; ++i) {
    entries.push_back({i, i, i + 1 < size ? 2.0 : 2.0 * size});
    if (i + 1 == size) continue;
    entries.push_back({i, size - 1, 0.5});
    entries.push_back({size - 1, i, 0.1});
  }
  const auto matrix = matrix_of<double>(size, entries);
  for (const auto& [name, make] : both) {
    const auto M = make(matrix, {.power = 2, .drop = 0, .max_unknowns = 32});
    // spai needs all of the row that an unknown stands for, isai a few entries.
    EXPECT_LE(M->info().nonzeros, (name == "spai" ? 1 : 2) * size + 64) << name;
    EXPECT_TRUE(solve_with<double>(&bicgstab<double>, matrix, M).converged()) << name;
  }
}

}  // namespace
}  // namespace weft
