// coo on a GPU: the sums of segments.cuh over all entries. Columns and values are the source's; row numbers are made
// on the GPU.
#include "formats/coo/coo.hpp"
#include "formats/coo/row_walker.hpp"
#include "formats/coo/segments.cuh"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::coo {
namespace {

/// A warp writes the rows of warp_entries entries, neighbours next to one another.
__global__ void __launch_bounds__(simt::block_threads)
    coo_row_numbers(const Offset* offsets, Index rows, Offset entries, Index* to) {
  const Offset warp = simt::global_thread_id() / warp_size;
  const Offset begin = warp * warp_entries + simt::lane_id();
  const Offset end = (warp + 1) * warp_entries < entries ? (warp + 1) * warp_entries : entries;
  if (begin >= end) return;
  ::weft::coo::RowWalker walker(offsets, rows, begin);
  for (Offset k = begin; k < end; k += warp_size) to[k] = walker.row_of(k);
}

template <Value V>
DeviceBuffer<Index> row_numbers(const MatrixSource<V>& source, Device device) {
  const Offset entries = source.nonzeros();
  DeviceBuffer<Index> rows(device, static_cast<std::size_t>(entries));
  simt::launch(WEFT_KERNEL(coo_row_numbers), blocks_for_entries(entries), simt::block_threads, 0, {},
               source.state().offsets64(device).data(), source.rows(), entries, rows.data());
  return rows;
}

template <Value V>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, Device device)
      : GpuOperatorBase<V>(device, source.rows(), source.nonzeros()),
        columns_(source.state().on_device(device).columns),
        values_(source.state().on_device(device).values) {
    gpu::CurrentDevice current(device);
    rows_ = row_numbers(source, device);
    if (warps_for(source.nonzeros()) > 1)
      carries_ = Carries<V>(device, carry_rows(device, std::as_const(rows_).data(), source.nonzeros()));
    synchronize(device);  // the row offsets may be gone afterwards
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = std::to_string(warp_entries) + " entries per warp, " + std::to_string(1 + carries_.levels()) +
                   (carries_.levels() == 0 ? " level" : " levels");
    info.bytes = rows_.bytes() + columns_.bytes() + values_.bytes() + carries_.bytes();
    return info;
  }

 private:
  void multiply(const Product<V>& product, Stream stream) override {
    if (product.beta != V(1)) scale(this->rows(), product, stream);
    const Product<V> added = after_scaling(product);
    add_segments<V>({.rows = std::as_const(rows_).data(),
                     .columns = columns_.data(),
                     .values = values_.data(),
                     .entries = this->entries(),
                     .carries = carries_.values(),
                     .carry_count = carries_.count()},
                    added, stream);
    carries_.add(added, stream);
  }

  void place_values(const V* csr_values) override { values_.replace(this->device(), csr_values); }

  DeviceArray<Index> columns_;
  SharedValues<V> values_;
  DeviceBuffer<Index> rows_;
  Carries<V> carries_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return std::make_unique<GpuOperator<V>>(source, options.device);
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::coo
