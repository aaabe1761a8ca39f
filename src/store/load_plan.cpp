#include <weft/error.hpp>
#include <weft/io.hpp>
#include <weft/plan.hpp>

#include <optional>

#include "plan/build.hpp"
#include "store/csr_container.hpp"
#include "store/packed_container.hpp"

namespace weft {
namespace {

std::optional<io::Container> open_container(const std::string& path, const Progress& progress) {
  io::FileBytes file = io::map_file(path);
  if (!io::is_container(file.bytes)) return std::nullopt;
  return io::Container(std::move(file), path, progress);
}

}  // namespace

std::string stored_format(const std::string& path) {
  const std::optional<io::Container> container = open_container(path, {});
  return container ? io::kind_of(*container) : "";
}

template <Value V>
Plan<V> load_plan(const std::string& path, const PlanOptions& options) {
  const Stopwatch watch;
  const std::optional<io::Container> container = open_container(path, options.progress);
  if (!container) return plan(read_weft<V>(path), options);  // which says that it is none
  const Format* const format = io::packed_format(*container);
  if (!format) return plan(io::csr_from_container<V>(*container), options);
  const io::Packed<V> packed = io::unpack<V>(*container, *format);
  const bool as_stored =
      (options.format == "auto" || options.format == format->info.name) && options.order == Ordering::none;
  if (!as_stored) return plan(packed.matrix, options);

  const Device device = options.device.value_or(Device::cpu());
  require_usable(device);
  if (options.partition) require_partition(*options.partition, packed.matrix.rows);
  Built<V> built;
  built.choice = find_format(format->info.name, device, value_type<V>);
  const Stopwatch loading;
  Loaded<V> loaded = format->storing.get<V>().load(packed.arrays, packed.matrix, {.device = device});
  built.op = std::move(loaded.op);
  synchronize(device);
  built.times.encode = loading.seconds();
  PlanInfo info;
  info.stored = loaded.as_stored;
  return finish_plan<V>(std::move(built), std::move(info), {.source = packed.matrix}, {}, options, device, watch);
}

#define WEFT_INSTANTIATE(V) template Plan<V> load_plan<V>(const std::string&, const PlanOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
