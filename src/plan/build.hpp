#pragma once
#include <weft/plan.hpp>

#include "core/timer.hpp"
#include "formats/registry.hpp"

// The steps that all ways to a Plan have in common.
namespace weft {

template <Value V>
struct Built {
  std::unique_ptr<Operator<V>> op;
  FormatChoice choice;  // as asked for
  double setup_seconds = 0;
  double product_seconds = 0;
};

template <Value V>
Built<V> build(const FormatChoice& choice, const Csr<V>& matrix, const PlanOptions& options) {
  Built<V> built;
  built.choice = choice;
  const Stopwatch watch;
  built.op = choice.format->builder<V>()(matrix, {.device = options.device,
                                                  .variant = choice.variant,
                                                  .progress = options.progress,
                                                  .parameters = choice.parameters});
  synchronize(options.device);
  built.setup_seconds = watch.seconds();
  return built;
}

/// Builds the transposed matrix, if it is asked for, and says what was built. `info` may hold candidates; `watch` runs
/// since planning began.
template <Value V>
Plan<V> finish_plan(Built<V> forward, PlanInfo info, const Csr<V>& matrix, const PlanOptions& options,
                    const Stopwatch& watch) {
  const OperatorInfo built = forward.op->info();
  info.format = full_name(forward.choice.format->info, built.variant);
  info.details = built.details;
  info.device = options.device;
  info.type = value_type<V>;
  info.rows = matrix.rows;
  info.cols = matrix.cols;
  info.nonzeros = matrix.nonzeros();
  info.bytes = built.bytes;
  info.padding = built.padding;
  info.upload_seconds = built.upload_seconds;
  info.setup_seconds = forward.setup_seconds;
  info.product_seconds = forward.product_seconds;
  info.deterministic = forward.choice.format->info.deterministic;
  info.transpose = options.transpose;

  Array<Offset> positions;
  std::unique_ptr<Operator<V>> transposed;
  if (options.transpose) {
    const Csr<V> other = transpose(matrix, &positions);
    Built<V> second = build(forward.choice, other, options);
    info.bytes += second.op->info().bytes;
    info.setup_seconds += second.setup_seconds;
    transposed = std::move(second.op);
  }
  info.bytes_per_nonzero =
      info.nonzeros == 0 ? 0 : static_cast<double>(info.bytes) / static_cast<double>(info.nonzeros);
  info.planning_seconds = watch.seconds();
  return Plan<V>(std::move(forward.op), std::move(transposed), std::move(positions), std::move(info));
}

}  // namespace weft
