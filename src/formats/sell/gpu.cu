// sell on a GPU: a thread, or t of them, follows a row.
#include <optional>

#include "formats/column_groups.cuh"
#include "formats/sell/sell.hpp"
#include "formats/sell/setup.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::sell {
namespace {

using ::weft::simt::block_threads;
using WarpRows = std::integral_constant<Index, 32>;

template <class V>
struct View {
  Index rows = 0;
  Index slice_rows = 0;
  Index width = 0;                // of all slices, when they are equally wide
  const Slice* slices = nullptr;  // when they are not
  const Index* bases = nullptr;   // equally wide slices of 16-bit columns
  const Index* order = nullptr;   // null: rows are not sorted
  const std::uint16_t* columns = nullptr;
  const V* values = nullptr;
};

template <int Room, class V>
__device__ __forceinline__ void store_sums(const View<V>& view, const Product<V>& product, Index slot,
                                           const V (&sums)[Room]) {
  const Index row = view.order ? view.order[slot] : slot;
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j)
    if (j < product.count) store_sum(product, row, j, sums[j]);
}

/// Slices of a warp, equally wide: nothing has to be looked up before the matrix can be asked for.
template <class V, class Column, int Batch, int Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    sell_equal(View<V> view, Product<V> product) {
  const Offset slot = simt::global_thread_id();
  const Offset slice = slot / WarpRows::value;
  if (slice * WarpRows::value >= view.rows) return;
  const Offset begin = slice * view.width * WarpRows::value;
  const V* x = product.x;
  if constexpr (sizeof(Column) == 2) x += simt::load_readonly(view.bases + slice);
  V sums[Room] = {};
  sum_grouped_row<Batch>(view.values + begin, reinterpret_cast<const Column*>(view.columns) + begin,
                         static_cast<Index>(slot % WarpRows::value), WarpRows(), view.width, product, x, sums);
  if (slot < view.rows) store_sums(view, product, static_cast<Index>(slot), sums);
}

template <int Batch, int Room, class V, class Rows>
__device__ __forceinline__ void sum_slot(const View<V>& view, const Product<V>& product, Offset slot, Rows rows,
                                         V (&sums)[Room]) {
  const Offset number = slot / rows;
  const auto row = static_cast<Index>(slot - number * rows);
  const Slice slice = view.slices[number];
  const V* const values = view.values + slice.entry;
  const std::uint16_t* const columns = view.columns + slice.column;
  if (slice.base >= 0)
    sum_grouped_row<Batch>(values, columns, row, rows, slice.width, product, product.x + slice.base, sums);
  else
    sum_grouped_row<Batch>(values, reinterpret_cast<const Index*>(columns), row, rows, slice.width, product, product.x,
                           sums);
}

/// Slices of any width and any number of rows.
template <class V, class Rows, int Batch, int Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    sell_slices(View<V> view, Rows rows, Product<V> product) {
  const Offset slot = simt::global_thread_id();
  if (slot >= view.rows) return;
  V sums[Room] = {};
  sum_slot<Batch>(view, product, slot, rows, sums);
  store_sums(view, product, static_cast<Index>(slot), sums);
}

/// The same with Threads threads a row, which add up what they have by shuffles (the paper's kernel has barriers in
/// branches that not all threads take).
template <class V, int Threads, int Room>
__global__ void __launch_bounds__(block_threads) sell_striped(View<V> view, Product<V> product) {
  const Offset thread = simt::global_thread_id();
  const Offset slot = thread / Threads;
  V sums[Room] = {};
  if (slot < view.rows) {
    const Offset number = slot / view.slice_rows;
    const Slice slice = view.slices[number];
    const Offset first = (slot - number * view.slice_rows) * Threads + thread % Threads;
    const Offset stride = static_cast<Offset>(view.slice_rows) * Threads;
    const V* const values = view.values + slice.entry + first;
    const std::uint16_t* const columns = view.columns + slice.column;
    if (slice.base >= 0)
      sum_striped(values, columns + first, stride, slice.width / Threads, product, product.x + slice.base, sums);
    else
      sum_striped(values, reinterpret_cast<const Index*>(columns) + first, stride, slice.width / Threads, product,
                  product.x, sums);
  }
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j)
    if (j < product.count) sums[j] = simt::warp_reduce_sum<Threads>(sums[j]);
  if (slot < view.rows && thread % Threads == 0) store_sums(view, product, static_cast<Index>(slot), sums);
}

template <class V>
void multiply_striped(int threads_a_row, const View<V>& view, const Product<V>& product, Stream stream) {
  const unsigned blocks = simt::blocks_for(static_cast<Offset>(view.rows) * threads_a_row, block_threads);
  const auto launch = [&](auto threads) {
    with_room_for(product.count, [&](auto room) {
      simt::launch(WEFT_KERNEL(sell_striped<V, decltype(threads)::value, decltype(room)::value>), blocks, block_threads,
                   0, stream, view, product);
    });
  };
  switch (threads_a_row) {
    case 2:
      return launch(std::integral_constant<int, 2>());
    case 4:
      return launch(std::integral_constant<int, 4>());
    case 8:
      return launch(std::integral_constant<int, 8>());
    case 16:
      return launch(std::integral_constant<int, 16>());
    default:
      return launch(std::integral_constant<int, 32>());
  }
}

/// How a kernel for one vector is compiled, by how many blocks shall fit a multiprocessor, which bounds the registers.
/// Short rows want as many threads as possible. Long rows want fewer, with more on its way each: more threads would
/// only drive one another's part of x out of the cache.
template <class V>
constexpr int crowded = sizeof(V) == 4 ? 8 : 6;
constexpr int roomy = 4;

