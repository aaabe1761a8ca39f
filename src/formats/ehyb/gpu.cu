// ehyb on a GPU: a block of threads a part.
#include <algorithm>
#include <optional>

#include "core/timer.hpp"
#include "formats/ehyb/setup.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::ehyb {
namespace {

using ::weft::ehyb::Blocks;
using ::weft::ehyb::Limits;
using ::weft::ehyb::Storage;
using ::weft::simt::block_threads;

template <class V>
struct DeviceExtra {
  Index pieces = 0;
  Offset entries = 0;  // without padding
  DeviceBuffer<Slice> slices;
  DeviceBuffer<Index> columns;
  DeviceBuffer<V> values;
  DeviceBuffer<Index> places;
  DeviceBuffer<Range> ranges;
};

/// As Storage. What is only wanted to place new values stays on the host.
template <class V>
struct DeviceStorage {
  Shape shape;
  Index part_count = 0;
  Index most_cached = 0;
  Index slice_count = 0;
  Index most_slices = 0;  // of a part
  DeviceBuffer<Part> parts;
  DeviceBuffer<Index> cached;
  DeviceBuffer<Index> order;
  DeviceBuffer<Slice> slices;
  DeviceBuffer<std::uint16_t> columns;
  DeviceBuffer<V> values;
  DeviceExtra<V> extra;
  ::weft::ehyb::Extra<V> extra_on_host;
  Caches caches;  // who has which rows, nothing else
};

/// A warp a slice, as far as that is possible and there are so many.
template <class V>
int threads_for_parts(const DeviceStorage<V>& storage, int most) {
  return std::min(most, std::max(1, storage.most_slices) * 32);
}

/// One block of threads a multiprocessor, with all of its shared memory but what kernels use besides.
template <class V>
Limits limits_of(Device device) {
  const DeviceInfo info = describe(device);
  Limits limits;
  limits.multiprocessors = device.kind() == Device::Kind::emulator ? 2 : std::max(1, info.multiprocessors);
  limits.cache_bytes = limits.most_cache_bytes = static_cast<std::size_t>(info.shared_bytes) - 256;
  limits.slice_rows = slice_rows;
  limits.pack = column_pack;
  limits.value_pack = value_pack<V>;
  return limits;
}

/// Numbers that a hash table or a list of the set-up may have in shared memory.
template <class V>
Index most_in_table(Device device) {
  return static_cast<Index>(std::min<std::size_t>(most_places, limits_of<V>(device).cache_bytes / sizeof(Index)));
}

Index slices_for(Index rows) { return rows / slice_rows + (rows % slice_rows != 0); }

/// Where the rows and slices of each part begin; what it caches is not known yet.
template <class V>
Array<Part> part_table(const Caches& caches, DeviceStorage<V>& storage) {
  Array<Part> parts(static_cast<std::size_t>(caches.parts()), Part{});
  Index slice = 0;
  for (Index p = 0; p < caches.parts(); ++p) {
    Part& part = parts[p];
    part.row = caches.row_begin[p];
    part.rows = caches.row_begin[p + 1] - part.row;
    part.slice = slice;
    part.slices = slices_for(part.rows);
    slice += part.slices;
    storage.most_slices = std::max(storage.most_slices, part.slices);
  }
  storage.part_count = caches.parts();
  storage.slice_count = slice;
  return parts;
}

/// Whose rows are whose, and the places of columns in the caches of their own part, while they are wanted on the
/// device.
template <class V>
class CachesOnDevice {
 public:
  CachesOnDevice(Device device, const Array<Index>& part_of, Index parts, bool square)
      : part_of_(device, part_of), own_place_(device, square ? part_of.size() : 0), rows_(device, part_of.size()) {
    const auto nodes = static_cast<Index>(part_of.size());
    // Each part looking at all rows is faster than sorting them, up to some billion looks, which the emulator has no
    // time for.
    const Offset most_looks = Offset(1) << (device.kind() == Device::Kind::emulator ? 15 : 34);
    if (Offset(nodes) * parts > most_looks) {
      Caches caches = ::weft::ehyb::group_rows(nodes, square, part_of, parts);
      row_begin_ = std::move(caches.row_begin);
      rows_.upload(caches.rows);
      own_place_.upload(caches.own_place);
      synchronize(device);
      return;
    }
    const int threads = nodes > 4096 ? 1024 : 64;
    const auto blocks = static_cast<unsigned>(parts);
    DeviceBuffer<Index> counts(device, static_cast<std::size_t>(parts));
    simt::launch(WEFT_KERNEL(ehyb_count_rows<V>), blocks, threads, 0, {}, nodes, std::as_const(part_of_).data(),
                 counts.data());
    const Array<Index> found = counts.download();
    row_begin_ = Array<Index>(static_cast<std::size_t>(parts) + 1, 0);
    for (Index p = 0; p < parts; ++p) row_begin_[p + 1] = row_begin_[p] + found[p];
    const DeviceBuffer<Index> begins(device, row_begin_);
    simt::launch(WEFT_KERNEL(ehyb_list_rows<V>), blocks, threads, 0, {}, nodes, std::as_const(part_of_).data(),
                 begins.data(), rows_.data(), square ? own_place_.data() : nullptr);
    synchronize(device);  // before `begins` goes
  }
  CachesView view(const DeviceBuffer<Part>& parts, const DeviceBuffer<Index>& cached) const {
    return {parts.data(), part_of_.data(), own_place_.size() > 0 ? own_place_.data() : nullptr, rows_.data(),
            cached.data()};
  }
  const Index* rows() const { return rows_.data(); }
  const Array<Index>& row_begin() const { return row_begin_; }

