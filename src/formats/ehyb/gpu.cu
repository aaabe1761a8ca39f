// ehyb on a GPU: a thread block per part.
#include <algorithm>

#include "formats/block_size.hpp"
#include "formats/ehyb/build.cuh"
#include "formats/ehyb/tuning.hpp"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::ehyb {
namespace {

using simt::block_threads;
using ::weft::ehyb::max_vectors_together;

template <int B, class Room, class V>
void launch_multiply(const DeviceLayout& layout, const View<V>& view, const Product<V>& product, Stream stream) {
  constexpr int max_threads = ::weft::ehyb::max_threads(B, Room::vectors);
  constexpr int in_flight = ::weft::ehyb::in_flight(B, Room::vectors);
  const Index stride = (layout.max_cached + 1) * B;
  const std::size_t shared = static_cast<std::size_t>(stride) * Room::vectors * sizeof(V);
  const auto blocks = static_cast<unsigned>(layout.part_count);
  const int threads = layout.threads_for_parts(max_threads);
  if (layout.extra.pieces > 0)
    simt::launch_early(WEFT_KERNEL(ehyb_multiply<V, B, in_flight, Room, max_threads>), blocks, threads, shared, stream,
                       view, product, stride);
  else
    simt::launch(WEFT_KERNEL(ehyb_multiply<V, B, in_flight, Room, max_threads>), blocks, threads, shared, stream, view,
                 product, stride);
}

template <int B, class Room, class V>
void launch_multiply_rows(const DeviceLayout& layout, const View<V>& view, const Product<V>& product, Stream stream) {
  constexpr int blocks_per_part = ::weft::ehyb::blocks_for_rows, resident = ::weft::ehyb::resident_for_rows(B);
  const auto blocks = simt::blocks_for(static_cast<Offset>(layout.part_count) * blocks_per_part, 1);
  if (layout.extra.pieces > 0)
    simt::launch_early(WEFT_KERNEL(ehyb_multiply_rows<V, B, blocks_per_part, Room, resident>), blocks, block_threads, 0,
                       stream, view, product);
  else
    simt::launch(WEFT_KERNEL(ehyb_multiply_rows<V, B, blocks_per_part, Room, resident>), blocks, block_threads, 0,
                 stream, view, product);
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, const BlockChoice& block, const BuildOptions& options)
      : GpuOperatorBase<V>(options.device, source.rows(), source.nonzeros()), square_(source.rows() == source.cols()) {
    gpu::CurrentDevice current(options.device);
    storage_ = build_on_device(source, block, options, rows_of_);
    prepare(source);
  }

  /// Of a storage from a file.
  GpuOperator(const Storage<V>& storage, const MatrixSource<V>& source, Device device)
      : GpuOperatorBase<V>(device, source.rows(), source.nonzeros()),
        square_(source.rows() == source.cols()),
        rows_of_{storage.caches.part_of, storage.caches.row_begin} {
    gpu::CurrentDevice current(device);
    storage_ = with_room_for_values<V>(device, upload_layout(device, storage));
    storage_.layout.columns.upload(storage.columns);
    storage_.values.upload(storage.values);
    if (storage.extra.pieces > 0) storage_.extra_values.upload(storage.extra.values);
    synchronize(device);
    prepare(source);
  }

  Order ordering() override {
    if (!order_.empty()) return order_;
    gpu::CurrentDevice current(this->device());
    const DeviceLayout& layout = storage_.layout;
    ::weft::ehyb::OwnOrder own = ::weft::ehyb::own_order(layout.order.download(), layout.cached.download(),
                                                         layout.extra.host_columns, layout.shape.block, square_);
    own_cached_ = DeviceBuffer<Index>(this->device(), own.cached);
    own_extra_columns_ = DeviceBuffer<Index>(this->device(), own.extra_columns);
    order_ = std::move(own.order);
    return order_;
  }
  void apply_in_order(const Product<V>& product, Stream stream) override {
    if (product.alpha == V(0) || this->entries() == 0) return this->apply(product, stream);  // reads no matrix
    gpu::CurrentDevice current(this->device());
    const DeviceLayout& layout = storage_.layout;
    multiply_with(product, square_ ? own_cached_ : layout.cached, square_ ? own_extra_columns_ : layout.extra.columns,
                  nullptr, stream);
  }

