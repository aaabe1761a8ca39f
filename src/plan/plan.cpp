#include <weft/error.hpp>
#include <weft/plan.hpp>

#include "core/timer.hpp"
#include "formats/registry.hpp"
#include "plan/build.hpp"
#include "plan/choose.hpp"

namespace weft {
template <Value V>
Plan<V> plan(const MatrixSource<V>& source, const PlanOptions& options) {
  const Stopwatch watch;
  const Device device = options.device.value_or(source.device());
  if (options.products < 1) throw Error(ErrorCode::invalid_argument, "products must be 1 or more");
  require_usable(device);
  if (options.partition) require_partition(*options.partition, source.rows());
  if (options.coordinates) ordering::require_coordinates_of_nodes(*options.coordinates, source.rows());

  const Recipe recipe = parse_recipe(options.format);
  PlanInfo info;
  info.ordering = requested_order(recipe, options);
  Stored<V> stored{.source = source};
  Order order;
  if (info.ordering != Ordering::none) {
    const Csr<V>& matrix = source.host();
    const Stopwatch ordering;
    order = weft::order(matrix, info.ordering, {.progress = options.progress});
    if (!order.empty()) stored = put_in_order(matrix, order, device);
    info.setup.order = ordering.seconds();
  }
  stored.partition = in_order(options.partition, order.rows);
  stored.coordinates = points_in_order(options.coordinates, order.rows);
  Built<V> forward;
  if (recipe.format == "auto") {
    Chosen<V> chosen = choose(stored, options, device, info);
    forward = std::move(chosen.built);
    if (chosen.reordered) {
      stored = *std::move(chosen.reordered);
      order = std::move(chosen.order);
    }
  } else {
    const FormatChoice choice = find_format(recipe.format, device, value_type<V>);
    if (!choice.format->info.deterministic && !options.allow_nondeterministic)
      throw Error(ErrorCode::unsupported, "format '" + choice.format->info.name +
                                              "' is not deterministic; plan with allow_nondeterministic to use it");
    forward = build(choice, stored, device, options.progress);
  }
  return finish_plan(std::move(forward), std::move(info), stored, order, options, device, watch);
}

#define WEFT_INSTANTIATE(V) template Plan<V> plan<V>(const MatrixSource<V>&, const PlanOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
