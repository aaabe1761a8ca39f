#include <weft/weft.hpp>

#include <iostream>
#include <vector>

int main() {
  const weft::Csr<double> A = weft::generate<double>("gen:elasticity3d:12");
  const weft::Csr<float> rounded = weft::convert<float>(A);
  const weft::Plan<double> P = weft::plan(A, {.products = 10});  // one product per correction
  const weft::Plan<float> Q = weft::plan(rounded, {.products = 500});

  const std::vector<double> b(A.rows, 1.0);
  std::vector<double> x(A.rows);
  const weft::SolveReport report = weft::refine(P, Q, b, x, {.rtol = 1e-10, .preconditioner = weft::fsai(rounded)});
  std::cerr << report << '\n';
  return report.converged() ? 0 : 1;
}
