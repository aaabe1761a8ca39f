// coo on a GPU: the sums of segments.cuh over all entries.
#include <weft/coo.hpp>

#include "formats/coo/coo.hpp"
#include "formats/coo/segments.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::coo {
namespace {

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, Device device)
      : device_(device), row_count_(matrix.rows), columns_(device, matrix.columns), values_(device, matrix.values) {
    const Array<Index> rows = to_coo(matrix).row_indices;
    rows_ = DeviceBuffer<Index>(device, rows);
    if (warps_for(matrix.nonzeros()) > 1) carries_ = Carries<V>(device, carry_rows(rows));
  }

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.beta != V(1) || product.alpha == V(0)) scale(row_count_, product, stream);
    if (product.alpha == V(0) || values_.size() == 0) return;
    const Product<V> added = after_scaling(product);
    add_segments<V>({std::as_const(rows_).data(), std::as_const(columns_).data(), std::as_const(values_).data(),
                     static_cast<Offset>(values_.size()), carries_.values(), carries_.count()},
                    added, stream);
    carries_.add(added, stream);
  }

  void update_values(std::span<const V> csr_values) override {
    values_.upload(csr_values);
    synchronize(device_);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = std::to_string(warp_entries) + " entries a warp, " + std::to_string(1 + carries_.levels()) +
                   (carries_.levels() == 0 ? " level" : " levels");
    info.bytes = rows_.bytes() + columns_.bytes() + values_.bytes() + carries_.bytes();
    return info;
  }

 private:
  Device device_;
  Index row_count_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
  DeviceBuffer<Index> rows_;
  Carries<V> carries_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  return std::make_unique<GpuOperator<V>>(matrix, options.device);
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::coo
