// bce on a GPU: what the operator keeps there. The kernels are in multiply.cuh, the set-up in set_up.cuh.
#include "formats/bce/multiply.cuh"
#include "formats/bce/set_up.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bce {
namespace {

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, const BuildOptions& options)
      : device_(options.device),
        settings_(::weft::bce::settings_for(options)),
        entries_(matrix.nonzeros()),
        offsets_(matrix.offsets),
        storage_(set_up_on_gpu(matrix, settings_, device_)),
        schedule_(make_schedule(storage_, device_)),
        piece_starts_(device_, storage_.layout.piece_starts),
        partials_(device_, storage_.layout.pieces.size() * max_vectors) {}

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0)) return scale(storage_.rows, product, stream);
    const bool long_rows = entries_ > static_cast<Offset>(long_rows_from) * storage_.rows;
    multiply<V>(view(), {std::as_const(schedule_).data(), schedule_.size()}, long_rows, product, stream);
  }

  void update_values(std::span<const V> csr_values) override {
    gpu::CurrentDevice current(device_);
    refill(storage_, offsets_, csr_values, device_);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = ::weft::bce::describe_layout(storage_.layout, settings_);
    info.bytes = storage_.bytes() + schedule_.bytes() + piece_starts_.bytes() + partials_.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - entries_;
    return info;
  }

 private:
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

  Device device_;
  Settings settings_;
  Offset entries_;
  Array<Offset> offsets_;  // the matrix's, shared: for new values
  DeviceStorage<V> storage_;
  DeviceBuffer<SubBlock> schedule_;
  DeviceBuffer<Offset> piece_starts_;
  DeviceBuffer<V> partials_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  gpu::CurrentDevice current(options.device);
  return std::make_unique<GpuOperator<V>>(matrix, options);
}

template <Value V>
Storage<V> set_up(const Csr<V>& matrix, const Settings& settings, Device device) {
  gpu::CurrentDevice current(device);
  DeviceStorage<V> storage = set_up_on_gpu(matrix, settings, device);
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
  template Storage<V> set_up<V>(const Csr<V>&, const Settings&, Device);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
