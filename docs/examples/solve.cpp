#include <weft/weft.hpp>

#include <iostream>
#include <vector>

int main() {
  const weft::Csr<double> A = weft::generate<double>("gen:poisson3d:30");
  const weft::Plan<double> P = weft::plan(A, {.products = 200});

  std::vector<double> b(A.rows, 1.0), x(A.rows);
  weft::SolveOptions<double> options{.rtol = 1e-8, .preconditioner = weft::jacobi(A)};
  const weft::SolveReport report = weft::cg(P, b, x, options);
  std::cerr << report << '\n';
  if (!report.converged()) return 1;

  // The next right side is like the last: begin from its answer, and look at what happens.
  b[0] = 2;
  options.use_guess = true;
  options.callback = [](const weft::SolveStep& step) {
    std::cerr << step.iteration << ": " << step.residual << " of " << step.tolerance << '\n';
    return step.iteration < 1000;  // false: end here
  };
  return weft::cg(P, b, x, options).converged() ? 0 : 1;
}