 private:
  DeviceBuffer<Index> part_of_, own_place_, rows_;
  Array<Index> row_begin_;
};

/// Guests, order and slices on the device. False where that does not work out: blocks that are not full, more guests
/// than there is room for, or than a hash table takes.
template <class V>
bool lay_out_on_device(Device device, const PatternView& pattern, Index node_cols, Offset blocks,
                       const CachesOnDevice<V>& on_device, bool square, Array<Part>& parts, DeviceStorage<V>& storage,
                       const BuildOptions& options) {
  const auto count = static_cast<unsigned>(storage.part_count);
  const int threads = threads_for_parts(storage, 1024);
  Index largest_own = 0;
  for (const Part& part : parts) largest_own = std::max(largest_own, part.rows);
  Index places = 64;
  while (2 * places <= most_in_table<V>(device) && places < 2 * std::min(node_cols, storage.shape.room)) places *= 2;
  const Index most = std::min(places / 4 * 3, storage.shape.room - (square ? largest_own : 0));
  Array<Index> counts(count, 0);
  DeviceBuffer<Index> guests(device, static_cast<std::size_t>(std::max(0, most)) * count);
  if (storage.shape.guests || !square) {
    if (most < 0) return false;
    DeviceBuffer<Index> found(device, count);
    simt::launch(WEFT_KERNEL(ehyb_find_guests<V>), count, threads, static_cast<std::size_t>(places) * sizeof(Index), {},
                 pattern, on_device.view(storage.parts, storage.cached), places, most, guests.data(), found.data());
    counts = found.download();
    if (std::ranges::any_of(counts, [&](Index n) { return n > most; })) return false;
  } else if (storage.part_count > 1) {
    return false;  // some entries are most likely not cached
  }

  Offset cached = 0;
  for (Index p = 0; p < storage.part_count; ++p) {
    parts[p].cache = cached;
    parts[p].cached = (square ? parts[p].rows : 0) + counts[p];
    storage.most_cached = std::max(storage.most_cached, parts[p].cached);
    cached += parts[p].cached;
  }
  storage.parts.upload(parts);
  storage.cached = DeviceBuffer<Index>(device, static_cast<std::size_t>(cached));
  simt::launch(WEFT_KERNEL(ehyb_gather_cached<V>), count, threads, 0, {}, on_device.view(storage.parts, storage.cached),
               std::as_const(guests).data(), most, storage.cached.data());

  const auto nodes = static_cast<std::size_t>(pattern.rows);
  storage.order = DeviceBuffer<Index>(device, nodes);
  DeviceBuffer<Index> scratch(device, nodes);
  const DeviceBuffer<Index> row_begin(device, storage.caches.row_begin);
  simt::launch(WEFT_KERNEL(sort_windows<Offset>), count, threads, 0, {}, pattern.offsets, pattern.rows, Index(0),
               row_begin.data(), on_device.rows(), storage.order.data(), scratch.data());
  DeviceBuffer<Offset> entries(device, static_cast<std::size_t>(storage.slice_count) + 1);
  simt::launch(WEFT_KERNEL(ehyb_measure<V>), count, threads, 0, {}, pattern, std::as_const(storage.parts).data(),
               std::as_const(storage.order).data(), entries.data());
  simt::exclusive_scan(device, entries.data(), storage.slice_count);
  Offset all = 0;
  ::weft::detail::copy_to_host(device, &all, entries.data() + storage.slice_count, sizeof all, {});
  ::weft::ehyb::require_sensible<V>(all, blocks, storage.shape.block, options);
  storage.slices = DeviceBuffer<Slice>(device, static_cast<std::size_t>(storage.slice_count));
  simt::launch(WEFT_KERNEL(ehyb_place_slices<V>), simt::blocks_for(storage.slice_count, block_threads), block_threads,
               0, {}, storage.slice_count, std::as_const(entries).data(), storage.slices.data());
  storage.columns = DeviceBuffer<std::uint16_t>(device, static_cast<std::size_t>(all));
  storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(all * storage.shape.block * storage.shape.block));
  synchronize(device);  // before scratch goes
  return true;
}

