#include <weft/weft.hpp>

#include <iostream>
#include <vector>

int main(int count, char** arguments) {
  const weft::Csr<double> A = weft::read_matrix<double>(count > 1 ? arguments[1] : "gen:elasticity3d:12");
  weft::Plan<double> P = weft::plan(A, {.products = 5000});  // the storage that pays off within 5000 products

  const std::vector<double> x(A.cols, 1.0);
  std::vector<double> y(A.rows);
  P.apply(x, y);  // y = A x
  std::cout << P.info();
}