  std::shared_ptr<const Partition> partition() const override {
    Caches caches;
    caches.part_of = rows_of_.part_of;
    caches.row_begin = rows_of_.row_begin;
    return ::weft::ehyb::partition_of_rows(caches, storage_.layout.shape.block);
  }

  OperatorInfo info() const override {
    const DeviceLayout& layout = storage_.layout;
    OperatorInfo info;
    info.details =
        ::weft::ehyb::describe(layout.shape, layout.part_count, layout.max_cached,
                               static_cast<Offset>(layout.cached.size()), layout.extra.entries, this->entries());
    info.bytes = layout.bytes() + storage_.values.bytes() + storage_.extra_values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size() + storage_.extra_values.size()) - this->entries();
    info.numbers = ::weft::ehyb::numbers_of(layout.shape);
    return info;
  }

 private:
  void prepare(const MatrixSource<V>& source) {
    const DeviceLayout& layout = storage_.layout;
    const std::size_t cache =
        (static_cast<std::size_t>(layout.max_cached) + 1) * static_cast<std::size_t>(layout.shape.block) * sizeof(V);
    const bool fits = max_vectors_together * cache <= max_cache_bytes(this->device());
    together_ = fits && layout.shape.block <= ::weft::ehyb::max_block_together ? max_vectors_together : 1;
    extra_sums_ = DeviceBuffer<V>(this->device(), static_cast<std::size_t>(layout.extra.pieces) * max_vectors);
    offsets_ = KeptOffsets(source.state(), this->device());
  }

  void multiply(const Product<V>& product, Stream stream) override {
    const DeviceLayout& layout = storage_.layout;
    multiply_with(product, layout.cached, layout.extra.columns, layout.order.data(), stream);
  }

  void place_values(const V* csr_values) override {
    ehyb::place_values(this->device(), offsets_.on_device().data(), this->entries(), csr_values, storage_);
  }

  void multiply_with(const Product<V>& product, const DeviceBuffer<Index>& cached,
                     const DeviceBuffer<Index>& extra_columns, const Index* order, Stream stream) {
    const DeviceLayout& layout = storage_.layout;
    const View<V> view{.parts = layout.parts.data(),
                       .cached = cached.data(),
                       .order = order,
                       .slices = layout.slices.data(),
                       .columns = layout.columns.data(),
                       .values = storage_.values.data(),
                       .ranges = layout.extra.ranges.data(),
                       .extra_sums = extra_sums_.data(),
                       .pieces = layout.extra.pieces};
    if (has_gaps(product) && product.count > 1) return multiply_rows(view, product, extra_columns.data(), stream);
    for (int first = 0; first < product.count; first += together_) {
      const Product<V> some = product.part(first, std::min(together_, product.count - first));
      if (has_gaps(some))
        multiply_some<RoomFor<1, Reach::rows>>(view, some, extra_columns.data(), stream);
      else if (some.count > 1)
        multiply_some<RoomFor<max_vectors_together, Reach::columns>>(view, some, extra_columns.data(), stream);
      else
        multiply_some<OneVector>(view, some, extra_columns.data(), stream);
    }
  }

  void multiply_rows(const View<V>& view, const Product<V>& product, const Index* extra_columns, Stream stream) {
    with_block_size(storage_.layout.shape.block, [&](auto b) {
      constexpr int together = ::weft::ehyb::max_rows_together(b);
      for (int first = 0; first < product.count; first += together) {
        const Product<V> some = product.part(first, std::min(together, product.count - first));
        const auto multiply_in = [&](auto room) {
          sum_extra<decltype(room)>(some, extra_columns, stream);
          launch_multiply_rows<b, decltype(room)>(storage_.layout, view, some, stream);
        };
        if constexpr (together == max_vectors)
          with_room_for(some, [&](auto room) {
            if constexpr (decltype(room)::reach != Reach::columns) multiply_in(room);
          });
        else
          multiply_in(RoomFor<together, Reach::rows>());
      }
    });
  }

  template <class Room>
  void sum_extra(const Product<V>& product, const Index* extra_columns, Stream stream) {
    const DeviceExtra& extra = storage_.layout.extra;
    if (extra.pieces == 0) return;
    const auto slices = static_cast<Index>(extra.slices.size());
    simt::launch(WEFT_KERNEL(ehyb_sum_extra<V, Room>),
                 simt::blocks_for(static_cast<Offset>(slices) * slice_rows, block_threads), block_threads, 0, stream,
                 slices, extra.slices.data(), extra_columns, std::as_const(storage_.extra_values).data(),
                 extra.places.data(), Offset(extra.pieces), product, extra_sums_.data());
  }

  template <class Room>
  void multiply_some(const View<V>& view, const Product<V>& product, const Index* extra_columns, Stream stream) {
    sum_extra<Room>(product, extra_columns, stream);
    with_block_size(storage_.layout.shape.block, [&](auto b) {
      if constexpr (Room::vectors == 1 || b <= ::weft::ehyb::max_block_together)
        launch_multiply<b, Room>(storage_.layout, view, product, stream);
    });
  }

  bool square_;
  Rows rows_of_;
  KeptOffsets offsets_;
  DeviceStorage<V> storage_;
  Order order_;  // this and what it takes, once requested
  DeviceBuffer<Index> own_cached_, own_extra_columns_;
  int together_ = 1;
  DeviceBuffer<V> extra_sums_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BlockChoice& block,
                                   const BuildOptions& options) {
  return std::make_unique<GpuOperator<V>>(source, block, options);
}