/// What the host has laid out, and the extra part without its values, to the device.
template <Value V>
void upload_layout(Device device, const Storage<V>& from, DeviceStorage<V>& storage) {
  storage.shape = from.shape;
  storage.caches.part_of = from.caches.part_of;
  storage.caches.row_begin = from.caches.row_begin;
  storage.most_cached = from.most_cached;
  Array<Part> parts = part_table(from.caches, storage);
  for (Index p = 0; p < storage.part_count; ++p) {
    parts[p].cache = from.caches.cache_begin[p];
    parts[p].cached = from.caches.cached_by(p);
  }
  storage.parts = DeviceBuffer<Part>(device, parts);
  storage.cached = DeviceBuffer<Index>(device, from.caches.cached);
  storage.order = DeviceBuffer<Index>(device, from.order);
  storage.slices = DeviceBuffer<Slice>(device, from.slices);
  const ::weft::ehyb::Extra<V>& extra = from.extra;
  if (extra.pieces == 0) return;
  storage.extra.pieces = extra.pieces;
  storage.extra.entries = std::ranges::count_if(extra.columns, [](Index column) { return column >= 0; });
  storage.extra.slices = DeviceBuffer<Slice>(device, extra.slices);
  storage.extra.columns = DeviceBuffer<Index>(device, extra.columns);
  storage.extra.values = DeviceBuffer<V>(device, extra.values.size());
  storage.extra.places = DeviceBuffer<Index>(device, extra.places);
  storage.extra.ranges = DeviceBuffer<Range>(device, extra.ranges);
  storage.extra_on_host = extra;
}

/// Columns and values from csr on the device; those of the extra part come from the host.
template <Value V>
void fill(Device device, const Source<V>& source, const PatternView& pattern, const CachesOnDevice<V>& caches,
          std::span<const V> csr_values, DeviceStorage<V>& storage) {
  Index most = storage.most_cached;
  if (most > most_in_table<V>(device)) most = 0;
  constexpr unsigned blocks_a_part = 8;
  simt::launch(
      WEFT_KERNEL(ehyb_fill<V>),
      dim3(static_cast<unsigned>(storage.part_count), device.kind() == Device::Kind::emulator ? 1u : blocks_a_part),
      block_threads, static_cast<std::size_t>(most) * sizeof(Index), {}, source, pattern,
      caches.view(storage.parts, storage.cached), std::as_const(storage.order).data(),
      std::as_const(storage.slices).data(), most, storage.columns.data(), storage.values.data());
  if (storage.extra.pieces > 0) {
    ::weft::ehyb::fill_extra<V>(csr_values, storage.extra_on_host);
    storage.extra.values.upload(storage.extra_on_host.values);
  }
  synchronize(device);
}

