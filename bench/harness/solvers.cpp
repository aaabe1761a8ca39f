#include "solvers.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/timer.hpp"
#include "facts/source_facts.hpp"

namespace weft::bench {
namespace {

template <Value V>
using Solve = SolveReport (*)(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);

template <Value V>
SolveReport chebyshev_without_bounds(const LinearOperator<V>& A, VectorView<const V> b, VectorView<V> x,
                                     const SolveOptions<V>& options) {
  return chebyshev_iteration(A, b, x, options);
}

struct Method {
  std::string_view name;
  std::string_view mixed;  ///< its name where it solves for corrections in f32
  Solve<float> f32;
  Solve<double> f64;
  bool needs_positive = false;  ///< a preconditioner that is positive definite
  std::string_view peers;       ///< what other libraries run beside it
};
constexpr Method methods[] = {
    {"cg", "mixed-cg", &cg<float>, &cg<double>, true, "cg"},
    {"minres", "mixed-minres", &minres<float>, &minres<double>, true, "minres"},
    {"gmres", "mixed-gmres", &gmres<float>, &gmres<double>, false, "gmres"},
    {"fgmres", "mixed-fgmres", &fgmres<float>, &fgmres<double>, false, "gmres"},
    {"bicgstab", "mixed-bicgstab", &bicgstab<float>, &bicgstab<double>, false, "bicgstab"},
    {"chebyshev", "mixed-chebyshev", &chebyshev_without_bounds<float>, &chebyshev_without_bounds<double>, true, "cg"},
};

const Method* find_method(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(methods, [&](const Method& method) { return method.name == name || method.mixed == name; });
  return found == std::end(methods) ? nullptr : found;
}
bool is_mixed(std::string_view name) { return find_method(name)->mixed == name; }

const Method& method_of(std::string_view name) {
  if (const Method* const method = find_method(name)) return *method;
  throw Error(ErrorCode::invalid_argument, "there is no method named '" + std::string(name) + "'");
}

template <Value V>
Preconditioner<V> make(const std::string& recipe, const LinearOperator<V>& plan, const Csr<V>& matrix) {
  if (recipe == "none") return nullptr;
  return make_preconditioner<V>(recipe, plan, MatrixSource<V>(matrix));
}

/// What the diagonal allows: dividing by it, and a method for positive definite matrices.
struct Diagonal {
  bool divides = true, positive = true;
};

template <Value V>
Diagonal look_at_diagonal(const Csr<V>& matrix) {
  Diagonal diagonal;
  for (Index row = 0; row < matrix.rows; ++row) {
    V value = 0;
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      if (matrix.columns[k] == row) value = matrix.values[k];
    if (value == V(0) || !std::isfinite(value) || !std::isfinite(V(1) / value)) diagonal.divides = false;
    if (!(value > V(0))) diagonal.positive = false;
  }
  return diagonal;
}

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : methods) names.emplace_back(method.name);
  for (const Method& method : methods) names.emplace_back(method.mixed);
  return names;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names{"none"};
  for (const PreconditionerKind& kind : preconditioners()) names.push_back(kind.name);
  return names;
}

std::string preconditioners_text() {
  std::string text = "none";
  for (const PreconditionerKind& kind : preconditioners()) text += ", " + kind.name + " (" + kind.summary + ")";
  return text;
}

bool is_method(std::string_view name) { return find_method(name) != nullptr; }
bool is_preconditioner(std::string_view recipe) { return recipe == "none" || find_preconditioner(recipe) != nullptr; }
std::string peers_of(std::string_view method) { return std::string(method_of(method).peers); }

template <Value V>
struct PreparedSolver<V>::Low {
  Plan<float> plan;
  Preconditioner<float> preconditioner;
};

template <Value V>
PreparedSolver<V>::PreparedSolver(const Plan<V>& plan, const Csr<V>& matrix, const SolverChoice& choice,
                                  SolveOptions<V> how, const PlanOptions& low)
    : plan_(plan), how_(std::move(how)) {
  use_method(choice.method);
  const Stopwatch timer;
  if (!is_mixed(choice.method)) {
    how_.preconditioner = make<V>(choice.preconditioner, plan, matrix);
  } else if constexpr (std::is_same_v<V, double>) {
    const Csr<float> rounded = convert<float>(matrix);
    low_.reset(new Low{weft::plan(rounded, low), nullptr});
    low_->preconditioner = make<float>(choice.preconditioner, low_->plan, rounded);
  } else {
    throw Error(ErrorCode::invalid_argument, choice.method + " mixes f64 with f32: it needs a matrix in f64");
  }
  synchronize(plan.device());
  setup_seconds_ = choice.preconditioner == "none" && !low_ ? 0 : timer.seconds();
}

template <Value V>
PreparedSolver<V>::~PreparedSolver() = default;

template <Value V>
SolveReport PreparedSolver<V>::solve(VectorView<const V> b, VectorView<V> x) const {
  const Method& method = method_of(method_);
  if constexpr (std::is_same_v<V, double>) {
    if (!low_) return method.f64(plan_, b, x, how_);
    SolveReport report = refine(plan_, low_->plan, b, x,
                                {.rtol = how_.rtol,
                                 .atol = how_.atol,
                                 .max_iterations = how_.max_iterations,
                                 .use_guess = how_.use_guess,
                                 .method = method.f32,
                                 .restart = how_.restart,
                                 .preconditioner = low_->preconditioner,
                                 .callback = how_.callback});
    report.method = method.mixed;
    return report;
  } else {
    return method.f32(plan_, b, x, how_);
  }
}

template <Value V>
void PreparedSolver<V>::use_method(std::string_view name) {
  method_ = std::string(name);
  method_of(method_);
}

template <Value V>
SolverChoice choose_solver(const Csr<V>& matrix, const std::string& method, const std::string& preconditioner) {
  SolverChoice choice{method, preconditioner, "as requested"};
  if (method != "auto" && preconditioner != "auto") return choice;
  const Diagonal diagonal = look_at_diagonal(matrix);
  if (method == "auto") {
    const bool symmetric = symmetry(MatrixSource<V>(matrix)).values_symmetric;
    choice.method = !symmetric ? "bicgstab" : diagonal.positive ? "cg" : "minres";
    choice.reason = !symmetric          ? "A is not symmetric"
                    : diagonal.positive ? "A is symmetric, its diagonal positive"
                                        : "A is symmetric, its diagonal not positive";
  }
  if (preconditioner == "auto") {
    const bool needs_positive = method_of(choice.method).needs_positive;
    choice.preconditioner = diagonal.divides && (diagonal.positive || !needs_positive) ? "jacobi" : "none";
  }
  return choice;
}

#define WEFT_INSTANTIATE(V)         \
  template class PreparedSolver<V>; \
  template SolverChoice choose_solver<V>(const Csr<V>&, const std::string& method, const std::string& preconditioner);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
