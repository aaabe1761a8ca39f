#pragma once
#include <weft/csr.hpp>
#include <weft/plan.hpp>
#include <weft/preconditioners.hpp>
#include <weft/solve.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Methods and preconditioners by their names, for `weft solve` and `weft bench --solve`. A new method is a line in
// solvers.cpp; preconditioners are the library's list.
namespace weft::bench {

/// The method and the preconditioner that are used, and why.
struct SolverChoice {
  std::string method, preconditioner, reason;

  std::string name() const { return method + "+" + preconditioner; }  ///< "cg+jacobi"
};

/// The method and preconditioner to use where `auto` is requested: by symmetry and the diagonal.
template <Value V>
SolverChoice choose_solver(const Csr<V>& matrix, const std::string& method, const std::string& preconditioner);

std::vector<std::string> method_names();
std::vector<std::string> preconditioner_names();  ///< "none" first
std::string preconditioners_text();               ///< for help texts: "none, jacobi (divides by the diagonal)"
/// Whether there is a method of that name.
bool is_method(std::string_view name);
/// Whether `recipe`, as "fsai:power=2", names a preconditioner that there is.
bool is_preconditioner(std::string_view recipe);
/// What other libraries run beside a method.
std::string peers_of(std::string_view method);

/// A method and a preconditioner that were made for one matrix and multiply with one plan, on its device.
template <Value V>
class PreparedSolver {
 public:
  /// `how` has all options but the preconditioner. A method in mixed precision plans the matrix in f32, too, by `low`.
  /// Throws Error(invalid_argument) where the matrix or the value type does not allow what was chosen. Keeps a
  /// reference to the plan.
  PreparedSolver(const Plan<V>& plan, const Csr<V>& matrix, const SolverChoice& choice, SolveOptions<V> how,
                 const PlanOptions& low);
  ~PreparedSolver();

  SolveReport solve(VectorView<const V> b, VectorView<V> x) const;
  /// Another method from now on, of the same precision and with the same preconditioner.
  void use_method(std::string_view name);
  void set_callback(std::function<bool(const SolveStep&)> callback) { how_.callback = std::move(callback); }
  double setup_seconds() const { return setup_seconds_; }  ///< of all that it made

 private:
  struct Low;  // what a method in mixed precision needs besides

  const Plan<V>& plan_;
  std::string method_;
  SolveOptions<V> how_;
  std::unique_ptr<Low> low_;
  double setup_seconds_ = 0;
};

}  // namespace weft::bench