template <Value V>
DeviceStorage<V> build_on_device(Device device, const Csr<V>& matrix, const Source<V>& source,
                                 const BuildOptions& options, double& partition_seconds) {
  const Limits limits = limits_of<V>(device);
  const bool square = matrix.rows == matrix.cols;
  int block = ::weft::bro_sell::block_for(matrix, options);
  std::optional<PatternOnDevice<V>> pattern(std::in_place, device, source, block);
  const auto count_blocks = [&] {
    Offset blocks = 0;
    ::weft::detail::copy_to_host(device, &blocks, pattern->view().offsets + pattern->view().rows, sizeof blocks, {});
    return blocks;
  };
  const Offset blocks = count_blocks();
  const bool all_full = blocks * block * block == matrix.nonzeros();
  std::optional<Blocks> on_host;
  if (!all_full) {
    on_host = ::weft::ehyb::find_blocks(matrix, options);
    if (on_host->pattern.block != block) {
      block = on_host->pattern.block;
      pattern.emplace(device, source, block);
    }
  }

  DeviceStorage<V> storage;
  storage.shape = ::weft::ehyb::choose_shape(pattern->view().rows, block, sizeof(V), limits, options);
  const Stopwatch partitioning;
  Index parts = 0;
  Array<Index> part_of = ::weft::ehyb::find_parts(matrix, storage.shape, options, parts);
  partition_seconds = partitioning.seconds();
  const CachesOnDevice<V> on_device(device, part_of, parts, square);
  storage.caches.part_of = part_of;
  storage.caches.row_begin = on_device.row_begin();
  bool laid_out = false;
  if (all_full) {
    Array<Part> table = part_table(storage.caches, storage);
    storage.parts = DeviceBuffer<Part>(device, table);
    laid_out = lay_out_on_device<V>(device, pattern->view(), matrix.cols / block, blocks, on_device, square, table,
                                    storage, options);
  }
  if (!laid_out) {
    if (!on_host) on_host = ::weft::ehyb::find_blocks(matrix, options);
    Caches caches = ::weft::ehyb::group_rows(pattern->view().rows, square, part_of, parts);
    ::weft::ehyb::find_caches(*on_host, storage.shape, caches);
    Storage<V> layout = ::weft::ehyb::lay_out(matrix, *on_host, std::move(caches), storage.shape, options);
    ::weft::ehyb::lay_out_extra(matrix, *on_host, layout);
    upload_layout(device, layout, storage);
    storage.columns = DeviceBuffer<std::uint16_t>(device, static_cast<std::size_t>(layout.entries));
    storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(layout.entries * block * block));
  }
  fill<V>(device, source, pattern->view(), on_device, matrix.values, storage);
  return storage;
}

/// Threads of a block, and what a thread has on its way at once: what was fastest (bench/NOTES.md).
template <int B>
constexpr int threads_for = B == 1   ? 1024
                            : B == 2 ? 768
                            : B == 3 ? 768
                                     : 512;
template <int B>
constexpr int together_for = B == 1   ? 8
                             : B == 2 ? 4
                             : B == 3 ? 2
                                      : 1;

template <int B, int Room, class V>
void launch_multiply(const DeviceStorage<V>& storage, const View<V>& view, const Product<V>& product, Stream stream) {
  constexpr int most_threads = Room > 1 && B > 1 ? 512 : threads_for<B>;
  constexpr int together = Room == 1 ? together_for<B> : B == 1 ? 4 : 1;
  const Index stride = (storage.most_cached + 1) * B;
  const std::size_t shared = static_cast<std::size_t>(stride) * Room * sizeof(V);
  const auto blocks = static_cast<unsigned>(storage.part_count);
  const int threads = threads_for_parts(storage, most_threads);
  if (storage.extra.pieces > 0)
    simt::launch_early(WEFT_KERNEL(ehyb_multiply<V, B, together, Room, most_threads>), blocks, threads, shared, stream,
                       view, product, stride);
  else
    simt::launch(WEFT_KERNEL(ehyb_multiply<V, B, together, Room, most_threads>), blocks, threads, shared, stream, view,
                 product, stride);
}

/// Several vectors are worth kernels of their own for blocks up to this size.
constexpr int largest_block_together = 3;

