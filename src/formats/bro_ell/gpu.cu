// bro-ell on a GPU: a thread decodes and multiplies a row. All rows of a slice have the same widths, so a warp takes
// the same branches.
#include <algorithm>
#include <bit>

#include "formats/bro_ell/bro_ell.hpp"
#include "formats/bro_ell/encode.cuh"
#include "formats/bro_ell/tuning.hpp"
#include "formats/column_groups.cuh"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_ell {
namespace {

using simt::block_threads;
using ::weft::bro_ell::Storage;
using ::weft::bro_ell::widths_together;

template <class V>
struct View {
  Index rows = 0;
  Index slice_rows = 0;
  int slice_shift = 0;  // slice_rows == 1 << slice_shift
  const Slice* slices = nullptr;
  const std::uint8_t* bit_alloc = nullptr;
  const std::uint32_t* words = nullptr;
  const V* values = nullptr;
};

/// A row's stream: the symbol that is being read and the next ones, which are loaded before they are needed. Stride
/// is Index or, where the compiler shall know the number, an integral_constant.
template <class Symbol, class Stride>
class RowStream {
 public:
  /// `symbols` is how many the row has.
  __device__ __forceinline__ RowStream(const Symbol* from, Stride stride, Index symbols)
      : from_(from), stride_(stride), left_(symbols) {
    WEFT_UNROLL
    for (int i = 0; i < ahead; ++i) window_[i] = load();
  }

  /// The next `width` bits, at most 31; 0 when that is 0.
  __device__ __forceinline__ std::uint32_t take(int width) {
    std::uint32_t number = 0;
    if constexpr (sizeof(Symbol) == 4) {
      number = simt::funnel_left(0, simt::funnel_left(window_[0], window_[1], begin_), width);
    } else {
      const Symbol both = begin_ == 0 ? window_[0] : window_[0] << begin_ | window_[1] >> (64 - begin_);
      number = simt::funnel_left(0, static_cast<std::uint32_t>(both >> 32), width);
    }
    begin_ += width;
    if (begin_ >= bits) {
      begin_ -= bits;
      WEFT_UNROLL
      for (int i = 0; i + 1 < ahead; ++i) window_[i] = window_[i + 1];
      window_[ahead - 1] = load();
    }
    return number;
  }

 private:
  static constexpr int bits = 8 * sizeof(Symbol);
  static constexpr int ahead = sizeof(Symbol) == 4 ? 3 : 2;

  __device__ __forceinline__ Symbol load() {
    if (left_ <= 0) return 0;
    const Symbol symbol = simt::load_streaming(from_);
    from_ += stride_;
    --left_;
    return symbol;
  }

  const Symbol* from_;
  Stride stride_;
  Index left_;
  int begin_ = 0;
  Symbol window_[ahead];
};

/// The sums of row r of a slice of n rows, four columns at a time: first all loads of the matrix are queued,
/// then those of x.
template <class Symbol, class V, class Rows, class Room>
__device__ __forceinline__ void sum_row(const View<V>& view, const Slice& slice, Index r, Rows n,
                                        const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  constexpr int batch = widths_together;
  RowStream<Symbol, Rows> stream(reinterpret_cast<const Symbol*>(view.words + slice.word) + r, n, slice.symbols);
  const auto* widths = reinterpret_cast<const std::uint32_t*>(view.bit_alloc + slice.width);
  const V* values = view.values + slice.value + r;
  Index last = -1;
  WEFT_KEEP_LOOP
  for (Index k = 0; k < slice.columns; k += batch) {
    std::uint32_t width = simt::load_readonly(widths++);
    V value[batch];
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u)
      value[u] = k + u < slice.columns ? simt::load_streaming(values + static_cast<Offset>(u) * n) : V(0);
    values += static_cast<Offset>(batch) * n;
    Index column[batch];
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {
      const std::uint32_t delta = stream.take(static_cast<int>(width & 255));
      width >>= 8;
      last += static_cast<Index>(delta);
      column[u] = delta == 0 ? padding_column<Index> : last;
    }
    add_padded_products<false>(x, value, column, sums);
    if (column[batch - 1] < 0) break;  // nothing but padding follows
  }
}

