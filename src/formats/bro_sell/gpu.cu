// bro-sell on a GPU: a thread a slot.
#include <optional>

#include "formats/bro_sell/multiply.cuh"
#include "formats/bro_sell/setup.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {
namespace {

using ::weft::simt::block_threads;

template <class V>
struct DeviceStorage {
  DevicePart<V> blocks, singles;  // as in Storage
};

/// The same steps as build_storage on the CPU.
template <Value V>
DeviceStorage<V> build_on_device(Device device, const Csr<V>& matrix, const Source<V>& source,
                                 const BuildOptions& options) {
  DeviceStorage<V> storage;
  if (matrix.rows == 0) return storage;
  const int block = ::weft::bro_sell::block_for(matrix, options);
  const PatternOnDevice<V> pattern(device, source, block);
  const Array<Offset> offsets = pattern.download_offsets(matrix.offsets);
  const Index rows = pattern.view().rows;
  const Shape shape = ::weft::bro_sell::choose_shape({block, rows, offsets, {}}, options, sizeof(V));
  const auto finish_part = [&](const PatternView& view, Measured<V> measured) {
    return finish(device, source, view, std::move(measured), matrix.nonzeros(), options);
  };
  Measured<V> whole = measure(device, source, pattern.view(), shape,
                              sorted_rows_on_device(device, pattern.view().offsets, offsets, rows, shape.window), rows);
  if (block == 1) {
    storage.singles = finish_part(pattern.view(), std::move(whole));
    return storage;
  }
  if (whole.part.masked_slices > 0) {
    // Some blocks are not full: the host counts what is cheaper there.
    ::weft::bro_sell::Part<V> part;
    part.shape = shape;
    part.rows = rows;
    part.order = whole.part.order.download();
    part.slices = whole.part.slices.download();
    const auto split = ::weft::bro_sell::split_by_bytes(
        matrix, ::weft::bro_sell::find_pattern(matrix.rows, matrix.offsets, matrix.columns, block), part);
    if (!split.singles.empty()) {
      const auto part_of = [&](const PatternView& view, const Shape& cut, const Array<Index>& order) {
        return finish_part(view, measure(device, source, view, cut, DeviceBuffer<Index>(device, order),
                                         static_cast<Index>(order.size())));
      };
      if (!split.blocks.empty()) storage.blocks = part_of(pattern.view(), shape, split.blocks);
      const auto singles = ::weft::bro_sell::cut_singles(matrix.offsets, split.singles, block, options, sizeof(V));
      const PatternOnDevice<V> single(device, source, 1);
      storage.singles = part_of(single.view(), singles.shape, singles.order);
      return storage;
    }
  }
  storage.blocks = finish_part(pattern.view(), std::move(whole));
  return storage;
}

template <class V>
View<V> view_of(const DevicePart<V>& part) {
  View<V> view{.rows = part.rows,
               .slice_count = part.slice_count,
               .width = part.width,
               .slices = part.slices.data(),
               .order = part.order_data(),
               .bases = part.bases.data(),
               .words = part.words.data(),
               .values = part.values.data()};
  while (1 << view.thread_bits < part.shape.threads) ++view.thread_bits;
  return view;
}

template <int Number>
using Constant = std::integral_constant<int, Number>;

/// How many blocks are on their way at once, so that a thread has about 18 values of them.
template <int B>
constexpr int blocks_together = B == 2   ? 4
                                : B == 3 ? 2
                                         : 1;

/// Vectors of one launch: what the registers hold.
constexpr int most_together = 4;

template <int B, class V>
void multiply_blocks(const DevicePart<V>& part, const Product<V>& product, Stream stream, unsigned blocks) {
  constexpr int at_least = B > 3 ? 1 : sizeof(V) == 4 ? 3 : 2;
  const View<V> view = view_of(part);
  if (product.count == 1)
    simt::launch(WEFT_KERNEL(bro_sell_multiply<V, B, blocks_together<B>, true, false, 1, at_least>), blocks,
                 block_threads, 0, stream, view, product);
  else
    simt::launch(WEFT_KERNEL(bro_sell_multiply<V, B, 1, true, false, most_together, 1>), blocks, block_threads, 0,
                 stream, view, product);
}

/// Kernels of single entries by how many blocks shall fit a multiprocessor: what was fastest (bench/NOTES.md).
template <class V>
void multiply_singles(const DevicePart<V>& part, const Product<V>& product, Stream stream, unsigned blocks) {
  const View<V> view = view_of(part);
  const auto launch = [&](auto batch, auto is_wide, auto equal, auto room, auto at_least) {
    simt::launch(
        WEFT_KERNEL(bro_sell_multiply<V, 1, decltype(batch)::value, decltype(is_wide)::value, decltype(equal)::value,
                                      decltype(room)::value, decltype(at_least)::value>),
        blocks, block_threads, 0, stream, view, product);
  };
  constexpr bool f32 = sizeof(V) == 4;
  if (product.count > 1)
    launch(Constant<4>(), std::true_type(), std::false_type(), Constant<most_together>(), Constant<1>());
  else if (part.wide)
    launch(Constant<8>(), std::true_type(), std::false_type(), Constant<1>(), Constant<(f32 ? 6 : 5)>());
  else if (part.width > 0)
    launch(Constant<(f32 ? 4 : 8)>(), std::false_type(), std::true_type(), Constant<1>(), Constant<(f32 ? 8 : 5)>());
  else
    launch(Constant<8>(), std::false_type(), std::false_type(), Constant<1>(), Constant<5>());
}

template <class V>
void multiply_part(const DevicePart<V>& part, const Product<V>& product, Stream stream) {
  if (part.rows == 0) return;
  const unsigned blocks = simt::blocks_for(static_cast<Offset>(part.slice_count) * slice_rows, block_threads);
  const auto with_blocks = [&](auto b) { multiply_blocks<decltype(b)::value>(part, product, stream, blocks); };
  switch (part.shape.block) {
    case 1:
      return multiply_singles(part, product, stream, blocks);
    case 2:
      return with_blocks(Constant<2>());
    case 3:
      return with_blocks(Constant<3>());
    case 4:
      return with_blocks(Constant<4>());
    case 5:
      return with_blocks(Constant<5>());
    default:
      return with_blocks(Constant<6>());
  }
}

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, const BuildOptions& options)
      : device_(options.device), rows_(matrix.rows), offsets_(matrix.offsets) {
    gpu::CurrentDevice current(device_);
    std::optional<CsrOnDevice<V>> source(std::in_place, device_, matrix);
    storage_ = build_on_device<V>(device_, matrix, source->view(), options);
    source.reset();
  }

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0) || offsets_.back() == 0) return scale(rows_, product, stream);
    for (int first = 0; first < product.count; first += most_together) {
      Product<V> some = product;
      some.x += static_cast<std::size_t>(first) * product.x_stride;
      some.y += static_cast<std::size_t>(first) * product.y_stride;
      some.count = product.count - first < most_together ? product.count - first : most_together;
      multiply_part(storage_.blocks, some, stream);
      multiply_part(storage_.singles, some, stream);
    }
  }

  void update_values(std::span<const V> csr_values) override {
    gpu::CurrentDevice current(device_);
    const DeviceBuffer<Offset> offsets(device_, offsets_);
    const DeviceBuffer<V> values(device_, csr_values);
    for (DevicePart<V>* part : {&storage_.blocks, &storage_.singles})
      if (part->rows > 0) fill<V>(device_, offsets.data(), values.data(), *part);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    std::size_t index_bytes = 0, values = 0;
    for (const DevicePart<V>* part : {&storage_.blocks, &storage_.singles}) {
      index_bytes += part->order.bytes() + part->slices.bytes() + part->bases.bytes() + part->words.bytes();
      values += part->values.size();
    }
    info.details = ::weft::bro_sell::describe(storage_.blocks.shape, storage_.blocks.rows, storage_.singles.shape,
                                              storage_.singles.rows, index_bytes, offsets_.back());
    info.bytes = index_bytes + values * sizeof(V);
    info.padding = static_cast<Offset>(values) - offsets_.back();
    return info;
  }

 private:
  Device device_;
  Index rows_;
  Array<Offset> offsets_;  // shared with the caller's matrix
  DeviceStorage<V> storage_;
};

template <class V>
::weft::bro_sell::Part<V> download(const DevicePart<V>& from) {
  ::weft::bro_sell::Part<V> part;
  if (from.rows == 0) return part;
  part.shape = from.shape;
  part.rows = from.rows;
  part.order = from.order.download();
  part.slices = from.slices.download();
  part.bases = from.bases.download();
  part.words = from.words.download();
  part.values = from.values.download();
  part.masked_slices = from.masked_slices;
  part.wide = from.wide;
  part.equally_wide = from.width > 0;
  return part;
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  return std::make_unique<GpuOperator<V>>(matrix, options);
}

template <Value V>
::weft::bro_sell::Storage<V> build_storage(const Csr<V>& matrix, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const CsrOnDevice<V> source(options.device, matrix);
  const DeviceStorage<V> built = build_on_device<V>(options.device, matrix, source.view(), options);
  return {download(built.blocks), download(built.singles)};
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template ::weft::bro_sell::Storage<V> build_storage<V>(const Csr<V>&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
