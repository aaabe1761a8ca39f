#include <limits>

#include "solve/precondition/device_systems.hpp"
#include "solve/precondition/solve_systems.hpp"
#include "solve/precondition/testing.hpp"

#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

namespace weft {
namespace {

using namespace weft::testing;

/// |I - G A G'| in the Frobenius norm: its square is n - 2 tr(M A) + tr(M A M A).
double factor_error(const Csr<double>& matrix, const SparseInverseOptions& options) {
  const DenseRows product = times(dense_of<double>(*fsai(matrix, options)), dense_of(matrix));
  const DenseRows square = times(product, product);
  double sum = static_cast<double>(matrix.rows);
  for (std::size_t i = 0; i < product.size(); ++i) sum += square[i][i] - 2 * product[i][i];
  return std::sqrt(std::max(0.0, sum));
}

TEST(Fsai, ComesCloserToTheFactorWithThePowerOfThePattern) {
  for (const char* const source : {"gen:poisson2d:9", "gen:elasticity3d:5"}) {
    const auto matrix = generate<double>(source);
    std::vector<double> errors;
    for (const int power : {1, 2, 3}) errors.push_back(factor_error(matrix, {.power = power, .drop = 0}));
    EXPECT_LT(errors[1], 0.9 * errors[0]) << source;
    EXPECT_LT(errors[2], 0.9 * errors[1]) << source;
  }
}

TEST(Fsai, MakesTheDiagonalOne) {
  // tr(G A G') = tr(M A).
  for (const char* const source : {"gen:poisson2d:9", "gen:elasticity3d:3"}) {
    const auto matrix = generate<double>(source);
    const DenseRows product = times(dense_of<double>(*fsai(matrix, {.power = 2, .drop = 0.1})), dense_of(matrix));
    double trace = 0;
    for (std::size_t i = 0; i < product.size(); ++i) trace += product[i][i];
    EXPECT_NEAR(trace, matrix.rows, 1e-9 * matrix.rows) << source;
  }
}

TEST(Fsai, IsSymmetricAndPositiveDefinite) {
  for (const SparseInverseOptions& options :
       {SparseInverseOptions{}, {.power = 2, .drop = 0}, {.power = 2, .drop = 0.3}, {.power = 3, .max_unknowns = 9}}) {
    const DenseRows M = dense_of<double>(*fsai(generate<double>("gen:elasticity3d:3"), options));
    EXPECT_LE(asymmetry(M), 1e-14);
    EXPECT_TRUE(is_positive_definite(M));
  }
}

TEST(Fsai, IsTheInverseWhereThePatternIsFull) {
  const auto matrix = full_matrix<double>(37);
  for (const int block : {1, 37}) {
    const DenseRows product = times(dense_of<double>(*fsai(matrix, {.drop = 0, .block = block})), dense_of(matrix));
    EXPECT_LE(distance_from_identity(product), 1e-10) << block;
  }
  const auto rounded = full_matrix<float>(37);
  EXPECT_LE(distance_from_identity(times(dense_of<float>(*fsai(rounded, {.drop = 0})), dense_of(rounded))), 1e-3);
}

TEST(Fsai, IsTheInverseOfADiagonal) {
  const auto M = fsai(diagonal_matrix<double>({4, 0.25, 1, 100}));
  const DenseRows dense = dense_of<double>(*M);
  EXPECT_LE(largest_difference(dense, {{0.25, 0, 0, 0}, {0, 4, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0.01}}), 1e-15);
}

TEST(Fsai, BlocksThatAreFullChangeNothing) {
  // The rows of a node take the leading parts of its system, by the same operations.
  const auto matrix = generate<double>("gen:elasticity3d:3");
  ASSERT_NE(fsai(matrix)->info().details.find("3 x 3 blocks"), std::string::npos) << fsai(matrix)->info().details;
  const auto values = [&](int block) {
    precondition::PatternRules rules;
    rules.block = block;
    rules.lower = true;
    const precondition::Pattern pattern = precondition::find_pattern(matrix, rules, {});
    Array<double> found(static_cast<std::size_t>(pattern.nonzeros()));
    precondition::solve_factor_inverse(matrix, pattern, found.data(), {});
    std::map<std::pair<Index, Index>, double> dictionary;
    for (Index row = 0; row < pattern.rows(); ++row)
      for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i)
        if (found[i] != 0) dictionary[{row, pattern.columns[i]}] = found[i];
    return dictionary;
  };
  EXPECT_EQ(values(3), values(1));
}

TEST(Fsai, SavesIterationsOverJacobi) {
  for (const char* const source : {"gen:poisson2d:40", "gen:elasticity3d:6"}) {
    const auto matrix = generate<double>(source);
    const auto with_jacobi = solve_with<double>(&cg<double>, matrix, jacobi(matrix));
    const auto once = solve_with<double>(&cg<double>, matrix, fsai(matrix, {.power = 1}));
    const auto twice = solve_with<double>(&cg<double>, matrix, fsai(matrix, {.power = 2, .drop = 0}));
    EXPECT_TRUE(once.converged() && twice.converged()) << source;
    EXPECT_LT(once.iterations, 0.75 * static_cast<double>(with_jacobi.iterations)) << source;
    EXPECT_LT(twice.iterations, once.iterations) << source;
  }
}

TEST(Fsai, InSingleTakesHalfTheBytesAndNoMoreIterations) {
  const auto matrix = generate<double>("gen:elasticity3d:9");
  const auto whole = fsai(matrix), half = fsai(matrix, {.single = true});
  EXPECT_EQ(half->info().nonzeros, whole->info().nonzeros);
  EXPECT_LT(half->info().bytes, 0.6 * static_cast<double>(whole->info().bytes));
  EXPECT_NE(half->info().details.find("f32"), std::string::npos);
  const auto expected = solve_with<double>(&cg<double>, matrix, whole);
  const auto found = solve_with<double>(&cg<double>, matrix, half);
  EXPECT_TRUE(found.converged());
  EXPECT_LE(found.iterations, expected.iterations + 2);
}

TEST(Fsai, ThinningLeavesOutTheWeakest) {
  const auto matrix = generate<double>("gen:elasticity3d:4");
  const auto whole = fsai(matrix, {.power = 2, .drop = 0}), thin = fsai(matrix, {.power = 2, .drop = 0.1});
  EXPECT_LT(2 * thin->info().nonzeros, whole->info().nonzeros);
  EXPECT_GT(thin->info().nonzeros, 6 * Offset(matrix.rows));
  const auto few = fsai(matrix, {.power = 2, .drop = 0, .max_unknowns = 12});
  EXPECT_LE(few->info().nonzeros, 2 * 12 * Offset(matrix.rows));
  EXPECT_LT(solve_with<double>(&cg<double>, matrix, few).iterations,
            solve_with<double>(&cg<double>, matrix, jacobi(matrix)).iterations);
}

TEST(Fsai, NamesTheRowThatIsNotPositiveDefinite) {
  const auto refused = [](const Csr<double>& matrix, const std::vector<std::string>& words) {
    for (const Device device : available_devices())
      expect_error(ErrorCode::invalid_argument, words, [&] { fsai(matrix, {.device = device}); });
  };
  refused(diagonal_matrix<double>({1, 2, -3, 4, -5}), {"row 2", "-3"});
  refused(diagonal_matrix<double>({1, 0, 3}), {"row 1"});
  refused(matrix_of<double>(3, {{0, 0, 1.0}, {1, 0, 0.5}, {2, 2, 1.0}}), {"diagonal entry of row 1 is missing"});
  refused(matrix_of<double>(2, {{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 1.0}}), {"row 1", "positive definite"});
  // A row without entries.
  refused(matrix_of<double>(3, {{0, 0, 1.0}, {2, 2, 1.0}}), {"row 1"});
  auto bad = generate<double>("gen:poisson2d:30");
  for (const Index row : {404, 700}) bad.values[bad.offsets[row]] = std::numeric_limits<double>::quiet_NaN();
  refused(bad, {"fsai", "row 404", "nan"});
}

TEST(Fsai, ReadsTheLowerTriangleOnly) {
  auto matrix = generate<double>("gen:poisson2d:12");
  const SparseInverseOptions options{.power = 1, .drop = 0};
  const std::vector<double> before = product_of<double>(*fsai(matrix, options));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      if (matrix.columns[i] > row) matrix.values[i] = 1e6;
  EXPECT_EQ(product_of<double>(*fsai(matrix, options)), before);
}

TEST(Fsai, ARowWithManyEntriesIsThinned) {
  // An arrow: all are joined to the last, which is joined to all.
  const Index size = 5000;
  std::vector<Entry<double>> entries;
  for (Index i = 0; i < size; ++i) {
    entries.push_back({i, i, i + 1 < size ? 2.0 : 2.0 * size});
    if (i + 1 == size) continue;
    entries.push_back({i, size - 1, 0.5 + 1.0 / (1 + i)});
    entries.push_back({size - 1, i, 0.5 + 1.0 / (1 + i)});
  }
  const auto matrix = matrix_of<double>(size, entries);
  const auto M = fsai(matrix, {.power = 2, .drop = 0, .max_unknowns = 50});
  EXPECT_LE(M->info().nonzeros, 2 * (size + 50));
  EXPECT_TRUE(solve_with<double>(&cg<double>, matrix, M).converged());
}

/// The values of G as a device finds them.
template <class V>
Array<V> values_on(Device device, const Csr<V>& matrix, const precondition::Pattern& pattern) {
  Array<V> values(static_cast<std::size_t>(pattern.nonzeros()));
  if (device.is_cpu()) {
    precondition::solve_factor_inverse(matrix, pattern, values.data(), {});
    return values;
  }
  Array<Offset> positions;
  const Csr<V> shape{matrix.rows, matrix.rows, pattern.offsets, pattern.columns, values};
  const Csr<V> transposed = transpose(shape, &positions);
  precondition::DeviceFactor<V, V> factor(device, pattern, transposed, positions);
  factor.solve(matrix, pattern);
  detail::copy_to_host(device, values.data(), factor.lower().values.data(), values.bytes(), {});
  Array<V> upper(values.size());
  detail::copy_to_host(device, upper.data(), factor.upper().values.data(), upper.bytes(), {});
  for (std::size_t i = 0; i < upper.size(); ++i) EXPECT_EQ(upper[i], values[positions[i]]);
  return values;
}

template <class V>
void expect_same_bits_on_all_devices(const std::string& source, int power, int block) {
  const auto matrix = generate<V>(source);
  precondition::PatternRules rules;
  rules.power = power;
  rules.block = block;
  rules.lower = true;
  const precondition::Pattern pattern = precondition::find_pattern(matrix, rules, {});
  const Array<V> expected = values_on(Device::cpu(), matrix, pattern);
  for (const Device device : available_devices())
    EXPECT_TRUE(same_bits(values_on(device, matrix, pattern), expected))
        << source << " on " << device.name() << ", power " << power << ", block " << block;
#ifdef WEFT_HAS_EMULATOR
  using simt::emulator::LaneOrder;
  for (const LaneOrder order : {LaneOrder{LaneOrder::Kind::reverse}, LaneOrder{LaneOrder::Kind::random, 7}}) {
    const simt::emulator::LaneOrderScope scope(order);
    EXPECT_TRUE(same_bits(values_on(Device::emulator(), matrix, pattern), expected)) << source;
  }
#endif
}

TEST(Fsai, HasTheSameBitsOnAllDevices) {
  expect_same_bits_on_all_devices<double>("gen:poisson2d:12", 1, 1);
  expect_same_bits_on_all_devices<double>("gen:poisson2d:12", 3, 1);
  expect_same_bits_on_all_devices<float>("gen:poisson2d:12", 2, 1);
  expect_same_bits_on_all_devices<double>("gen:elasticity3d:3", 1, 3);
  expect_same_bits_on_all_devices<float>("gen:elasticity3d:3", 1, 1);
  // More unknowns than shared memory has room for.
  expect_same_bits_on_all_devices<double>("gen:elasticity3d:3", 4, 3);
}

TEST(Fsai, HasTheSameBitsWithAllInstructionSets) {
  const auto matrix = generate<double>("gen:elasticity3d:4");
  const Isa before = isa();
  std::vector<std::vector<double>> products;
  for (const Isa one : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (!isa_available(one)) continue;
    set_isa(one);
    const precondition::Pattern pattern = precondition::find_pattern(matrix, {.block = 3, .lower = true}, {});
    const Array<double> values = values_on(Device::cpu(), matrix, pattern);
    products.emplace_back(values.begin(), values.end());
  }
  set_isa(before);
  for (const auto& product : products) EXPECT_EQ(product, products[0]);
}

}  // namespace
}  // namespace weft