template <int Number>
using Constant = std::integral_constant<int, Number>;

template <class V, class Column, int Room>
void multiply_equal(const View<V>& view, const Product<V>& product, Stream stream, unsigned blocks) {
  const auto launch = [&](auto batch, auto at_least) {
    simt::launch(WEFT_KERNEL(sell_equal<V, Column, decltype(batch)::value, Room, decltype(at_least)::value>), blocks,
                 block_threads, 0, stream, view, product);
  };
  if constexpr (Room > 1)
    launch(Constant<4>(), Constant<1>());
  else if (sizeof(V) == 8 && view.width > long_rows_from)
    launch(Constant<8>(), Constant<roomy>());
  else
    launch(Constant<8>(), Constant<crowded<V>>());
}

template <class V, class Rows, int Room>
void multiply_slices(const View<V>& view, Rows rows, bool long_rows, const Product<V>& product, Stream stream,
                     unsigned blocks) {
  const auto launch = [&](auto batch, auto at_least) {
    simt::launch(WEFT_KERNEL(sell_slices<V, Rows, decltype(batch)::value, Room, decltype(at_least)::value>), blocks,
                 block_threads, 0, stream, view, rows, product);
  };
  if constexpr (Room > 1)
    launch(Constant<4>(), Constant<1>());
  else if (long_rows)
    launch(Constant<8>(), Constant<roomy>());
  else
    launch(Constant<4>(), Constant<crowded<V>>());
}

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, const BuildOptions& options) : device_(options.device), offsets_(matrix.offsets) {
    gpu::CurrentDevice current(device_);
    std::optional<CsrOnDevice<V>> source(std::in_place, device_, matrix);
    const Shape shape = ::weft::sell::choose_shape(matrix.offsets, matrix.rows, options, sizeof(V));
    storage_ = build_on_device<V>(device_, source->view(), matrix.offsets, shape, options);
    source.reset();
    if (storage_.equally_wide && storage_.census.short_slices > 0) keep_bases();
  }

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0) || offsets_.back() == 0) return scale(storage_.rows, product, stream);
    const View<V> view = this->view();
    if (storage_.shape.threads > 1) return multiply_striped(storage_.shape.threads, view, product, stream);
    const unsigned blocks = simt::blocks_for(view.rows, block_threads);
    const bool long_rows = offsets_.back() > static_cast<Offset>(long_rows_from) * view.rows;
    with_room_for(product.count, [&](auto room) {
      constexpr int vectors = decltype(room)::value;
      if (storage_.equally_wide && storage_.census.short_slices > 0)
        multiply_equal<V, std::uint16_t, vectors>(view, product, stream, blocks);
      else if (storage_.equally_wide)
        multiply_equal<V, Index, vectors>(view, product, stream, blocks);
      else if (view.slice_rows == WarpRows::value)
        multiply_slices<V, WarpRows, vectors>(view, {}, long_rows, product, stream, blocks);
      else
        multiply_slices<V, Index, vectors>(view, view.slice_rows, long_rows, product, stream, blocks);
    });
  }

  void update_values(std::span<const V> csr_values) override {
    gpu::CurrentDevice current(device_);
    const DeviceBuffer<Offset> offsets(device_, offsets_);
    const DeviceBuffer<V> values(device_, csr_values);
    fill<V>(device_, {storage_.rows, offsets.data(), nullptr, values.data()}, storage_, false);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = ::weft::sell::describe(storage_.shape, storage_.census.short_slices, storage_.slice_count,
                                          storage_.equally_wide);
    info.bytes = storage_.order.bytes() + storage_.slices.bytes() + bases_.bytes() + storage_.columns.bytes() +
                 storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - offsets_.back();
    return info;
  }

 private:
  View<V> view() const {
    return {.rows = storage_.rows,
            .slice_rows = storage_.shape.slice_rows,
            .width = storage_.census.widest,
            .slices = storage_.slices.data(),
            .bases = bases_.data(),
            .order = storage_.order_data(),
            .columns = storage_.columns.data(),
            .values = storage_.values.data()};
  }

  void keep_bases();

  Device device_;
  Array<Offset> offsets_;  // shared with the caller's matrix
  DeviceStorage<V> storage_;
  DeviceBuffer<Index> bases_;
};

__global__ void sell_copy_bases(const Slice* slices, Index count, Index* bases) {
  const Offset s = simt::global_thread_id();
  if (s < count) bases[s] = slices[s].base;
}

/// All that the kernel for equally wide slices needs of them.
template <Value V>
void GpuOperator<V>::keep_bases() {
  bases_ = DeviceBuffer<Index>(device_, static_cast<std::size_t>(storage_.slice_count));
  simt::launch(WEFT_KERNEL(sell_copy_bases), simt::blocks_for(storage_.slice_count, block_threads), block_threads, 0,
               {}, std::as_const(storage_.slices).data(), storage_.slice_count, bases_.data());
  synchronize(device_);
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  return std::make_unique<GpuOperator<V>>(matrix, options);
}

template <Value V>
::weft::sell::Storage<V> build_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options) {
  const Device device = options.device;
  gpu::CurrentDevice current(device);
  const CsrOnDevice<V> source(device, matrix);
  const DeviceStorage<V> built = build_on_device<V>(device, source.view(), matrix.offsets, shape, options);
  ::weft::sell::Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.order = built.order.download();
  storage.slices = built.slices.download();
  storage.columns = built.columns.download();
  storage.values = built.values.download();
  storage.equally_wide = built.equally_wide;
  storage.short_slices = built.census.short_slices;
  return storage;
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template ::weft::sell::Storage<V> build_storage<V>(const Csr<V>&, const Shape&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::sell
