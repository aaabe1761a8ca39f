#pragma once
#include <weft/order.hpp>
#include <weft/plan.hpp>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "formats/registry.hpp"
#include "plan/reordered.hpp"

// The steps that all ways to a Plan have in common.
namespace weft {

template <Value V>
struct Built {
  std::unique_ptr<Operator<V>> op;
  FormatChoice choice;  // as asked for
  double setup_seconds = 0;
  double product_seconds = 0;
};

/// A matrix as formats are to store it.
template <Value V>
struct Stored {
  Csr<V> matrix;
  std::shared_ptr<VectorOrder<V>> order;                 // none: in the caller's order
  Array<Offset> positions;                               // entry of `matrix` -> entry of the caller's; empty: the same
  std::shared_ptr<const Partition> partition = nullptr;  // of the rows of `matrix`; none: formats find their own
};

/// A partition of the caller's rows as one of the rows in this order.
inline std::shared_ptr<const Partition> in_order(const std::shared_ptr<const Partition>& partition,
                                                 const Array<Index>& rows) {
  if (!partition || rows.empty()) return partition;
  auto result = std::make_shared<Partition>(Partition{partition->parts, Array<Index>(rows.size())});
  for (std::size_t i = 0; i < rows.size(); ++i) result->part_of[i] = partition->part_of[rows[i]];
  return result;
}

/// The way back.
inline std::shared_ptr<const Partition> in_callers_numbering(const std::shared_ptr<const Partition>& partition,
                                                             const Array<Index>& rows) {
  if (!partition || rows.empty()) return partition;
  auto result = std::make_shared<Partition>(Partition{partition->parts, Array<Index>(rows.size())});
  for (std::size_t i = 0; i < rows.size(); ++i) result->part_of[rows[i]] = partition->part_of[i];
  return result;
}

template <Value V>
Stored<V> put_in_order(const Csr<V>& matrix, const Order& order, Device device) {
  Stored<V> stored;
  stored.matrix = permute(matrix, order, &stored.positions);
  stored.order = std::make_shared<VectorOrder<V>>(device, matrix.rows, matrix.cols, order);
  return stored;
}

template <Value V>
Built<V> build(const FormatChoice& choice, const Stored<V>& stored, const PlanOptions& options) {
  Built<V> built;
  built.choice = choice;
  const Stopwatch watch;
  built.op = choice.format->builder<V>()(stored.matrix, {.device = options.device,
                                                         .variant = choice.variant,
                                                         .progress = options.progress,
                                                         .parameters = choice.parameters,
                                                         .partition = stored.partition});
  if (stored.order) built.op = in_callers_order(std::move(built.op), stored.order, stored.positions);
  synchronize(options.device);
  built.setup_seconds = watch.seconds();
  return built;
}

/// Builds the transposed matrix, if it is asked for, and says what was built. `info` may hold candidates, `order` is
/// the one that `stored` has been put in, and `watch` runs since planning began.
template <Value V>
Plan<V> finish_plan(Built<V> forward, PlanInfo info, const Stored<V>& stored, const Order& order,
                    const PlanOptions& options, const Stopwatch& watch) {
  const OperatorInfo built = forward.op->info();
  info.format = full_name(forward.choice.format->info, built.variant);
  info.details = built.details;
  info.device = options.device;
  info.type = value_type<V>;
  info.rows = stored.matrix.rows;
  info.cols = stored.matrix.cols;
  info.nonzeros = stored.matrix.nonzeros();
  info.bytes = built.bytes;
  info.padding = built.padding;
  info.upload_seconds = built.upload_seconds;
  info.partition_seconds = built.partition_seconds;
  info.setup_seconds = forward.setup_seconds;
  info.product_seconds = forward.product_seconds;
  info.deterministic = forward.choice.format->info.deterministic;
  info.transpose = options.transpose;

  Array<Offset> positions;
  std::unique_ptr<Operator<V>> transposed;
  if (options.transpose) {
    // A partition is of rows and columns alike only where the matrix is square. What was found for the rows is not
    // looked for again.
    std::shared_ptr<const Partition> parts;
    if (info.rows == info.cols)
      parts = options.partition ? options.partition : in_callers_numbering(forward.op->partition(), order.rows);
    parts = in_order(parts, order.columns);
    Stored<V> other{transpose(stored.matrix, &positions), nullptr, {}, std::move(parts)};
    if (stored.order) {
      // What was the order of the rows is now that of the columns; `positions` leads to the caller's values.
      other.order =
          std::make_shared<VectorOrder<V>>(options.device, info.cols, info.rows, Order{order.columns, order.rows});
      parallel_for(static_cast<std::int64_t>(positions.size()), 1 << 15,
                   [&](std::int64_t i) { positions[i] = stored.positions[positions[i]]; });
    }
    Built<V> second = build(forward.choice, other, options);
    info.bytes += second.op->info().bytes;
    info.setup_seconds += second.setup_seconds;
    info.partition_seconds += second.op->info().partition_seconds;
    transposed = std::move(second.op);
  }
  info.bytes_per_nonzero =
      info.nonzeros == 0 ? 0 : static_cast<double>(info.bytes) / static_cast<double>(info.nonzeros);
  info.planning_seconds = watch.seconds();
  return Plan<V>(std::move(forward.op), std::move(transposed), std::move(positions), std::move(info));
}

}  // namespace weft
