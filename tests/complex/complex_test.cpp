// What a third value type gets from being in the list, with kernels in csr only (build option WEFT_COMPLEX).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <complex>
#include <random>

namespace weft {
namespace {

using Complex = std::complex<double>;

Csr<Complex> random_matrix(Index rows, Index cols, int entries) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  Coo<Complex> coo{rows, cols, Array<Index>(entries), Array<Index>(entries), Array<Complex>(entries)};
  for (int i = 0; i < entries; ++i) {
    coo.row_indices[i] = static_cast<Index>(random() % static_cast<unsigned>(rows));
    coo.column_indices[i] = static_cast<Index>(random() % static_cast<unsigned>(cols));
    coo.values[i] = {unit(random), unit(random)};
  }
  return to_csr(coo);
}

std::vector<Complex> random_vector(Index size) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<Complex> x(static_cast<std::size_t>(size));
  for (Complex& element : x) element = {unit(random), unit(random)};
  return x;
}

void expect_close(const std::vector<Complex>& y, const std::vector<Complex>& expected) {
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_LT(std::abs(y[i] - expected[i]), 1e-12) << i;
}

TEST(Complex, HasANameAndTheFormatsThatBuildIt) {
  EXPECT_EQ(to_string(value_type<Complex>), "c64");
  for (const FormatInfo& format : formats())
    EXPECT_EQ(std::ranges::count(format.types, ValueType::c64), format.name == "csr") << format.name;
}

TEST(Complex, ProductsAreRight) {
  const Csr<Complex> matrix = random_matrix(300, 200, 4000);
  const std::vector<Complex> x = random_vector(200), x_of_rows = random_vector(300);
  std::vector<Complex> expected = random_vector(300), transposed = random_vector(200);
  Plan<Complex> p = plan(matrix, {.format = "csr", .transpose = true});
  std::vector<Complex> y = expected, z = transposed;
  const Complex alpha(2, -1), beta(0.5, 3);
  reference_apply<Complex>(Op::none, alpha, matrix, x, beta, expected);
  reference_apply<Complex>(Op::transpose, alpha, matrix, x_of_rows, beta, transposed);
  p.apply(alpha, x, beta, y);
  p.apply(Op::transpose, alpha, x_of_rows, beta, z);
  expect_close(y, expected);
  expect_close(z, transposed);
}

TEST(Complex, AutoPlansAndReordersIt) {
  const Csr<Complex> matrix = random_matrix(250, 250, 3000);
  const std::vector<Complex> x = random_vector(250);
  std::vector<Complex> y(250), expected(250);
  reference_apply<Complex>(Op::none, 1, matrix, x, 0, expected);
  plan(matrix, {.products = 100000}).apply(x, y);
  expect_close(y, expected);
  plan(matrix, {.format = "csr", .order = Ordering::rcm}).apply(x, y);
  expect_close(y, expected);
}

TEST(Complex, OtherFormatsSayThatTheyCannot) {
  try {
    plan(random_matrix(10, 10, 30), {.format = "sell"});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("does not do c64 on cpu; these do: csr"));
  }
}

TEST(Complex, VectorsHaveInnerProducts) {
  const std::vector<Complex> x{{1, 2}, {0, -1}}, y{{3, 1}, {2, 2}};
  const Complex product = dot<Complex>(std::span<const Complex>(x), std::span<const Complex>(y));
  EXPECT_EQ(product, std::conj(x[0]) * y[0] + std::conj(x[1]) * y[1]);
  EXPECT_DOUBLE_EQ(norm<Complex>(std::span<const Complex>(x)), std::sqrt(6.0));
}

}  // namespace
}  // namespace weft