template <Value V>
std::unique_ptr<Operator<V>> load(const Storage<V>& storage, const Csr<V>& matrix, Device device) {
  return std::make_unique<GpuOperator<V>>(storage, matrix, device);
}

template <Value V>
Storage<V> build_storage(const MatrixSource<V>& source, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  Rows rows;
  DeviceStorage<V> built = build_on_device(source, ::weft::ehyb::choose_block(source, options), options, rows);
  const DeviceLayout& layout = built.layout;
  const auto parts_count = static_cast<std::size_t>(layout.part_count);
  Storage<V> storage;
  storage.shape = layout.shape;
  storage.rows = source.rows();
  storage.cols = source.cols();
  storage.caches.part_of = rows.part_of;
  storage.caches.row_begin = rows.row_begin;
  storage.caches.cached = layout.cached.download();
  storage.caches.cache_begin = Array<Offset>(parts_count + 1, 0);
  storage.slice_begin = Array<Index>(parts_count + 1, 0);
  const Array<Part> parts = layout.parts.download();
  for (Index p = 0; p < layout.part_count; ++p) {
    storage.caches.cache_begin[p + 1] = parts[p].cache + parts[p].cached;
    storage.slice_begin[p + 1] = parts[p].slice + parts[p].slices;
  }
  storage.order = layout.order.download();
  storage.slices = layout.slices.download();
  storage.columns = layout.columns.download();
  storage.values = built.values.download();
  storage.entries = static_cast<Offset>(storage.columns.size());
  storage.extra.pieces = layout.extra.pieces;
  storage.extra.slices = layout.extra.slices.download();
  storage.extra.columns = layout.extra.columns.download();
  storage.extra.positions = layout.extra.positions;
  storage.extra.values = built.extra_values.download();
  storage.extra.places = layout.extra.places.download();
  storage.extra.ranges = layout.extra.ranges.download();
  storage.max_cached = layout.max_cached;
  return storage;
}

template <Value V>
Limits limits(Device device) {
  return limits_of<V>(device);
}

#define WEFT_INSTANTIATE(V)                                                                                        \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BlockChoice&, const BuildOptions&); \
  template std::unique_ptr<Operator<V>> load<V>(const Storage<V>&, const Csr<V>&, Device);                         \
  template Storage<V> build_storage<V>(const MatrixSource<V>&, const BuildOptions&);                               \
  template Limits limits<V>(Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
