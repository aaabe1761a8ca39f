#include <utility>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/device_systems.hpp"
#include "solve/precondition/options.hpp"
#include "solve/precondition/solve_systems.hpp"

namespace weft {
namespace precondition {
namespace {

constexpr Offset value_grain = 1 << 15;

/// M = G' G. G and its transpose are planned as matrices of their own: neither product gathers by columns.
template <Value V>
class Fsai final : public Base<V> {
 public:
  Fsai(const MatrixSource<V>& A, PatternRules rules, Device device, const SparseInverseOptions& options)
      : Base<V>("fsai", A.rows(), device) {
    const Stopwatch timer;
    pattern_ = find_pattern(A.host(), rules, options.progress);
    Csr<V> shape{A.rows(), A.rows(), pattern_.offsets, pattern_.columns,
                 Array<V>(static_cast<std::size_t>(pattern_.nonzeros()))};
    if (device.is_cpu()) {
      solve_factor_inverse(A.host(), pattern_, shape.values.data(), options.progress);
      const Csr<V> transposed = transpose(shape, &positions_);
      lower_ = plan_inverse<V>(shape, device, options.format);
      upper_ = plan_inverse<V>(transposed, device, options.format);
    } else {
      const Csr<V> transposed = transpose(shape, &positions_);
      on_device_ = std::make_unique<DeviceFactor<V>>(device, pattern_, transposed, positions_);
      positions_ = {};
      on_device_->solve(A, pattern_);
      lower_ = plan_inverse<V>(on_device_->lower(), device, options.format);
      upper_ = plan_inverse<V>(on_device_->upper(), device, options.format);
    }
    between_ = Vector<V>(device, static_cast<std::size_t>(A.rows()));
    this->info_.details = describe(rules, pattern_) + " of G";
    this->info_.nonzeros = 2 * pattern_.nonzeros();
    this->info_.bytes = lower_->info().bytes + upper_->info().bytes;
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
      Array<V> values(static_cast<std::size_t>(pattern_.nonzeros())), transposed(values.size());
      solve_factor_inverse(A.host(), pattern_, values.data(), {});
      parallel_for(pattern_.nonzeros(), value_grain, [&](Offset i) { transposed[i] = values[positions_[i]]; });
      lower_->update_values(std::span<const V>(values));
      upper_->update_values(std::span<const V>(transposed));
    }
    this->info_.update_seconds = timer.seconds();
  }

  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    if (alpha != V(0)) lower_->apply(V(1), x, V(0), between_, stream);
    upper_->apply(alpha, between_, beta, y, stream);
  }

 private:
  Pattern pattern_;
  Array<Offset> positions_;                     ///< entry of the transposed G -> entry of G; on a CPU
  std::unique_ptr<DeviceFactor<V>> on_device_;  ///< elsewhere
  std::unique_ptr<Plan<V>> lower_, upper_;
  mutable Vector<V> between_;  ///< G x
};

}  // namespace
}  // namespace precondition

template <Value V>
MadePreconditioner<V> fsai(const MatrixSource<V>& A, const SparseInverseOptions& options) {
  precondition::PatternRules rules = precondition::rules_of("fsai", A, options);
  rules.lower = true;
  const Device device = options.device.value_or(A.device());
  require_usable(device);
  return std::make_shared<precondition::Fsai<V>>(A, rules, device, options);
}

#define WEFT_INSTANTIATE(V) template MadePreconditioner<V> fsai<V>(const MatrixSource<V>&, const SparseInverseOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
