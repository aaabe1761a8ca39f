// ehyb: its entry in the registry and its operator on the CPU.
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "formats/padding_limit.hpp"
#include "formats/vectors.hpp"

namespace weft::ehyb {

template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const Limits& limits, const BuildOptions& options) {
  const Blocks blocks = find_blocks(matrix, options);
  const Shape shape = choose_shape(blocks.pattern.rows, blocks.pattern.block, sizeof(V), limits, options);
  const Stopwatch partitioning;
  Index parts = 0;
  Array<Index> part_of = find_parts(matrix, shape, options, parts);
  const double partition_seconds = partitioning.seconds();
  Caches caches = group_rows(blocks.pattern.rows, matrix.rows == matrix.cols, std::move(part_of), parts);
  find_caches(blocks, shape, caches);
  Storage<V> storage = lay_out(matrix, blocks, std::move(caches), shape, options);
  lay_out_extra(matrix, blocks, storage);
  fill<V>(matrix, blocks, matrix.values, storage);
  fill_extra<V>(matrix.values, storage.extra);
  if (options.times) options.times->partition += partition_seconds;
  return storage;
}

std::string describe(const Shape& shape, Index parts, Index most_cached, Offset loaded, Offset extra_entries,
                     Offset nonzeros) {
  std::array<char, 160> text{};
  const double cached =
      nonzeros == 0 ? 100 : 100 - 100 * static_cast<double>(extra_entries) / static_cast<double>(nonzeros);
  const int length = std::snprintf(text.data(), text.size(),
                                   "%d part%s, caches of up to %lld elements of x, %.1f %% of entries cached", parts,
                                   parts == 1 ? "" : "s", static_cast<long long>(most_cached) * shape.block, cached);
  std::string result(text.data(), static_cast<std::size_t>(length));
  const std::string b = std::to_string(shape.block);
  if (shape.block > 1) result += ", " + b + " x " + b + " blocks";
  // Reading x from far away is what caching saves: for all entries but the extra ones, at the price of loading. A
  // part of a power-law graph may cache most of its entries, each with an x of its own.
  if (extra_entries + loaded * shape.block > nonzeros / 2) result += "; caching cannot pay";
  return result;
}

template <class V>
std::size_t bytes_of(const Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Extra<V>& extra = storage.extra;
  return caches.row_begin.bytes() + caches.cache_begin.bytes() + caches.cached.bytes() + storage.order.bytes() +
         storage.slice_begin.bytes() + storage.slices.bytes() + storage.columns.bytes() + storage.values.bytes() +
         extra.slices.bytes() + extra.columns.bytes() + extra.values.bytes() + extra.places.bytes() +
         extra.ranges.bytes();
}

namespace {

/// Neighbours of such a row are all over the matrix: no partition keeps them together. Told by the lengths alone.
std::string rules_out(const RowLengths& rows, Device) {
  constexpr Offset long_row = 4096;
  constexpr double uneven = 50;
  if (rows.longest_row > long_row && static_cast<double>(rows.longest_row) > uneven * rows.mean_row)
    return "a few rows reach across the matrix, so that its parts have too little in common to cache";
  return "";
}

template <Value V>
class CpuOperator final : public Operator<V> {
 public:
  CpuOperator(const Csr<V>& matrix, Storage<V> storage)
      : matrix_(matrix), storage_(std::move(storage)), most_threads_(threads()) {
    constexpr Offset line = 64 / sizeof(V);  // no cache line for two threads
    cache_stride_ = ((Offset(storage_.most_cached) + 1) * storage_.shape.block + line - 1) / line * line;
    caches_ = Array<V>(static_cast<std::size_t>(cache_stride_ * most_threads_));
    extra_sums_ = Array<V>(static_cast<std::size_t>(storage_.extra.pieces) * max_vectors);
  }

  void apply(const Product<V>& product, Stream) override {
    multiply_with(product, storage_.caches.cached, storage_.extra.columns, storage_.order.data());
  }

  Order ordering() override {
    if (own_.order.empty())
      own_ = own_order(storage_.order, storage_.caches.cached, storage_.extra.columns, storage_.shape.block, square());
    return own_.order;
  }
  void apply_in_order(const Product<V>& product, Stream) override {
    if (square())
      multiply_with(product, own_.cached, own_.extra_columns, nullptr);
    else
      multiply_with(product, storage_.caches.cached, storage_.extra.columns, nullptr);
  }

  std::shared_ptr<const Partition> partition() const override {
    return partition_of_rows(storage_.caches, storage_.shape.block);
  }

  void update_values(std::span<const V> csr_values) override {
    BuildOptions same;
    same.parameters["block"] = storage_.shape.block;
    fill<V>(matrix_, find_blocks(matrix_, same), csr_values, storage_);
    fill_extra<V>(csr_values, storage_.extra);
  }

