#include "store/load_plan.hpp"

#include <weft/error.hpp>

#include "plan/build.hpp"
#include "store/csr_container.hpp"
#include "store/packed_container.hpp"

namespace weft {
namespace {

template <Value V>
std::string recipe_or_name(const io::Packed<V>& packed, const Format& format) {
  return packed.recipe.empty() ? format.info.name : packed.recipe;
}

/// A plan on the format's arrays as they are stored. None when the format keeps rows in parts, and the caller has
/// brought others.
template <Value V>
std::optional<Plan<V>> plan_as_stored(const io::Packed<V>& packed, const Format& format, const PlanOptions& options,
                                      const Stopwatch& watch) {
  const Device device = options.device.value_or(Device::cpu());
  require_usable(device);
  Built<V> built;
  built.choice = find_format(recipe_or_name(packed, format), device, value_type<V>);
  const Stopwatch loading;
  Loaded<V> loaded = format.storing.get<V>().load(packed.arrays, packed.matrix,
                                                  {.device = device,
                                                   .progress = options.progress,
                                                   .parameters = built.choice.parameters,
                                                   .partition = options.partition});
  if ((options.partition || options.coordinates) && loaded.op->partition()) return std::nullopt;
  built.op = std::move(loaded.op);
  if (device.is_cpu()) built.op->use_isa(kernel_isa(format, value_type<V>));
  synchronize(device);
  built.times.encode = loading.seconds();
  PlanInfo info;
  info.stored = loaded.as_stored;
  if (info.stored) info.recipe = packed.recipe;
  return finish_plan<V>(std::move(built), std::move(info), {.source = packed.matrix, .partition = options.partition},
                        {}, options, device, watch);
}

}  // namespace

std::string stored_format(const std::string& path) {
  io::FileBytes file = io::map_file(path);
  if (!io::is_container(file.bytes)) return "";
  return io::kind_of(io::Container(std::move(file), path));
}

std::string stored_recipe(const std::string& path) {
  io::FileBytes file = io::map_file(path);
  if (!io::is_container(file.bytes)) return "";
  const io::Container container(std::move(file), path);
  const Format* const format = io::packed_format(container);
  return format ? io::recipe_in(container, *format) : "";
}

template <Value V>
LoadedPlan<V> load_plan_and_matrix(const std::string& path, const PlanOptions& options) {
  const Stopwatch watch;
  const io::Container container = io::Container::open(path, options.progress);
  const Format* const format = io::packed_format(container);
  if (!format) {
    Csr<V> matrix = io::csr_from_container<V>(container);
    Plan<V> planned = plan(matrix, options);
    return {std::move(planned), std::move(matrix)};
  }
  io::Packed<V> packed = io::unpack<V>(container, *format);
  if (options.partition) require_partition(*options.partition, packed.matrix.rows);
  if (options.coordinates) ordering::require_coordinates_of_nodes(*options.coordinates, packed.matrix.rows);
  PlanOptions anew = options;
  if ((options.format == "auto" || options.format == format->info.name) && options.order == Ordering::none) {
    if (auto planned = plan_as_stored(packed, *format, options, watch))
      return {std::move(*planned), std::move(packed.matrix)};
    anew.format = recipe_or_name(packed, *format);
  }
  Plan<V> planned = plan(packed.matrix, anew);
  return {std::move(planned), std::move(packed.matrix)};
}

template <Value V>
Plan<V> load_plan(const std::string& path, const PlanOptions& options) {
  return load_plan_and_matrix<V>(path, options).plan;
}

#define WEFT_INSTANTIATE(V)                                                               \
  template LoadedPlan<V> load_plan_and_matrix<V>(const std::string&, const PlanOptions&); \
  template Plan<V> load_plan<V>(const std::string&, const PlanOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
