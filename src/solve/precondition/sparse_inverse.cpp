// isai and spai.
#include <utility>

#include "core/timer.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/options.hpp"
#include "solve/precondition/single.hpp"
#include "solve/precondition/solve_systems.hpp"

namespace weft {
namespace precondition {
namespace {

enum class Rows { incomplete, least_squares };

/// M itself, as a plan, stored in R.
template <Value V, Value R>
class SparseInverse final : public Base<V> {
 public:
  SparseInverse(Rows how, const MatrixSource<V>& A, const PatternRules& rules, Device device,
                const SparseInverseOptions& options)
      : Base<V>(how == Rows::incomplete ? "isai" : "spai", A.rows(), device), how_(how) {
    const Stopwatch timer;
    pattern_ = find_pattern(A.host(), rules, options.progress);
    plain_details_ = describe(rules, pattern_) + stored_as<V, R>();
    const Csr<R> inverse{A.rows(), A.rows(), pattern_.offsets, pattern_.columns, solve(A.host(), options.progress)};
    plan_ = plan_inverse<R>(inverse, device, rules.block > 1, options.format);
    stored_vectors_ = StoredVectors<V, R>(device, static_cast<std::size_t>(A.rows()));
    this->info_.nonzeros = pattern_.nonzeros();
    this->info_.bytes = plan_->info().bytes;
    this->info_.setup_seconds = timer.seconds();
  }

  void update_values(const MatrixSource<V>& A) override {
    const Stopwatch timer;
    require_rows(this->info_.name, A, this->rows_);
    const Array<R> values = solve(A.host(), {});
    plan_->update_values(std::span<const R>(values));
    this->info_.update_seconds = timer.seconds();
  }

  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    const auto multiply = [&](R factor, VectorView<const R> from, R kept, VectorView<R> to) {
      plan_->apply(factor, from, kept, to, stream);
    };
    stored_vectors_.apply(multiply, alpha, x, beta, y, stream);
  }

 private:
  Array<R> solve(const Csr<V>& matrix, const Progress& progress) {
    Array<R> values(static_cast<std::size_t>(pattern_.nonzeros()));
    this->info_.details = plain_details_;
    if (how_ == Rows::least_squares) {
      solve_least_squares(matrix, pattern_, values.data(), progress);
    } else {
      const Index replaced = solve_incomplete("isai", matrix, pattern_, true, values.data(), progress);
      if (replaced > 0) this->info_.details += ", " + std::to_string(replaced) + " singular systems by least squares";
    }
    return values;
  }

  Rows how_;
  Pattern pattern_;
  std::string plain_details_;
  std::unique_ptr<Plan<R>> plan_;
  mutable StoredVectors<V, R> stored_vectors_;
};

template <Value V>
MadePreconditioner<V> make(Rows how, const MatrixSource<V>& A, const SparseInverseOptions& options) {
  PatternRules rules = rules_of(how == Rows::incomplete ? "isai" : "spai", A, options);
  rules.short_rows_only = how == Rows::least_squares;
  const Device device = options.device.value_or(A.device());
  require_usable(device);
  if (options.single) return std::make_shared<SparseInverse<V, float>>(how, A, rules, device, options);
  return std::make_shared<SparseInverse<V, V>>(how, A, rules, device, options);
}

}  // namespace
}  // namespace precondition

template <Value V>
MadePreconditioner<V> isai(const MatrixSource<V>& A, const SparseInverseOptions& options) {
  return precondition::make(precondition::Rows::incomplete, A, options);
}

template <Value V>
MadePreconditioner<V> spai(const MatrixSource<V>& A, const SparseInverseOptions& options) {
  return precondition::make(precondition::Rows::least_squares, A, options);
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template MadePreconditioner<V> isai<V>(const MatrixSource<V>&, const SparseInverseOptions&); \
  template MadePreconditioner<V> spai<V>(const MatrixSource<V>&, const SparseInverseOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
