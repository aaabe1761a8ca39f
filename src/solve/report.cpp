#include <weft/solve.hpp>

#include <iomanip>
#include <ostream>
#include <sstream>

namespace weft {

std::string_view to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged:
      return "converged";
    case SolveStatus::max_iterations:
      return "not converged";
    case SolveStatus::stalled:
      return "stalled";
    case SolveStatus::indefinite:
      return "not positive definite";
    case SolveStatus::broke_down:
      return "broke down";
    case SolveStatus::diverged:
      return "diverged";
    case SolveStatus::not_finite:
      return "not finite";
    case SolveStatus::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, const SolveReport& report) {
  std::ostringstream line;  // the caller's number format stays
  line << report.method << ": " << to_string(report.status) << " after " << report.iterations
       << (report.iterations == 1 ? " iteration" : " iterations") << ", relative residual " << std::scientific
       << std::setprecision(1) << report.relative_residual << ", " << std::defaultfloat << std::setprecision(3)
       << 1e3 * report.seconds << " ms";
  return out << line.str();
}

}  // namespace weft
