#include <utility>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/device_systems.hpp"
#include "solve/precondition/options.hpp"
#include "solve/precondition/single.hpp"
#include "solve/precondition/solve_systems.hpp"

namespace weft {
namespace precondition {
namespace {

constexpr Offset value_grain = 1 << 15;

/// M = G' G, G stored in R. G and its transpose are planned as matrices of their own: neither product gathers by
/// columns.
template <Value V, Value R>
class Fsai final : public Base<V> {
 public:
  Fsai(const MatrixSource<V>& A, PatternRules rules, Device device, const SparseInverseOptions& options)
      : Base<V>("fsai", A.rows(), device) {
    const Stopwatch timer;
    pattern_ = find_pattern(A.host(), rules, options.progress);
    Csr<R> shape{A.rows(), A.rows(), pattern_.offsets, pattern_.columns,
                 Array<R>(static_cast<std::size_t>(pattern_.nonzeros()))};
    if (device.is_cpu()) {
      solve_factor_inverse(A.host(), pattern_, shape.values.data(), options.progress);
      const Csr<R> transposed = transpose(shape, &positions_);
      lower_ = plan_inverse<R>(shape, device, rules.block > 1, options.format);
      upper_ = plan_inverse<R>(transposed, device, rules.block > 1, options.format);
    } else {
      const Csr<R> transposed = transpose(shape, &positions_);
      on_device_ = std::make_unique<DeviceFactor<V, R>>(device, pattern_, transposed, positions_);
      positions_ = {};
      on_device_->solve(A, pattern_);
      lower_ = plan_inverse<R>(on_device_->lower(), device, rules.block > 1, options.format);
      upper_ = plan_inverse<R>(on_device_->upper(), device, rules.block > 1, options.format);
    }
    stored_vectors_ = StoredVectors<V, R>(device, static_cast<std::size_t>(A.rows()));
    between_ = Vector<R>(device, static_cast<std::size_t>(A.rows()));
    this->info_.details = describe(rules, pattern_) + " of G" + stored_as<V, R>();
    this->info_.nonzeros = 2 * pattern_.nonzeros();
    this->info_.bytes =
        lower_->info().bytes + upper_->info().bytes + (on_device_ ? on_device_->bytes() : std::size_t(0));
    this->info_.setup_seconds = timer.seconds();
  }

  void update_values(const MatrixSource<V>& A) override {
    const Stopwatch timer;
    require_rows("fsai", A, this->rows_);
    if (on_device_) {
      on_device_->solve(A, pattern_);
      lower_->update_values(on_device_->lower().values);
      upper_->update_values(on_device_->upper().values);
    } else {
      Array<R> values(static_cast<std::size_t>(pattern_.nonzeros())), transposed(values.size());
      solve_factor_inverse(A.host(), pattern_, values.data(), {});
      parallel_for(pattern_.nonzeros(), value_grain, [&](Offset i) { transposed[i] = values[positions_[i]]; });
      lower_->update_values(std::span<const R>(values));
      upper_->update_values(std::span<const R>(transposed));
    }
    this->info_.update_seconds = timer.seconds();
  }

  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    const auto multiply = [&](R factor, VectorView<const R> from, R kept, VectorView<R> to) {
      if (factor != R(0)) lower_->apply(R(1), from, R(0), between_, stream);
      upper_->apply(factor, between_, kept, to, stream);
    };
    stored_vectors_.apply(multiply, alpha, x, beta, y, stream);
  }

 private:
  Pattern pattern_;
  Array<Offset> positions_;                        ///< entry of the transposed G -> entry of G; on a CPU
  std::unique_ptr<DeviceFactor<V, R>> on_device_;  ///< elsewhere
  std::unique_ptr<Plan<R>> lower_, upper_;
  mutable StoredVectors<V, R> stored_vectors_;
  mutable Vector<R> between_;  ///< G x
};

}  // namespace
}  // namespace precondition

template <Value V>
MadePreconditioner<V> fsai(const MatrixSource<V>& A, const SparseInverseOptions& options) {
  precondition::PatternRules rules = precondition::rules_of("fsai", A, options);
  rules.lower = true;
  const Device device = options.device.value_or(A.device());
  require_usable(device);
  if (options.single) return std::make_shared<precondition::Fsai<V, float>>(A, rules, device, options);
  return std::make_shared<precondition::Fsai<V, V>>(A, rules, device, options);
}

#define WEFT_INSTANTIATE(V) template MadePreconditioner<V> fsai<V>(const MatrixSource<V>&, const SparseInverseOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
