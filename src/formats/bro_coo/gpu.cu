// bro-coo on a GPU. A warp takes an interval. Each lane follows consecutive entries and sums them by rows; a row that
// lies wholly inside a lane's entries goes to y at once, one that goes on in the next lane is put together by one
// segmented sum over the lanes. The first and the last row of an interval become carries, as in coo.
#include "facts/source_facts.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/bro_coo/encode.cuh"
#include "formats/bro_coo/tuning.hpp"
#include "formats/coo/segments.cuh"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_coo {
namespace {

using ::weft::bro_coo::DeltaReader;

template <class V>
struct View {
  Shape shape;
  const Index* bounds = nullptr;
  const std::uint8_t* widths = nullptr;
  const Offset* words = nullptr;
  const std::uint32_t* symbols = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  V* carries = nullptr;  // null when there is one interval only
  Offset carry_count = 0;
};

/// What this lane's deltas add up to.
__device__ inline Index rise_of(const std::uint32_t* symbols, int lane, const Shape& shape, int steps, int width) {
  if (width == 0) return 0;
  DeltaReader reader(symbols, lane, shape.words_per_symbol(), width);
  Index rise = 0;
  if (width == 1) {
    for (int words = static_cast<int>(shape.words_per_lane(steps, 1)); words > 0; --words)
      rise += simt::popcount(reader.next_word());
  } else {
    for (int step = 0; step < steps; ++step) rise += static_cast<Index>(reader.take());
  }
  return rise;
}

/// The sum of the lanes before this one.
__device__ inline Index sum_before(Index value) {
  const int lane = simt::lane_id();
  Index sum = value;
  WEFT_UNROLL
  for (int step = 1; step < lanes; step *= 2) {
    const Index before = simt::shuffle_up(simt::full_mask, sum, static_cast<unsigned>(step));
    if (lane >= step) sum += before;
  }
  return sum - value;
}

/// Of entries whose loads are on their way together.
template <class Room>
constexpr int batch = Room::vectors <= 2 ? 4 : 2;

template <class V, class Room>
constexpr int min_blocks = Room::vectors > 1 ? 1 : ::weft::bro_coo::resident_blocks.of<V>();

template <class V, class Room>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(min_blocks<V, Room>, block_threads))
    bro_coo_intervals(View<V> matrix, Product<V> product) {
  const Stretch stretch(matrix.shape, simt::global_thread_id());
  const Offset interval = stretch.interval;
  if (interval >= matrix.shape.intervals()) return;  // for the whole warp
  const int lane = stretch.lane, steps = stretch.steps, live = stretch.live();
  const Index first_row = matrix.bounds[2 * interval], last_row = matrix.bounds[2 * interval + 1];
  const int width = matrix.widths[interval];
  const std::uint32_t* const symbols = matrix.symbols + matrix.words[interval];
  Index row = first_row + sum_before(rise_of(symbols, lane, matrix.shape, steps, width));

  const auto emit = [&](Index to, int j, V sum) {
    if (matrix.carries && (to == first_row || to == last_row))
      matrix.carries[j * matrix.carry_count + 2 * interval + (to != first_row)] = sum;
    else
      store_sum<Room>(product, to, j, sum);
  };

  // `head` is the sum of the lane's first row once another has begun: lanes before this may have more of it.
  V running[Room::vectors] = {}, head[Room::vectors] = {};
  Index head_row = 0;
  bool begins_row = false;  // the lane's first entry is the first of its row
  bool broken = false;      // the lane has entries of several rows
  DeltaReader reader(symbols, lane, matrix.shape.words_per_symbol(), width == 0 ? 1 : width);
  const Offset first_place = matrix.shape.begin_of(interval) + lane;
  const Index* columns = matrix.columns + first_place;
  const V* values = matrix.values + first_place;
  const XRows<V, Room> x(product);
  constexpr int at_once = batch<Room>;
  for (int step = 0; step < steps; step += at_once) {
    Index column[at_once];
    V value[at_once];
    V factor[at_once][Room::vectors];
    WEFT_UNROLL
    for (int u = 0; u < at_once; ++u) {
      column[u] = step + u < live ? simt::load_streaming(columns + (step + u) * lanes) : 0;
      value[u] = step + u < live ? simt::load_streaming(values + (step + u) * lanes) : V(0);
    }
    WEFT_UNROLL
    for (int u = 0; u < at_once; ++u) {
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) factor[u][j] = V(0);
      if (step + u < live) x.load(column[u], factor[u]);
    }
    WEFT_UNROLL
    for (int u = 0; u < at_once; ++u) {
      if (step + u >= steps) break;
      const auto delta = width == 0 ? Index(0) : static_cast<Index>(reader.take());
      if (step + u == 0) {
        begins_row = delta != 0;
      } else if (delta != 0) {
        WEFT_UNROLL
        for (int j = 0; j < Room::vectors; ++j) {
          if (!broken)
            head[j] = running[j];
          else if (j < product.count)
            store_sum<Room>(product, row, j, running[j]);
          running[j] = 0;
        }
        if (!broken) head_row = row;
        broken = true;
      }
      row += delta;
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) running[j] += value[u] * factor[u][j];
    }
  }

  const unsigned heads = simt::ballot(simt::full_mask, broken || begins_row);
  const unsigned row_begins = simt::ballot(simt::full_mask, begins_row);
  const bool ends_row = lane + 1 == lanes || (row_begins >> (lane + 1) & 1u) != 0;
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j) {
    if (j >= product.count) break;
    const V sum = simt::warp_segmented_sum(running[j], heads);
    const V before = simt::shuffle_up(simt::full_mask, sum, 1);
    if (broken) emit(head_row, j, begins_row || lane == 0 ? head[j] : before + head[j]);
    if (ends_row) emit(row, j, sum);
  }
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(Device device, Index rows, bool has_empty_rows, DeviceStorage<V> storage)
      : GpuOperatorBase<V>(device, rows, storage.shape.entries),
        has_empty_rows_(has_empty_rows),
        storage_(std::move(storage)) {
    if (storage_.shape.intervals() <= 1) return;
    DeviceBuffer<Index> carry_rows(device, storage_.bounds.size());
    ::weft::detail::copy_on_device(device, carry_rows.data(), std::as_const(storage_.bounds).data(), carry_rows.bytes(),
                                   {});
    carries_ = coo::Carries<V>(device, std::move(carry_rows));
    synchronize(device);
  }

  OperatorInfo info() const override {
    OperatorInfo info = ::weft::bro_coo::describe(storage_.shape, storage_.symbols.bytes());
    info.bytes = storage_.bytes() + carries_.bytes();
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    // Every row with entries is stored once; only those without would be missed.
    Product<V> added = product;
    if (has_empty_rows_ && product.beta != V(1)) {
      scale(this->rows(), product, stream);
      added = coo::after_scaling(product);
    }
    const View<V> view{storage_.shape,
                       std::as_const(storage_.bounds).data(),
                       std::as_const(storage_.widths).data(),
                       std::as_const(storage_.words).data(),
                       std::as_const(storage_.symbols).data(),
                       std::as_const(storage_.columns).data(),
                       std::as_const(storage_.values).data(),
                       carries_.values(),
                       carries_.count()};
    with_room_for(product, [&](auto room) {
      simt::launch(WEFT_KERNEL(bro_coo_intervals<V, decltype(room)>), blocks_of(storage_.shape), block_threads, 0,
                   stream, view, added);
    });
    carries_.add(added, stream);
  }

  void place_values(const V* csr_values) override {
    fill<V>({this->rows(), nullptr, nullptr, csr_values}, storage_, false);
  }

  bool has_empty_rows_;
  DeviceStorage<V> storage_;
  coo::Carries<V> carries_;
};