  OperatorInfo info() const override {
    const Extra<V>& extra = storage_.extra;
    const auto extra_entries = std::ranges::count_if(extra.columns, [](Index column) { return column >= 0; });
    OperatorInfo info;
    info.details = describe(storage_.shape, storage_.caches.parts(), storage_.most_cached,
                            static_cast<Offset>(storage_.caches.cached.size()), extra_entries, matrix_.nonzeros());
    info.bytes = bytes_of(storage_);
    info.padding = static_cast<Offset>(storage_.values.size() + extra.values.size()) - matrix_.nonzeros();
    return info;
  }

 private:
  bool square() const { return matrix_.rows == matrix_.cols; }

  void multiply_with(const Product<V>& product, const Array<Index>& cached, const Array<Index>& extra_columns,
                     const Index* order) {
    if (product.alpha == V(0) || matrix_.nonzeros() == 0) return scale_on_cpu(product, matrix_.rows);
    constexpr Offset entries_a_thread = 4096;  // fewer do not pay for waking it
    const Offset useful = 1 + (matrix_.rows + matrix_.nonzeros()) / entries_a_thread;
    const auto wanted = static_cast<int>(std::min<Offset>(std::min(threads(), most_threads_), useful));
    const Extra<V>& extra = storage_.extra;
    if (extra.pieces > 0)
      WEFT_CALL_ISA(multiply_extra<V>)({.slice_count = static_cast<Index>(extra.slices.size()),
                                        .slices = extra.slices.data(),
                                        .columns = extra_columns.data(),
                                        .values = extra.values.data(),
                                        .places = extra.places.data(),
                                        .pieces = extra.pieces},
                                       product, extra_sums_.data(), wanted);
    const Caches& caches = storage_.caches;
    WEFT_CALL_ISA(multiply<V>)({.block = storage_.shape.block,
                                .parts = caches.parts(),
                                .row_begin = caches.row_begin.data(),
                                .cache_begin = caches.cache_begin.data(),
                                .cached = cached.data(),
                                .order = order,
                                .slice_begin = storage_.slice_begin.data(),
                                .slices = storage_.slices.data(),
                                .columns = storage_.columns.data(),
                                .values = storage_.values.data(),
                                .ranges = extra.ranges.data(),
                                .extra_sums = extra_sums_.data(),
                                .pieces = extra.pieces},
                               product, caches_.data(), cache_stride_, wanted);
  }

  Csr<V> matrix_;  // shares the caller's arrays: new values are placed by them
  Storage<V> storage_;
  OwnOrder own_;  // once asked for
  int most_threads_;
  Offset cache_stride_ = 0;
  Array<V> caches_;      // of each thread
  Array<V> extra_sums_;  // of a product's vectors
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  if (options.device.is_cpu())
    return std::make_unique<CpuOperator<V>>(matrix, build_storage(matrix, cpu_limits<V>(), options));
  return WEFT_ON_DEVICE(options.device, ehyb::build<V>)(source, options);
}

/// What a file is stored for. A GPU that is not here is taken for one of the largest.
template <Value V>
Limits limits_to_store(std::optional<Device> wanted) {
  const bool has_gpu = why_no_gpu().empty();
  const Device device = wanted ? *wanted : has_gpu ? Device::gpu() : Device::cpu();
  if (device.kind() != Device::Kind::gpu || has_gpu) return limits_of<V>(device);
  return {.multiprocessors = 132,
          .cache_bytes = 227 * 1024 - 256,
          .most_cache_bytes = 227 * 1024 - 256,
          .slice_rows = 32,
          .pack = 4,
          .value_pack = 16 / static_cast<int>(sizeof(V))};
}

template <Value V>
bool suits(const Storage<V>& storage, Device device) {
  const Limits limits = limits_of<V>(device);
  const Shape& shape = storage.shape;
  const std::size_t cache =
      (static_cast<std::size_t>(storage.most_cached) + 1) * static_cast<std::size_t>(shape.block) * sizeof(V);
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
    same.parameters["block"] = storage.shape.block;
    return {build(MatrixSource<V>(matrix), same), false};
  }
  find_positions(matrix, storage);
  if (options.device.is_cpu()) return {std::make_unique<CpuOperator<V>>(matrix, std::move(storage))};
  return {WEFT_ON_DEVICE(options.device, ehyb::load<V>)(storage, matrix, options.device)};
}

template <Value V>
Storing<V> storing() {
  return {.store =
              [](const Csr<V>& matrix, const BuildOptions& options) {
                return to_arrays(build_storage(matrix, limits_to_store<V>(options.store_for), options));
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
         6},
        {"parts", "at least so many; else as few as the caches allow, a multiple of the multiprocessors", 1, 1 << 24},
        {"cache", "elements of x that a part may cache; else what the device has", 1, 1 << 18},
        {"guests",
         "1: a part also caches elements of its neighbours, as far as there is room; 0: only its own, as the paper", 0,
         1},
        padding_parameter()};
    f.info.refuses = refuses_padding();
    f.info.storable = true;
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.storing.get<V>() = storing<V>(); });
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.setup_products = 10000;  // METIS on one core, in products of a GPU
    f.rules_out = &rules_out;
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
  template Storage<V> build_storage<V>(const Csr<V>&, const Limits&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
