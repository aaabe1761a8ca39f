// ell on a GPU. One kernel serves all variants: thread i of the grid reads place i of every step, so that a warp's
// loads are neighbours whatever the number of threads per row. The arrays are filled on the GPU, from the source's csr.
#include "formats/column_groups.cuh"
#include "formats/ell/ell.hpp"
#include "formats/ell/tuning.hpp"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::ell {
namespace {

using ::weft::ell::Shape;
using ::weft::ell::View;
constexpr int at_once = ::weft::ell::entries_at_once;
constexpr int fill_steps = 64;

template <class V, int Threads, class Room>
__global__ void __launch_bounds__(simt::block_threads) ell_rows(View<V> matrix, Product<V> product) {
  const std::int64_t place = simt::global_thread_id();
  const std::int64_t row = place / Threads;
  const auto lane = static_cast<unsigned>(threadIdx.x) % Threads;
  V sums[Room::vectors] = {};
  const XRows<V, Room> x(product);
  if (row < matrix.rows) {
    // The steps in which this thread has an entry, as far as the lengths are known.
    auto steps = static_cast<unsigned>(matrix.steps);
    if (matrix.lengths)
      steps = (static_cast<unsigned>(simt::load_streaming(matrix.lengths + row)) + (Threads - 1 - lane)) / Threads;
    const Index* __restrict__ columns = matrix.columns + place;
    const V* __restrict__ values = matrix.values + place;
    for (unsigned step = 0; step < steps; step += at_once) {
      Index column[at_once];
      V value[at_once];
      WEFT_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const bool live = step + u < steps;
        column[u] = live ? simt::load_streaming(columns) : padding_column<Index>;
        value[u] = live ? simt::load_streaming(values) : V(0);
        columns += matrix.slots;
        values += matrix.slots;
      }
      add_padded_products(x, value, column, sums);
      if (column[at_once - 1] < 0) break;  // nothing but padding follows
    }
  }
  const bool stores = row < matrix.rows && lane == 0;
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j) {
    sums[j] = simt::warp_reduce_sum<Threads>(sums[j]);
    if constexpr (Room::reach == Reach::columns)
      if (stores && j < product.count) store_sum(product, static_cast<Index>(row), j, sums[j]);
  }
  if constexpr (Room::reach != Reach::columns)
    if (stores) store_sums<Room>(product, static_cast<Index>(row), sums);
}

/// What ell_fill reads and writes.
template <class V>
struct Fill {
  Index rows = 0;
  Index width = 0;
  int threads = 1;
  Offset slots = 0;
  Index steps = 0;
  const Offset* offsets = nullptr;
  const Index* csr_columns = nullptr;
  const V* csr_values = nullptr;
  Index* columns = nullptr;  // null: they stay
  V* values = nullptr;
  Index* lengths = nullptr;  // null: there are none, or they stay
};

/// Writes fill_steps steps of a place.
template <class V>
__global__ void __launch_bounds__(simt::block_threads) ell_fill(Fill<V> fill) {
  const std::int64_t thread = simt::global_thread_id();
  const std::int64_t place = thread % fill.slots;
  const std::int64_t first = thread / fill.slots * fill_steps;
  if (first >= fill.steps) return;
  const std::int64_t last = first + fill_steps < fill.steps ? first + fill_steps : fill.steps;
  const std::int64_t row = place / fill.threads;
  const int lane = static_cast<int>(place % fill.threads);
  Offset begin = 0, length = 0;
  if (row < fill.rows) {
    begin = fill.offsets[row];
    length = fill.offsets[row + 1] - begin;
    if (length > fill.width) length = fill.width;
    if (fill.lengths && first == 0 && lane == 0) fill.lengths[row] = static_cast<Index>(length);
  }
  for (std::int64_t step = first; step < last; ++step) {
    const Offset k = step * fill.threads + lane, to = step * fill.slots + place;
    if (fill.columns) fill.columns[to] = k < length ? fill.csr_columns[begin + k] : padding_column<Index>;
    fill.values[to] = k < length ? fill.csr_values[begin + k] : V(0);
  }
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, const Shape& shape, Device device)
      : GpuOperatorBase<V>(device, shape.rows, shape.kept),
        shape_(shape),
        columns_(device, static_cast<std::size_t>(shape.stored())),
        values_(device, static_cast<std::size_t>(shape.stored())),
        lengths_(device, shape.has_lengths() ? static_cast<std::size_t>(shape.rows) : 0) {
    if (shape.kept == 0) return;
    gpu::CurrentDevice current(device);
    const DeviceArray<Offset> offsets = source.state().offsets64(device);
    const DeviceEntries<V>& entries = source.state().on_device(device);
    Fill<V> fill = fill_from(offsets.data(), entries.values.data());
    fill.csr_columns = entries.columns.data();
    fill.columns = columns_.data();
    if (shape.has_lengths()) fill.lengths = lengths_.data();
    run(fill);
    offsets_ = KeptOffsets(source.state(), device);
  }

  OperatorInfo info() const override {
    return ::weft::ell::describe(shape_, columns_.bytes() + values_.bytes() + lengths_.bytes());
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    switch (shape_.threads) {
      case 1:
        return multiply_by<1>(product, stream);
      case 2:
        return multiply_by<2>(product, stream);
      case 4:
        return multiply_by<4>(product, stream);
      case 8:
        return multiply_by<8>(product, stream);
      case 16:
        return multiply_by<16>(product, stream);
      default:
        return multiply_by<32>(product, stream);
    }
  }

  void place_values(const V* csr_values) override {
    const DeviceArray<Offset> offsets = offsets_.on_device();
    run(fill_from(offsets.data(), csr_values));
  }

  template <int Threads>
  void multiply_by(const Product<V>& product, Stream stream) {
    const View<V> view{.rows = shape_.rows,
                       .width = shape_.width,
                       .threads = shape_.threads,
                       .slots = shape_.slots(),
                       .steps = shape_.steps(),
                       .columns = std::as_const(columns_).data(),
                       .values = std::as_const(values_).data(),
                       .lengths = shape_.has_lengths() ? std::as_const(lengths_).data() : nullptr};
    with_room_for(product, [&](auto room) {
      simt::launch(WEFT_KERNEL(ell_rows<V, Threads, decltype(room)>), simt::blocks_for(view.slots, simt::block_threads),
                   simt::block_threads, 0, stream, view, product);
    });
  }

  Fill<V> fill_from(const Offset* offsets, const V* csr_values) {
    return {.rows = shape_.rows,
            .width = shape_.width,
            .threads = shape_.threads,
            .slots = shape_.slots(),
            .steps = shape_.steps(),
            .offsets = offsets,
            .csr_values = csr_values,
            .values = values_.data()};
  }

  void run(const Fill<V>& fill) {
    const Offset pieces = (static_cast<Offset>(fill.steps) + fill_steps - 1) / fill_steps;
    simt::launch(WEFT_KERNEL(ell_fill<V>), simt::blocks_for(fill.slots * pieces, simt::block_threads),
                 simt::block_threads, 0, {}, fill);
    synchronize(this->device());  // what is read may be gone afterwards
  }

  Shape shape_;
  KeptOffsets offsets_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
  DeviceBuffer<Index> lengths_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const Shape& shape, Device device) {
  return std::make_unique<GpuOperator<V>>(source, shape, device);
}

#define WEFT_INSTANTIATE(V) \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const Shape&, Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::ell
