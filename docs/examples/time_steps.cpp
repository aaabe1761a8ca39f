#include <weft/weft.hpp>

#include <iostream>
#include <span>
#include <vector>

int main() {
  weft::Csr<double> A = weft::generate<double>("gen:elasticity3d:8");
  weft::Plan<double> P = weft::plan(A, {.format = "bro-sell"});
  const auto M = weft::fsai(A);
  std::cerr << "fsai: " << M->info().details << '\n';

  const std::vector<double> b(A.rows, 1.0);
  std::vector<double> x(A.rows);
  for (int step = 0; step < 5; ++step) {
    // The pattern stays, the numbers change: here the material softens.
    for (double& value : A.values) value *= 0.9;
    P.update_values(std::span<const double>(A.values));
    M->update_values(A);

    const weft::SolveReport report = weft::cg(P, b, x, {.rtol = 1e-8, .use_guess = step > 0, .preconditioner = M});
    std::cerr << report << '\n';
    if (!report.converged()) return 1;
  }
}