template <Value V>
DeviceStorage<V> upload(const Storage<V>& storage, Device device) {
  DeviceStorage<V> there;
  there.shape = storage.shape;
  there.bounds = DeviceBuffer<Index>(device, storage.bounds);
  there.widths = DeviceBuffer<std::uint8_t>(device, storage.widths);
  there.words = DeviceBuffer<Offset>(device, storage.words);
  there.symbols = DeviceBuffer<std::uint32_t>(device, storage.symbols);
  there.columns = DeviceBuffer<Index>(device, storage.columns);
  there.values = DeviceBuffer<V>(device, storage.values);
  return there;
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const Shape shape = ::weft::bro_coo::choose_shape(source.nonzeros(), options);
  return std::make_unique<GpuOperator<V>>(
      options.device, source.rows(), row_lengths(source).empty_rows > 0,
      encode_on_device<V>(options.device, csr_on_device(source, options.device), shape));
}

template <Value V>
std::unique_ptr<Operator<V>> load(const Storage<V>& storage, const Csr<V>& /*matrix*/, Device device) {
  gpu::CurrentDevice current(device);
  return std::make_unique<GpuOperator<V>>(device, storage.rows, storage.has_empty_rows, upload(storage, device));
}

template <Value V>
Storage<V> encode(const MatrixSource<V>& source, const Shape& shape, Device device) {
  gpu::CurrentDevice current(device);
  const DeviceStorage<V> built = encode_on_device<V>(device, csr_on_device(source, device), shape);
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = source.rows();
  storage.cols = source.cols();
  storage.has_empty_rows = row_lengths(source).empty_rows > 0;
  storage.bounds = built.bounds.download();
  storage.widths = built.widths.download();
  storage.words = built.words.download();
  storage.symbols = built.symbols.download();
  storage.columns = built.columns.download();
  storage.values = built.values.download();
  return storage;
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template std::unique_ptr<Operator<V>> load<V>(const Storage<V>&, const Csr<V>&, Device);     \
  template Storage<V> encode<V>(const MatrixSource<V>&, const Shape&, Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_coo
