#pragma once
#include <weft/error.hpp>
#include <weft/order.hpp>
#include <weft/plan.hpp>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "formats/registry.hpp"
#include "order/partition/coordinates.hpp"
#include "plan/kernel_isa.hpp"
#include "plan/plan_state.hpp"
#include "plan/reordered.hpp"

// The steps that all ways to a Plan have in common.
namespace weft {

template <Value V>
struct Built {
  std::unique_ptr<Operator<V>> op;
  FormatChoice choice;  // as requested
  SetupTimes times;     // without what an earlier set-up had already made of the source
  double product_seconds = 0;
};

/// A matrix as formats are to store it.
template <Value V>
struct Stored {
  MatrixSource<V> source;
  std::shared_ptr<VectorOrder<V>> order = nullptr;       // none: in the caller's order
  Array<Offset> positions = {};                          // entry of `source` -> entry of the caller's; empty: the same
  std::shared_ptr<const Partition> partition = nullptr;  // of the rows of `source`; none: formats find their own
  std::shared_ptr<const Coordinates> coordinates = nullptr;  // of the rows of `source`, or its nodes
};

/// A partition of the caller's rows as one of the rows in this order.
inline std::shared_ptr<const Partition> in_order(const std::shared_ptr<const Partition>& partition,
                                                 const Array<Index>& rows) {
  if (!partition || rows.empty()) return partition;
  auto result = std::make_shared<Partition>(Partition{partition->parts, Array<Index>(rows.size())});
  for (std::size_t i = 0; i < rows.size(); ++i) result->part_of[i] = partition->part_of[rows[i]];
  return result;
}

/// Where the caller's rows or nodes are, as where the rows in this order are.
inline std::shared_ptr<const Coordinates> points_in_order(const std::shared_ptr<const Coordinates>& coordinates,
                                                          const Array<Index>& rows) {
  if (!coordinates || rows.empty()) return coordinates;
  const auto dimensions = static_cast<std::size_t>(coordinates->dimensions);
  const std::size_t rows_per_point = rows.size() * dimensions / coordinates->points.size();
  Array<double> points(rows.size() * dimensions);
  parallel_for(static_cast<std::int64_t>(rows.size()), 1 << 15, [&](std::int64_t i) {
    const std::size_t from = static_cast<std::size_t>(rows[i]) / rows_per_point * dimensions;
    std::copy_n(coordinates->points.data() + from, dimensions, points.data() + i * coordinates->dimensions);
  });
  return std::make_shared<Coordinates>(Coordinates{coordinates->dimensions, std::move(points)});
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
  Array<Offset> positions;
  const Csr<V> reordered = permute(matrix, order, &positions);
  return {.source = reordered,
          .order = std::make_shared<VectorOrder<V>>(device, matrix.rows, matrix.cols, order),
          .positions = std::move(positions)};
}

/// The order to store a matrix in: the one that the recipe names, or else the options'.
inline Ordering requested_order(const Recipe& recipe, const PlanOptions& options) {
  if (recipe.order == Ordering::none) return options.order;
  if (options.order != Ordering::none && options.order != recipe.order)
    throw Error(ErrorCode::invalid_argument, "format '" + options.format + "' is in the order " +
                                                 std::string(to_string(recipe.order)) + ", but the order " +
                                                 std::string(to_string(options.order)) + " is requested");
  return recipe.order;
}

/// Builds an operator and adds up, here and nowhere else, where the time went.
template <Value V>
Built<V> build(const FormatChoice& choice, const Stored<V>& stored, Device device, const Progress& progress) {
  if (progress && !progress(0)) throw Error(ErrorCode::cancelled, "cancelled");
  Built<V> built;
  built.choice = choice;
  if (device.is_cpu()) kernel_isa(*choice.format, value_type<V>);  // the first one on a machine is not set-up
  const SetupTimes before = stored.source.state().times;
  const Stopwatch watch;
  built.op = choice.format->build.get<V>()(stored.source, {.device = device,
                                                           .variant = choice.variant,
                                                           .progress = progress,
                                                           .parameters = choice.parameters,
                                                           .partition = stored.partition,
                                                           .coordinates = stored.coordinates,
                                                           .times = &built.times});
  if (device.is_cpu()) built.op->use_isa(kernel_isa(*choice.format, value_type<V>));
  if (stored.order) built.op = in_callers_order(std::move(built.op), stored.order, stored.positions);
  synchronize(device);
  if (progress) progress(1);  // too late to stop
  const SetupTimes after = stored.source.state().times;
  built.times.upload = after.upload - before.upload;
  built.times.facts = after.facts - before.facts;
  built.times.encode = std::max(0.0, watch.seconds() - built.times.total());
  return built;
}

/// Builds the transposed matrix, if it is requested, and describes what was built. `info` may hold candidates, the
/// order and the time that it took, and the recipe of what was loaded as it is `stored`; `order` is the one that
/// `stored` has been put in, and `watch` runs since planning began.
template <Value V>
Plan<V> finish_plan(Built<V> forward, PlanInfo info, const Stored<V>& stored, const Order& order,
                    const PlanOptions& options, Device device, const Stopwatch& watch) {
  const OperatorInfo built = forward.op->info();
  SourceState<V>& source = stored.source.state();
  info.format = full_name(forward.choice.format->info, built.variant);
  if (!info.stored) info.recipe = recipe_of(forward.choice, built.variant, built.numbers);
  info.details = built.details;
  info.device = device;
  if (device.is_cpu()) info.isa = kernel_isa(*forward.choice.format, value_type<V>);
  info.type = value_type<V>;
  info.rows = source.rows();
  info.cols = source.cols();
  info.nonzeros = source.nonzeros();
  info.bytes = built.bytes;
  info.padding = built.padding;
  info.setup.partition = forward.times.partition;
  info.setup.encode = forward.times.encode;
  info.product_seconds = forward.product_seconds;
  info.deterministic = forward.choice.format->info.deterministic;
  info.transpose = options.transpose;

  PlanState<V> plan;
  if (options.transpose) {
    // A partition is of rows and columns alike only where the matrix is square, and so are coordinates. What was found
    // for the rows is not looked for again.
    const bool square = info.rows == info.cols;
    std::shared_ptr<const Partition> parts;
    if (square)
      parts = options.partition ? options.partition : in_callers_numbering(forward.op->partition(), order.rows);
    const Stopwatch transposing;
    const TransposedMatrix<V>& turned = source.transposed();
    Stored<V> other{.source = turned.matrix, .partition = in_order(parts, order.columns)};
    if (square) other.coordinates = points_in_order(options.coordinates, order.columns);
    plan.positions = turned.positions;
    if (stored.order) {
      // What was the order of the rows is now that of the columns; the positions lead to the caller's values.
      other.order = std::make_shared<VectorOrder<V>>(device, info.cols, info.rows, Order{order.columns, order.rows});
      plan.positions = Array<Offset>(turned.positions.size());
      parallel_for(static_cast<std::int64_t>(plan.positions.size()), 1 << 15,
                   [&](std::int64_t i) { plan.positions[i] = stored.positions[turned.positions[i]]; });
    }
    info.setup.order += transposing.seconds();
    // A recipe may have other numbers for it; they are in this one, too, where they differ.
    const std::string given = parse_recipe(options.format).transposed;
    const FormatChoice choice = given.empty() ? forward.choice : find_format(given, device, value_type<V>);
    Built<V> second = build(choice, other, device, options.progress);
    const OperatorInfo turned_info = second.op->info();
    const std::string own = recipe_of(choice, turned_info.variant, turned_info.numbers);
    if (!info.recipe.empty() && own != info.recipe) info.recipe += "/" + own;
    info.bytes += turned_info.bytes;
    info.setup.upload += second.times.upload;
    info.setup.facts += second.times.facts;
    info.setup.partition += second.times.partition;
    info.setup.encode += second.times.encode;
    plan.transposed = std::move(second.op);
  }
  if (!info.recipe.empty() && info.ordering != Ordering::none)
    info.recipe = std::string(to_string(info.ordering)) + "+" + info.recipe;
  info.setup.upload += source.times.upload;
  info.setup.facts += source.times.facts;
  info.bytes_per_nonzero =
      info.nonzeros == 0 ? 0 : static_cast<double>(info.bytes) / static_cast<double>(info.nonzeros);
  info.planning_seconds = watch.seconds();
  plan.forward = std::move(forward.op);
  plan.info = std::move(info);
  return PlanState<V>::make_plan(std::move(plan));
}

}  // namespace weft
