#include <weft/weft.hpp>

#include <vector>

int main() {
  const weft::Csr<double> A = weft::generate<double>("gen:poisson2d:50");
  weft::Plan<double> P = weft::plan(A, {.products = 100, .transpose = true});

  std::vector<double> x(A.cols, 1.0), y(A.rows, 2.0);
  P.apply(x, y);                                 // y = A x
  P.apply(0.5, x, -1.0, y);                      // y = 0.5 A x - y
  P.apply(weft::Op::transpose, 1.0, y, 0.0, x);  // x = A^T y
  std::vector<double> X(4 * x.size(), 1.0), Y(4 * y.size());
  P.apply(weft::Op::none, 1.0, weft::Vectors<const double>{X, 4, x.size()}, 0.0,
          weft::Vectors<double>{Y, 4, y.size()});  // four vectors, one after the other
  const weft::Layout rows = weft::Layout::row_major;
  P.apply(weft::Op::none, 1.0, weft::Vectors<const double>{X, 4, 4, rows}, 0.0,
          weft::Vectors<double>{Y, 4, 4, rows});  // four vectors side by side: one pass over the matrix

  std::vector<double> values(A.values.begin(), A.values.end());
  for (double& value : values) value *= 2;
  P.update_values(values);  // same pattern, new numbers, no new planning
}