template <int Room, class V>
void multiply(const DeviceStorage<V>& storage, const View<V>& view, const Product<V>& product, Stream stream) {
  const int block = storage.shape.block;
  if (block == 1) return launch_multiply<1, Room>(storage, view, product, stream);
  if (block == 2) return launch_multiply<2, Room>(storage, view, product, stream);
  if (block == 3) return launch_multiply<3, Room>(storage, view, product, stream);
  if constexpr (Room == 1) {
    if (block == 4) return launch_multiply<4, 1>(storage, view, product, stream);
    if (block == 5) return launch_multiply<5, 1>(storage, view, product, stream);
    launch_multiply<6, 1>(storage, view, product, stream);
  }
}

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, const BuildOptions& options) : device_(options.device), matrix_(matrix) {
    gpu::CurrentDevice current(device_);
    std::optional<CsrOnDevice<V>> source(std::in_place, device_, matrix);
    storage_ = build_on_device<V>(device_, matrix, source->view(), options, partition_seconds_);
    source.reset();
    prepare();
  }

  /// Of a storage from a file.
  GpuOperator(const Storage<V>& storage, const Csr<V>& matrix, Device device) : device_(device), matrix_(matrix) {
    gpu::CurrentDevice current(device_);
    upload_layout(device_, storage, storage_);
    storage_.columns = DeviceBuffer<std::uint16_t>(device_, storage.columns);
    storage_.values = DeviceBuffer<V>(device_, storage.values);
    if (storage_.extra.pieces > 0) storage_.extra.values.upload(storage.extra.values);
    synchronize(device_);
    prepare();
  }

  void apply(const Product<V>& product, Stream stream) override {
    multiply_with(product, storage_.cached, storage_.extra.columns, storage_.order.data(), stream);
  }

  Order ordering() override {
    if (!order_.empty()) return order_;
    gpu::CurrentDevice current(device_);
    ::weft::ehyb::OwnOrder own =
        ::weft::ehyb::own_order(storage_.order.download(), storage_.cached.download(), storage_.extra_on_host.columns,
                                storage_.shape.block, square());
    own_cached_ = DeviceBuffer<Index>(device_, own.cached);
    own_extra_columns_ = DeviceBuffer<Index>(device_, own.extra_columns);
    order_ = std::move(own.order);
    return order_;
  }
  void apply_in_order(const Product<V>& product, Stream stream) override {
    if (square())
      multiply_with(product, own_cached_, own_extra_columns_, nullptr, stream);
    else
      multiply_with(product, storage_.cached, storage_.extra.columns, nullptr, stream);
  }

  std::shared_ptr<const Partition> partition() const override {
    return ::weft::ehyb::partition_of_rows(storage_.caches, storage_.shape.block);
  }

  void update_values(std::span<const V> csr_values) override {
    gpu::CurrentDevice current(device_);
    const CsrOnDevice<V> source(device_, matrix_, csr_values);
    const PatternOnDevice<V> pattern(device_, source.view(), storage_.shape.block);
    const CachesOnDevice<V> caches(device_, storage_.caches.part_of, storage_.part_count, square());
    fill<V>(device_, source.view(), pattern.view(), caches, csr_values, storage_);
  }

  OperatorInfo info() const override {
    const DeviceExtra<V>& extra = storage_.extra;
    OperatorInfo info;
    info.details =
        ::weft::ehyb::describe(storage_.shape, storage_.part_count, storage_.most_cached,
                               static_cast<Offset>(storage_.cached.size()), extra.entries, matrix_.nonzeros());
    info.bytes = storage_.parts.bytes() + storage_.cached.bytes() + storage_.order.bytes() + storage_.slices.bytes() +
                 storage_.columns.bytes() + storage_.values.bytes() + extra.slices.bytes() + extra.columns.bytes() +
                 extra.values.bytes() + extra.places.bytes() + extra.ranges.bytes();
    info.padding = static_cast<Offset>(storage_.values.size() + extra.values.size()) - matrix_.nonzeros();
    return info;
  }

 private:
  /// Vectors of one launch: what shared memory and registers hold.
  static constexpr int most_together = 2;

  void prepare() {
    const std::size_t cache = (static_cast<std::size_t>(storage_.most_cached) + 1) *
                              static_cast<std::size_t>(storage_.shape.block) * sizeof(V);
    const bool fits = 2 * cache <= limits_of<V>(device_).cache_bytes;
    together_ = fits && storage_.shape.block <= largest_block_together ? 2 : 1;
    extra_sums_ = DeviceBuffer<V>(device_, static_cast<std::size_t>(storage_.extra.pieces) * most_together);
  }

  bool square() const { return matrix_.rows == matrix_.cols; }

  void multiply_with(const Product<V>& product, const DeviceBuffer<Index>& cached,
                     const DeviceBuffer<Index>& extra_columns, const Index* order, Stream stream) {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0) || matrix_.nonzeros() == 0) return scale(matrix_.rows, product, stream);
    View<V> view{.parts = storage_.parts.data(),
                 .cached = cached.data(),
                 .order = order,
                 .slices = storage_.slices.data(),
                 .columns = storage_.columns.data(),
                 .values = storage_.values.data(),
                 .ranges = storage_.extra.ranges.data(),
                 .extra_sums = extra_sums_.data(),
                 .pieces = storage_.extra.pieces};
    for (int first = 0; first < product.count; first += together_) {
      Product<V> some = product;
      some.x += static_cast<std::size_t>(first) * product.x_stride;
      some.y += static_cast<std::size_t>(first) * product.y_stride;
      some.count = std::min(together_, product.count - first);
      if (some.count == 2) {
        sum_extra<2>(some, extra_columns.data(), stream);
        multiply<2>(storage_, view, some, stream);
      } else {
        sum_extra<1>(some, extra_columns.data(), stream);
        multiply<1>(storage_, view, some, stream);
      }
    }
  }

  template <int Room>
  void sum_extra(const Product<V>& product, const Index* columns, Stream stream) {
    const DeviceExtra<V>& extra = storage_.extra;
    if (extra.pieces == 0) return;
    const auto slices = static_cast<Index>(extra.slices.size());
    simt::launch(WEFT_KERNEL(ehyb_sum_extra<V, Room>),
                 simt::blocks_for(static_cast<Offset>(slices) * slice_rows, block_threads), block_threads, 0, stream,
                 slices, extra.slices.data(), columns, extra.values.data(), extra.places.data(), Offset(extra.pieces),
                 product, extra_sums_.data());
  }

  Device device_;
  Csr<V> matrix_;  // shares the caller's arrays: new values are placed by them
  double partition_seconds_ = 0;
  DeviceStorage<V> storage_;
  Order order_;  // this and what it takes, once asked for
  DeviceBuffer<Index> own_cached_, own_extra_columns_;
  int together_ = 1;
  DeviceBuffer<V> extra_sums_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  return std::make_unique<GpuOperator<V>>(matrix, options);
}

