#pragma once
#include <weft/csr.hpp>
#include <weft/plan.hpp>
#include <weft/solve.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Methods and preconditioners by their names, for `weft solve` and `weft bench --solve`. A new one is a line of
// solvers.cpp.
namespace weft::bench {

template <Value V>
struct SolveMethod {
  std::string_view name;
  SolveReport (*solve)(const LinearOperator<V>&, VectorView<const V>, VectorView<V>, const SolveOptions<V>&);
  bool needs_positive = false;  ///< a preconditioner that is positive definite
  /// What other libraries run beside it.
  std::string_view peers;
};

template <Value V>
struct PreconditionerKind {
  std::string_view name;
  std::string_view what;  ///< in a few words, for help texts
  /// Throws Error(invalid_argument) where the matrix does not allow it. Null for no preconditioner.
  Preconditioner<V> (*make)(const MatrixSource<V>& matrix, Device device);
};

/// The one list of each.
template <Value V>
std::span<const SolveMethod<V>> solve_methods();
template <Value V>
std::span<const PreconditionerKind<V>> preconditioner_kinds();

std::vector<std::string> method_names();
std::vector<std::string> preconditioner_names();
std::string preconditioners_text();  ///< "jacobi (divides by the diagonal), none"

/// Throws Error(invalid_argument) for a name that is not in the list.
template <Value V>
const SolveMethod<V>& find_method(std::string_view name);
template <Value V>
const PreconditionerKind<V>& find_preconditioner(std::string_view name);

/// What is used, and why.
struct SolverChoice {
  std::string method, preconditioner, reason;

  std::string name() const { return method + "+" + preconditioner; }  ///< "cg+jacobi"
};

/// The method and preconditioner to use where `auto` is requested: by symmetry and the diagonal.
template <Value V>
SolverChoice choose_solver(const Csr<V>& matrix, const std::string& method, const std::string& preconditioner);

}  // namespace weft::bench