/// Slices of the paper's 256 rows have a path of their own: where the distance between a row's entries is known to the
/// compiler, a thread needs fewer registers, and more of them fit.
template <class V, class Symbol, class Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    bro_ell_rows(View<V> view, Product<V> product) {
  const Offset row = simt::global_thread_id();
  if (row >= view.rows) return;
  const auto s = static_cast<Index>(row >> view.slice_shift);
  const auto r = static_cast<Index>(row & (view.slice_rows - 1));
  const Slice slice = view.slices[s];
  const Index n = rows_in_slice(view.rows, view.slice_rows, s);
  const XRows<V, Room> x(product);
  V sums[Room::vectors] = {};
  using Known = std::integral_constant<Index, Shape().slice_rows>;
  if (n == Known::value)
    sum_row<Symbol>(view, slice, r, Known(), x, sums);
  else
    sum_row<Symbol>(view, slice, r, n, x, sums);
  store_sums<Room>(product, static_cast<Index>(row), sums);
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(Device device, DeviceStorage<V> storage, KeptOffsets offsets)
      : GpuOperatorBase<V>(device, storage.rows, storage.census.kept),
        offsets_(std::move(offsets)),
        storage_(std::move(storage)) {}

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = ::weft::bro_ell::describe(
        storage_.shape,
        ::weft::bro_ell::savings_of(storage_.rows, storage_.slice_count, static_cast<Offset>(storage_.words.size()),
                                    storage_.census.columns, storage_.census.longest));
    info.bytes =
        storage_.slices.bytes() + storage_.bit_alloc.bytes() + storage_.words.bytes() + storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - storage_.census.kept;
    info.numbers = ::weft::bro_ell::numbers_of(storage_.shape);
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    if (storage_.shape.symbol_bits == 64)
      multiply_symbols<std::uint64_t>(product, stream);
    else
      multiply_symbols<std::uint32_t>(product, stream);
  }

  void place_values(const V* csr_values) override {
    const DeviceArray<Offset> offsets = offsets_.on_device();
    bro_ell::place_values<V>({storage_.rows, offsets.data(), nullptr, csr_values}, storage_);
    synchronize(this->device());  // before the offsets go
  }

  template <class Symbol>
  void multiply_symbols(const Product<V>& product, Stream stream) {
    const View<V> view{.rows = storage_.rows,
                       .slice_rows = storage_.shape.slice_rows,
                       .slice_shift = std::countr_zero(static_cast<unsigned>(storage_.shape.slice_rows)),
                       .slices = std::as_const(storage_.slices).data(),
                       .bit_alloc = std::as_const(storage_.bit_alloc).data(),
                       .words = std::as_const(storage_.words).data(),
                       .values = std::as_const(storage_.values).data()};
    const unsigned blocks = simt::blocks_for(view.rows, block_threads);
    with_room_for(product, [&](auto room) {
      using Room = decltype(room);
      constexpr int resident = Room::vectors > 1     ? 1
                               : sizeof(Symbol) == 8 ? ::weft::bro_ell::resident_blocks_of_long_symbols
                                                     : ::weft::bro_ell::resident_blocks.of<V>();
      simt::launch(WEFT_KERNEL(bro_ell_rows<V, Symbol, Room, resident>), blocks, block_threads, 0, stream, view,
                   product);
    });
  }

  KeptOffsets offsets_;
  DeviceStorage<V> storage_;
};

template <Value V>
DeviceStorage<V> upload(const Storage<V>& storage, Device device) {
  DeviceStorage<V> there;
  there.shape = storage.shape;
  there.rows = storage.rows;
  there.census.kept = storage.kept;
  there.slice_count = static_cast<Index>(storage.slices.size());
  for (const Slice& slice : storage.slices) {
    there.census.columns += slice.columns;
    there.census.longest = std::max(there.census.longest, slice.columns);
  }
  there.slices = DeviceBuffer<Slice>(device, storage.slices);
  there.bit_alloc = DeviceBuffer<std::uint8_t>(device, storage.bit_alloc);
  there.words = DeviceBuffer<std::uint32_t>(device, storage.words);
  there.values = DeviceBuffer<V>(device, storage.values);
  return there;
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const Shape& shape, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  DeviceStorage<V> storage = encode_on_device<V>(csr_on_device(source, options.device), shape, options);
  return std::make_unique<GpuOperator<V>>(options.device, std::move(storage),
                                          KeptOffsets(source.state(), options.device));
}

template <Value V>
std::unique_ptr<Operator<V>> load(const Storage<V>& storage, const Csr<V>& matrix, Device device) {
  gpu::CurrentDevice current(device);
  return std::make_unique<GpuOperator<V>>(device, upload(storage, device),
                                          KeptOffsets(MatrixSource<V>(matrix).state(), device));
}

template <Value V>
Storage<V> encode(const MatrixSource<V>& source, const Shape& shape, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const DeviceStorage<V> built = encode_on_device<V>(csr_on_device(source, options.device), shape, options);
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = source.rows();
  storage.cols = source.cols();
  storage.kept = built.census.kept;
  storage.slices = built.slices.download();
  storage.bit_alloc = built.bit_alloc.download();
  storage.words = built.words.download();
  storage.values = built.values.download();
  return storage;
}

#define WEFT_INSTANTIATE(V)                                                                                  \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const Shape&, const BuildOptions&); \
  template std::unique_ptr<Operator<V>> load<V>(const Storage<V>&, const Csr<V>&, Device);                   \
  template Storage<V> encode<V>(const MatrixSource<V>&, const Shape&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_ell