template <Value V>
std::unique_ptr<Operator<V>> load(const Storage<V>& storage, const Csr<V>& matrix, Device device) {
  return std::make_unique<GpuOperator<V>>(storage, matrix, device);
}

template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const CsrOnDevice<V> source(options.device, matrix);
  double partition_seconds = 0;
  DeviceStorage<V> built = build_on_device<V>(options.device, matrix, source.view(), options, partition_seconds);
  Storage<V> storage;
  storage.shape = built.shape;
  storage.rows = matrix.rows;
  storage.cols = matrix.cols;
  storage.caches = std::move(built.caches);
  storage.caches.cached = built.cached.download();
  storage.caches.cache_begin = Array<Offset>(static_cast<std::size_t>(built.part_count) + 1, 0);
  storage.slice_begin = Array<Index>(static_cast<std::size_t>(built.part_count) + 1, 0);
  const Array<Part> parts = built.parts.download();
  for (Index p = 0; p < built.part_count; ++p) {
    storage.caches.cache_begin[p + 1] = parts[p].cache + parts[p].cached;
    storage.slice_begin[p + 1] = parts[p].slice + parts[p].slices;
  }
  storage.order = built.order.download();
  storage.slices = built.slices.download();
  storage.columns = built.columns.download();
  storage.values = built.values.download();
  storage.entries = static_cast<Offset>(storage.columns.size());
  storage.extra = std::move(built.extra_on_host);
  storage.most_cached = built.most_cached;
  return storage;
}

template <Value V>
Limits limits(Device device) {
  return limits_of<V>(device);
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template std::unique_ptr<Operator<V>> load<V>(const Storage<V>&, const Csr<V>&, Device);     \
  template Storage<V> build_storage<V>(const Csr<V>&, const BuildOptions&);                    \
  template Limits limits<V>(Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
