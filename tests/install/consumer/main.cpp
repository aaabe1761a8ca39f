// A program of somebody else: it knows only what an installed Weft offers.
#include <weft/weft.hpp>

#include <cmath>
#include <iostream>
#include <vector>

int main() {
  const weft::Csr<double> matrix = weft::generate<double>("gen:poisson2d:30");
  weft::Plan<double> plan = weft::plan(matrix, {.products = 10});

  const std::vector<double> x(matrix.cols, 1.0);
  std::vector<double> y(matrix.rows), expected(matrix.rows);
  plan.apply(x, y);
  weft::reference_apply<double>(weft::Op::none, 1.0, matrix, x, 0.0, expected);

  for (std::size_t row = 0; row < y.size(); ++row) {
    if (std::abs(y[row] - expected[row]) > 1e-12) {
      std::cerr << "row " << row << ": " << y[row] << " instead of " << expected[row] << '\n';
      return 1;
    }
  }

  try {
    weft::plan(matrix, {.format = "no such format"});
    std::cerr << "an unknown format was accepted\n";
    return 1;
  } catch (const weft::Error& error) {
    if (error.code() != weft::ErrorCode::invalid_argument) return 1;
  }
  std::cout << "weft " << WEFT_VERSION << ", " << plan.info().format << ", " << matrix.nonzeros()
            << " nonzeros: right\n";
}
