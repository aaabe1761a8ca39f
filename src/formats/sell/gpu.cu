// sell on a GPU: what the operator keeps there. The kernels are in multiply.cuh, the set-up in setup.cuh.
#include "formats/gpu_operator.cuh"
#include "formats/sell/multiply.cuh"
#include "formats/sell/setup.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::sell {
namespace {

__global__ void __launch_bounds__(block_threads) sell_copy_bases(const Slice* slices, Index count, Index* bases) {
  const Offset s = simt::global_thread_id();
  if (s < count) bases[s] = slices[s].base;
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, const BuildOptions& options)
      : GpuOperatorBase<V>(options.device, source.rows(), source.nonzeros()), offsets_(source.state(), options.device) {
    gpu::CurrentDevice current(options.device);
    const Shape shape = ::weft::sell::choose_shape<V>(::weft::sell::rows_to_cut(source, options.device), options);
    storage_ = build_on_device(source, shape, options);
    if (storage_.equally_wide && storage_.census.short_slices > 0) keep_bases();
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = ::weft::sell::describe(storage_.shape, storage_.census.short_slices, storage_.slice_count,
                                          storage_.equally_wide);
    info.bytes = storage_.order.bytes() + storage_.slices.bytes() + bases_.bytes() + storage_.columns.bytes() +
                 storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - this->entries();
    info.numbers = ::weft::sell::numbers_of(storage_.shape);
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    const View<V> view{.rows = storage_.rows,
                       .slice_rows = storage_.shape.slice_rows,
                       .width = storage_.equally_wide ? storage_.census.widest : 0,
                       .slices = storage_.slices.data(),
                       .bases = bases_.size() > 0 ? std::as_const(bases_).data() : nullptr,
                       .order = storage_.order_data(),
                       .columns = storage_.columns.data(),
                       .values = storage_.values.data()};
    const bool long_rows = this->entries() > static_cast<Offset>(long_rows_from) * this->rows();
    sell::multiply(view, storage_.shape.threads, long_rows, product, stream);
  }

  void place_values(const V* csr_values) override {
    const DeviceArray<Offset> offsets = offsets_.on_device();
    fill<V>(this->device(), {this->rows(), offsets.data(), nullptr, csr_values}, storage_, false);
  }

  /// All that the kernel for equally wide slices needs of them.
  void keep_bases() {
    bases_ = DeviceBuffer<Index>(this->device(), static_cast<std::size_t>(storage_.slice_count));
    simt::launch(WEFT_KERNEL(sell_copy_bases), simt::blocks_for(storage_.slice_count, block_threads), block_threads, 0,
                 {}, std::as_const(storage_.slices).data(), storage_.slice_count, bases_.data());
    synchronize(this->device());
  }

  KeptOffsets offsets_;
  DeviceStorage<V> storage_;
  DeviceBuffer<Index> bases_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return std::make_unique<GpuOperator<V>>(source, options);
}

template <Value V>
::weft::sell::Storage<V> build_storage(const MatrixSource<V>& source, const Shape& shape, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  const DeviceStorage<V> built = build_on_device(source, shape, options);
  ::weft::sell::Storage<V> storage;
  storage.shape = shape;
  storage.rows = source.rows();
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
  template ::weft::sell::Storage<V> build_storage<V>(const MatrixSource<V>&, const Shape&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::sell
