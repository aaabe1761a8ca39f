// bro-ell: the operator on the CPU, and the registry's entry.
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/bro_ell/tuning.hpp"
#include "formats/cpu_operator.hpp"
#include "formats/padding_limit.hpp"

namespace weft::bro_ell {
namespace {

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(Storage<V> storage, const Array<Offset>& offsets)
      : CpuOperatorBase<V>(storage.rows, storage.kept), storage_(std::move(storage)), offsets_(offsets) {}

  void update_values(std::span<const V> csr_values) override {
    place_values(storage_, offsets_, csr_values.data(), storage_.values.data());
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = describe(storage_.shape, savings_of(storage_));
    info.bytes =
        storage_.slices.bytes() + storage_.bit_alloc.bytes() + storage_.words.bytes() + storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - storage_.kept;
    info.numbers = numbers_of(storage_.shape);
    return info;
  }

 private:
  void multiply(const Product<V>& product) override {
    const CpuMatrix<V> view{.rows = storage_.rows,
                            .slice_rows = storage_.shape.slice_rows,
                            .symbol_bits = storage_.shape.symbol_bits,
                            .slice_count = static_cast<Index>(storage_.slices.size()),
                            .slices = storage_.slices.data(),
                            .bit_alloc = storage_.bit_alloc.data(),
                            .words = storage_.words.data(),
                            .values = storage_.values.data()};
    const Offset work = storage_.rows + static_cast<Offset>(storage_.values.size());
    WEFT_CALL_ISA(this->isa(), multiply<V>)(view, product, useful_threads(work, entries_per_thread));
  }

  Storage<V> storage_;
  Array<Offset> offsets_;  // shared with the caller's matrix
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return build_shape(source, choose_shape(options), options);
}

template <Value V>
Storing<V> storing() {
  return {
      .store = [](const Csr<V>& matrix,
                  const BuildOptions& options) { return to_arrays(encode(matrix, choose_shape(options), options)); },
      .unpack = [](const StoredArrays& arrays, Index rows,
                   Index cols) { return decode(from_arrays<V>(arrays, rows, cols)); },
      .load = [](const StoredArrays& arrays, const Csr<V>& matrix, const BuildOptions& options) -> Loaded<V> {
        Storage<V> storage = from_arrays<V>(arrays, matrix.rows, matrix.cols);
        storage.kept = matrix.nonzeros();
        if (options.device.is_cpu()) return {std::make_unique<CpuOperator<V>>(std::move(storage), matrix.offsets)};
        return {WEFT_ON_DEVICE(options.device, bro_ell::load<V>)(storage, matrix, options.device)};
      }};
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build_shape(const MatrixSource<V>& source, const Shape& shape,
                                         const BuildOptions& options) {
  if (options.device.is_cpu())
    return std::make_unique<CpuOperator<V>>(encode(source.host(), shape, options), source.host().offsets);
  return WEFT_ON_DEVICE(options.device, bro_ell::build<V>)(source, shape, options);
}

template <Value V>
std::unique_ptr<Operator<V>> build_part(const MatrixSource<V>& source, Index width, const BuildOptions& options) {
  Shape shape = choose_shape(options);
  shape.max_columns = width;
  return build_shape(source, shape, options);
}

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bro-ell";
    f.info.summary = "ell in slices whose column numbers are packed into few bits: fewer bytes to read";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {{"h", "rows of a slice; else 256", 32, max_slice_rows, true},
                         {"sym", "bits of a symbol, 32 or 64; else 32", 32, 64, true},
                         padding_parameter()};
    f.info.refuses = refuses_padding();
    f.info.storable = true;
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.storing.get<V>() = storing<V>(); });
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    return f;
  }();
  return format;
}

#define WEFT_INSTANTIATE(V)                                                                                        \
  template std::unique_ptr<Operator<V>> build_shape<V>(const MatrixSource<V>&, const Shape&, const BuildOptions&); \
  template std::unique_ptr<Operator<V>> build_part<V>(const MatrixSource<V>&, Index, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell
