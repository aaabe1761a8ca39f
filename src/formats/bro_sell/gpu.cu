// bro-sell on a GPU: a thread per slot.
#include "facts/source_facts.hpp"
#include "formats/block_size.hpp"
#include "formats/bro_sell/multiply.cuh"
#include "formats/bro_sell/tuning.hpp"
#include "formats/bro_sell/values.cuh"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {
namespace {

using simt::block_threads;
using ::weft::bro_sell::max_vectors_together;

template <class V>
struct DeviceStorage {
  DevicePart<V> blocks, singles;  // as in Storage
};

template <Value V>
DeviceStorage<V> build_on_device(const MatrixSource<V>& source, const BuildOptions& options) {
  const Device device = options.device;
  SourceState<V>& state = source.state();
  const Source<V> csr = csr_on_device(source, device);
  DeviceLayouts layouts =
      lay_out({.device = device,
               .matrix = pattern_of(csr),
               .nonzeros = source.nonzeros(),
               .block = ::weft::bro_sell::block_for(source, options),
               .value_bytes = sizeof(V),
               .rows = ::weft::sell::rows_to_cut(source, device),
               .choose_shape = &::weft::bro_sell::choose_shape<V>,
               .options = options,
               .host_offsets = [&state]() -> const Array<Offset>& { return state.host_offsets(); }});
  const auto with_values = [&](DeviceLayout layout) {
    const auto entries = static_cast<std::size_t>(layout.entries);
    DevicePart<V> part{std::move(layout), DeviceBuffer<V>(device, entries)};
    place_values(device, csr.offsets, csr.values, part);
    return part;
  };
  return {with_values(std::move(layouts.blocks)), with_values(std::move(layouts.singles))};
}

template <class V>
View<V> view_of(const DevicePart<V>& part) {
  const DeviceLayout& layout = part.layout;
  View<V> view{.rows = layout.rows,
               .slice_count = layout.slice_count,
               .width = layout.width,
               .slices = layout.slices.data(),
               .order = layout.order_data(),
               .bases = layout.bases.data(),
               .words = layout.words.data(),
               .values = part.values.data()};
  while (1 << view.thread_bits < layout.shape.threads) ++view.thread_bits;
  return view;
}

/// As with_room_for, with one size for several vectors.
template <class V, class F>
void with_room(const Product<V>& product, F&& body) {
  using Packed = RoomFor<max_vectors_together, Reach::packed>;
  if (product.count == 1 && !has_gaps(product)) return body(OneVector());
  if (is_packed<Packed>(product)) return body(Packed());
  if (has_gaps(product)) return body(RoomFor<max_vectors_together, Reach::rows>());
  body(RoomFor<max_vectors_together, Reach::columns>());
}

template <int B, class V>
void multiply_blocks(const DevicePart<V>& part, const Product<V>& product, Stream stream, unsigned blocks) {
  constexpr int together = ::weft::bro_sell::blocks_together(B);
  constexpr int resident = B > 3 ? 1 : ::weft::bro_sell::resident_for_blocks.of<V>();
  const View<V> view = view_of(part);
  with_room(product, [&](auto room) {
    using Room = decltype(room);
    constexpr bool one = Room::vectors == 1, rows = Room::reach != Reach::columns;
    constexpr int fitting = one ? resident : rows && B <= 3 ? ::weft::bro_sell::resident_for_rows_of_blocks : 1;
    constexpr int in_flight = one ? together : 1;
    simt::launch(WEFT_KERNEL(bro_sell_multiply<V, B, in_flight, true, false, Room, fitting>), blocks, block_threads, 0,
                 stream, view, product);
  });
}

template <class V>
void multiply_singles(const DevicePart<V>& part, const Product<V>& product, Stream stream, unsigned blocks) {
  using namespace ::weft::bro_sell;
  const View<V> view = view_of(part);
  with_room(product, [&](auto room) {
    const auto launch = [&]<int Batch, bool Wide, bool Equal, int Resident>() {
      simt::launch(WEFT_KERNEL(bro_sell_multiply<V, 1, Batch, Wide, Equal, decltype(room), Resident>), blocks,
                   block_threads, 0, stream, view, product);
    };
    if constexpr (decltype(room)::vectors > 1)
      launch.template operator()<4, true, false, 1>();
    else if (part.layout.wide)
      launch.template operator()<8, true, false, resident_for_wide.of<V>()>();
    else if (part.layout.width > 0)
      launch.template operator()<batch_for_equal.of<V>(), false, true, resident_for_equal.of<V>()>();
    else
      launch.template operator()<8, false, false, resident_for_others>();
  });
}

template <class V>
void multiply_part(const DevicePart<V>& part, const Product<V>& product, Stream stream) {
  if (part.layout.rows == 0) return;
  const unsigned blocks = simt::blocks_for(static_cast<Offset>(part.layout.slice_count) * slice_rows, block_threads);
  with_block_size(part.layout.shape.block, [&](auto b) {
    if constexpr (b == 1)
      multiply_singles(part, product, stream, blocks);
    else
      multiply_blocks<b>(part, product, stream, blocks);
  });
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, const BuildOptions& options)
      : GpuOperatorBase<V>(options.device, source.rows(), source.nonzeros()) {
    gpu::CurrentDevice current(options.device);
    storage_ = build_on_device(source, options);
    offsets_ = KeptOffsets(source.state(), options.device);
  }

  OperatorInfo info() const override {
    const DeviceLayout &blocks = storage_.blocks.layout, &singles = storage_.singles.layout;
    const std::size_t index_bytes = blocks.bytes() + singles.bytes();
    const Offset values = blocks.entries + singles.entries;
    OperatorInfo info;
    info.details = ::weft::bro_sell::describe(blocks.shape, blocks.rows, singles.shape, singles.rows, index_bytes,
                                              this->entries());
    info.bytes = index_bytes + static_cast<std::size_t>(values) * sizeof(V);
    info.padding = values - this->entries();
    info.numbers = ::weft::bro_sell::numbers_of(blocks.shape, singles.shape, singles.rows);
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    for (int first = 0; first < product.count; first += max_vectors_together) {
      const Product<V> some = product.part(first, std::min(max_vectors_together, product.count - first));
      multiply_part(storage_.blocks, some, stream);
      multiply_part(storage_.singles, some, stream);
    }
  }

  void place_values(const V* csr_values) override {
    const DeviceArray<Offset> offsets = offsets_.on_device();
    bro_sell::place_values(this->device(), offsets.data(), csr_values, storage_.blocks);
    bro_sell::place_values(this->device(), offsets.data(), csr_values, storage_.singles);
  }

  KeptOffsets offsets_;
  DeviceStorage<V> storage_;
};

template <class V>
::weft::bro_sell::Part<V> download(const DevicePart<V>& from) {
  const DeviceLayout& layout = from.layout;
  ::weft::bro_sell::Part<V> part;
  part.shape = layout.shape;
  if (layout.rows == 0) return part;
  part.rows = layout.rows;
  part.order = layout.order.download();
  part.slices = layout.slices.download();
  part.bases = layout.bases.download();
  part.words = layout.words.download();
  part.values = from.values.download();
  part.masked_slices = layout.masked_slices;
  part.wide = layout.wide;
  part.equally_wide = layout.width > 0;
  return part;
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return std::make_unique<GpuOperator<V>>(source, options);
}

template <Value V>
::weft::bro_sell::Storage<V> build_storage(const MatrixSource<V>& source, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const DeviceStorage<V> built = build_on_device(source, options);
  return {download(built.blocks), download(built.singles)};
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template ::weft::bro_sell::Storage<V> build_storage<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
