#include "solvers.hpp"

#include <algorithm>
#include <cmath>

#include "facts/source_facts.hpp"

namespace weft::bench {
namespace {

template <Value V>
constexpr SolveMethod<V> methods[] = {
    {.name = "cg", .solve = &cg<V>, .needs_positive = true, .peers = "cg"},
    {.name = "minres", .solve = &minres<V>, .needs_positive = true, .peers = "minres"},
    {.name = "gmres", .solve = &gmres<V>, .peers = "gmres"},
    {.name = "fgmres", .solve = &fgmres<V>, .peers = "gmres"},
    {.name = "bicgstab", .solve = &bicgstab<V>, .peers = "bicgstab"},
};

template <Value V>
constexpr PreconditionerKind<V> kinds[] = {
    {.name = "none", .what = "", .make = [](const MatrixSource<V>&, Device) -> Preconditioner<V> { return nullptr; }},
    {.name = "jacobi",
     .what = "divides by the diagonal",
     .make = [](const MatrixSource<V>& matrix, Device device) { return jacobi(matrix, device); }},
};

template <class Entry>
const Entry& find(std::span<const Entry> list, std::string_view name, const char* what) {
  const auto found = std::ranges::find(list, name, &Entry::name);
  if (found == list.end())
    throw Error(ErrorCode::invalid_argument, std::string("there is no ") + what + " named '" + std::string(name) + "'");
  return *found;
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

template <Value V>
std::span<const SolveMethod<V>> solve_methods() {
  return methods<V>;
}

template <Value V>
std::span<const PreconditionerKind<V>> preconditioner_kinds() {
  return kinds<V>;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods<double>) names.emplace_back(method.name);
  return names;
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names;
  for (const auto& kind : kinds<double>) names.emplace_back(kind.name);
  return names;
}

std::string preconditioners_text() {
  std::string text;
  for (const auto& kind : kinds<double>) {
    text += (text.empty() ? "" : ", ") + std::string(kind.name);
    if (!kind.what.empty()) text += " (" + std::string(kind.what) + ")";
  }
  return text;
}

template <Value V>
const SolveMethod<V>& find_method(std::string_view name) {
  return find(solve_methods<V>(), name, "method");
}

template <Value V>
const PreconditionerKind<V>& find_preconditioner(std::string_view name) {
  return find(preconditioner_kinds<V>(), name, "preconditioner");
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
    const bool needs_positive = find_method<V>(choice.method).needs_positive;
    choice.preconditioner = diagonal.divides && (diagonal.positive || !needs_positive) ? "jacobi" : "none";
  }
  return choice;
}

#define WEFT_INSTANTIATE(V)                                                       \
  template std::span<const SolveMethod<V>> solve_methods<V>();                    \
  template std::span<const PreconditionerKind<V>> preconditioner_kinds<V>();      \
  template const SolveMethod<V>& find_method<V>(std::string_view);                \
  template const PreconditionerKind<V>& find_preconditioner<V>(std::string_view); \
  template SolverChoice choose_solver<V>(const Csr<V>&, const std::string& method, const std::string& preconditioner);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
