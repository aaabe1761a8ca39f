// ehyb: the set-up on the CPU, files, and its entry in the registry.
#include <algorithm>

#include "facts/blocks.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "formats/padding_limit.hpp"

namespace weft::ehyb {

template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const BlockChoice& block, const Limits& limits,
                         const BuildOptions& options) {
  const Blocks blocks = find_blocks(matrix, block);
  const Shape shape = choose_shape(blocks.pattern.rows, blocks.pattern.block, sizeof(V), limits, options);
  Index parts = 0;
  Array<Index> part_of = find_parts(matrix, shape, options, parts);
  Caches caches = group_rows(blocks.pattern.rows, matrix.rows == matrix.cols, std::move(part_of), parts);
  find_caches(blocks, shape, caches);
  Storage<V> storage = lay_out(matrix, blocks, std::move(caches), shape, options);
  lay_out_extra(matrix, blocks, storage);
  fill_columns(blocks, storage);
  place_values<V>(matrix.offsets, matrix.columns, matrix.values, storage);
  return storage;
}

namespace {

template <Value V>
std::unique_ptr<Operator<V>> build_with(const MatrixSource<V>& source, const BlockChoice& block,
                                        const BuildOptions& options) {
  if (!options.device.is_cpu()) return WEFT_ON_DEVICE(options.device, ehyb::build<V>)(source, block, options);
  const Csr<V>& matrix = source.host();
  return make_cpu_operator(matrix, build_storage(matrix, block, cpu_limits<V>(), options));
}

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (!options.device.is_cpu()) source.state().on_device(options.device);  // blocks are found sooner there
  return build_with(source, choose_block(source, options), options);
}

/// What a file is stored for. A GPU that is not here is taken for one of the largest.
template <Value V>
Limits limits_to_store(std::optional<Device> wanted) {
  const bool has_gpu = why_no_gpu().empty();
  const Device device = wanted ? *wanted : has_gpu ? Device::gpu() : Device::cpu();
  if (device.kind() != Device::Kind::gpu || has_gpu) return limits_of<V>(device);
  return {.multiprocessors = 132,
          .cache_bytes = 227 * 1024 - 256,
          .max_cache_bytes = 227 * 1024 - 256,
          .slice_rows = 32,
          .pack = 4,
          .value_pack = 16 / static_cast<int>(sizeof(V))};
}

template <Value V>
bool suits(const Storage<V>& storage, Device device) {
  const Limits limits = limits_of<V>(device);
  const Shape& shape = storage.shape;
  const std::size_t cache =
      (static_cast<std::size_t>(storage.max_cached) + 1) * static_cast<std::size_t>(shape.block) * sizeof(V);
  return shape.slice_rows == limits.slice_rows && shape.pack == limits.pack && shape.value_pack == limits.value_pack &&
         (device.is_cpu() || cache <= limits.cache_bytes);
}

template <Value V>
Loaded<V> load(const StoredArrays& arrays, const Csr<V>& matrix, const BuildOptions& options) {
  Storage<V> storage = from_arrays<V>(arrays, matrix.rows, matrix.cols);
  if (!suits(storage, options.device)) {
    // The parts, which took the longest, serve any device.
    BuildOptions same = options;
    same.partition = partition_of_rows(storage.caches, storage.shape.block);
    return {build_with(MatrixSource<V>(matrix), {storage.shape.block, true}, same), false};
  }
  find_positions(matrix, storage);
  if (options.device.is_cpu()) return {make_cpu_operator(matrix, std::move(storage))};
  return {WEFT_ON_DEVICE(options.device, ehyb::load<V>)(storage, matrix, options.device)};
}

template <Value V>
Storing<V> storing() {
  return {.store =
              [](const Csr<V>& matrix, const BuildOptions& options) {
                return to_arrays(build_storage(matrix, choose_block(MatrixSource<V>(matrix), options),
                                               limits_to_store<V>(options.store_for), options));
              },
          .unpack = [](const StoredArrays& arrays, Index rows,
                       Index cols) { return decode(from_arrays<V>(arrays, rows, cols)); },
          .load = &load<V>};
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "ehyb";
    f.info.summary =
        "rows in parts of the graph, each with its x in fast memory and 16-bit columns: meshes, many products";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"block", "unknowns of a node, whose blocks share a column number; 1: no blocks; else what the matrix shows", 1,
         max_block},
        {"parts",
         "so many, or more if the caches need them; else as few as these allow, a multiple of the multiprocessors", 1,
         1 << 24},
        {"cache", "elements of x that a part may cache; else what the device has", 1, 1 << 18},
        {"guests",
         "1: a part also caches elements of its neighbours, as far as there is room; 0: only its own, as the paper", 0,
         1},
        padding_parameter()};
    f.info.refuses = refuses_padding();
    f.info.storable = true;
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.storing.get<V>() = storing<V>(); });
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    return f;
  }();
  return format;
}

template <Value V>
Limits limits_of(Device device) {
  return device.is_cpu() ? cpu_limits<V>() : WEFT_ON_DEVICE(device, ehyb::limits<V>)(device);
}

#define WEFT_INSTANTIATE(V)             \
  template Limits limits_of<V>(Device); \
  template Storage<V> build_storage<V>(const Csr<V>&, const BlockChoice&, const Limits&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
