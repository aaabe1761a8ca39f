#include <weft/coo.hpp>

#include "formats/coo/coo.hpp"
#include "formats/coo/tuning.hpp"
#include "formats/cpu_operator.hpp"

namespace weft::coo {
namespace {

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  explicit CpuOperator(const Csr<V>& matrix)
      : CpuOperatorBase<V>(matrix.rows, matrix.nonzeros()),
        matrix_(to_coo(matrix)),
        carries_(static_cast<std::size_t>(matrix.nonzeros() / entries_per_chunk + 1) * 2 * max_row_major_vectors) {}

  void update_values(std::span<const V> csr_values) override {
    if (shares_values_) matrix_.values = Array<V>(csr_values.size());
    shares_values_ = false;
    copy_values(csr_values, matrix_.values.data());
  }

  OperatorInfo info() const override {
    return {"", "chunks of " + std::to_string(entries_per_chunk) + " entries",
            matrix_.row_indices.bytes() + matrix_.column_indices.bytes() + matrix_.values.bytes() + carries_.bytes()};
  }

 private:
  bool likes_several_columns() const override { return true; }

  void multiply(const Product<V>& product) override {
    if (product.beta != V(1)) scale_on_cpu(product, matrix_.rows);
    const CpuMatrix<V> view{.rows = matrix_.row_indices.data(),
                            .columns = matrix_.column_indices.data(),
                            .values = matrix_.values.data(),
                            .entries = matrix_.entries(),
                            .chunk_entries = entries_per_chunk,
                            .carries = carries_.data()};
    WEFT_CALL_ISA(this->isa(), multiply_add<V>)(view, product,
                                                useful_threads(matrix_.entries() - 1, entries_per_chunk));
  }

  Coo<V> matrix_;
  Array<V> carries_;
  bool shares_values_ = true;  // with the caller's matrix, until new values come
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(source.host());
  return WEFT_ON_DEVICE(options.device, coo::build<V>)(source, options);
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "coo";
    f.info.summary = "a row and a column number for each entry, summed by segments: indifferent to uneven rows";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    return f;
  }();
  return format;
}

}  // namespace weft::coo
