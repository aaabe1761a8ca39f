// bro-ell: the operator on the CPU, and the registry's entry.
#include <algorithm>

#include "formats/bro_ell/bro_ell.hpp"
#include "formats/padding_limit.hpp"
#include "formats/vectors.hpp"

namespace weft::bro_ell {
namespace {

template <Value V>
class CpuOperator final : public Operator<V> {
 public:
  CpuOperator(const Csr<V>& matrix, const BuildOptions& options)
      : storage_(encode(matrix, choose_shape(options), options)), offsets_(matrix.offsets) {}
  CpuOperator(Storage<V> storage, const Array<Offset>& offsets) : storage_(std::move(storage)), offsets_(offsets) {}

  void apply(const Product<V>& product, Stream) override {
    if (product.alpha == V(0) || storage_.kept == 0) return scale_on_cpu(product, storage_.rows);
    const CpuMatrix<V> view{.rows = storage_.rows,
                            .slice_rows = storage_.shape.slice_rows,
                            .symbol_bits = storage_.shape.symbol_bits,
                            .slice_count = static_cast<Index>(storage_.slices.size()),
                            .slices = storage_.slices.data(),
                            .bit_alloc = storage_.bit_alloc.data(),
                            .words = storage_.words.data(),
                            .values = storage_.values.data()};
    constexpr Offset entries_a_thread = 4096;  // fewer do not pay for waking it
    const Offset useful = 1 + (storage_.rows + static_cast<Offset>(storage_.values.size())) / entries_a_thread;
    WEFT_CALL_ISA(multiply<V>)(view, product, static_cast<int>(std::min<Offset>(threads(), useful)));
  }

  void update_values(std::span<const V> csr_values) override {
    place_values(storage_, offsets_, csr_values.data(), storage_.values.data());
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = describe(storage_.shape, savings_of(storage_));
    info.bytes =
        storage_.slices.bytes() + storage_.bit_alloc.bytes() + storage_.words.bytes() + storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - storage_.kept;
    return info;
  }

 private:
  Storage<V> storage_;
  Array<Offset> offsets_;  // shared with the caller's matrix
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(matrix, options);
  return WEFT_ON_DEVICE(options.device, bro_ell::build<V>)(source, options);
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

/// Slices are padded one by one, but how rows are spread over them is not known here.
std::string rules_out(const RowLengths& rows, Device) {
  const double room = static_cast<double>(rows.longest_row) * static_cast<double>(rows.rows);
  if (room > 1.5 * static_cast<double>(rows.nonzeros))
    return "rows are too uneven: padding would take more than half as much again";
  return "";
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bro-ell";
    f.info.summary = "ell in slices whose column numbers are packed into few bits: fewer bytes to read";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {{"h", "rows of a slice; else 256", 32, most_slice_rows, true},
                         {"sym", "bits of a symbol, 32 or 64; else 32", 32, 64, true},
                         padding_parameter()};
    f.info.refuses = refuses_padding();
    f.info.storable = true;
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.storing.get<V>() = storing<V>(); });
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.setup_products = 25;
    f.rules_out = &rules_out;
    return f;
  }();
  return format;
}

}  // namespace weft::bro_ell
