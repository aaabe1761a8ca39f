// bce on a GPU: what the operator keeps there. The kernels are in multiply.cuh, the set-up in set_up.cuh.
#include "formats/bce/multiply.cuh"
#include "formats/bce/set_up.cuh"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bce {
namespace {

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, const BuildOptions& options)
      : GpuOperatorBase<V>(options.device, source.rows(), source.nonzeros()),
        settings_(::weft::bce::settings_for(options)),
        offsets_(source.state(), options.device),
        storage_(set_up_on_gpu(source, settings_, options.device)),
        schedule_(make_schedule(storage_, options.device)),
        piece_starts_(options.device, storage_.layout.piece_starts),
        partials_(options.device, storage_.layout.pieces.size() * max_vectors) {}

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = ::weft::bce::describe_layout(storage_.layout, settings_);
    info.bytes = storage_.bytes() + schedule_.bytes() + piece_starts_.bytes() + partials_.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - this->entries();
    info.numbers = ::weft::bce::numbers_of(storage_.layout, settings_);
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    const bool long_rows = this->entries() > static_cast<Offset>(long_rows_from) * this->rows();
    bce::multiply<V>(view(), {std::as_const(schedule_).data(), schedule_.size()}, long_rows, product, stream);
  }

  void place_values(const V* csr_values) override {
    const DeviceArray<Offset> offsets = offsets_.on_device();
    refill(storage_, offsets.data(), csr_values, this->device());
  }

  View<V> view() {
    const Layout& layout = storage_.layout;
    return {.row_numbers = storage_.row_numbers.data(),
            .columns = storage_.columns.data(),
            .values = storage_.values.data(),
            .long_rows = layout.long_rows(),
            .long_row_numbers = storage_.row_numbers.data() + layout.block_rows.back(),
            .piece_starts = piece_starts_.data(),
            .pieces = static_cast<Offset>(layout.pieces.size()),
            .partials = partials_.data()};
  }

  Settings settings_;
  KeptOffsets offsets_;
  DeviceStorage<V> storage_;
  DeviceBuffer<SubBlock> schedule_;
  DeviceBuffer<Offset> piece_starts_;
  DeviceBuffer<V> partials_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  gpu::CurrentDevice current(options.device);
  return std::make_unique<GpuOperator<V>>(source, options);
}

template <Value V>
Storage<V> set_up(const MatrixSource<V>& source, const Settings& settings, Device device) {
  gpu::CurrentDevice current(device);
  DeviceStorage<V> storage = set_up_on_gpu(source, settings, device);
  Storage<V> result;
  result.rows = storage.rows;
  result.layout = std::move(storage.layout);
  result.layout.block_rows = storage.block_rows.download();
  result.layout.threads = storage.threads.download();
  result.row_numbers = storage.row_numbers.download();
  result.widths = storage.widths.download();
  result.positions = storage.positions.download();
  result.columns = storage.columns.download();
  result.values = storage.values.download();
  return result;
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&); \
  template Storage<V> set_up<V>(const MatrixSource<V>&, const Settings&, Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
