// sell: the operator on a CPU, and the registry's entry.
#include <algorithm>
#include <limits>

#include "formats/cpu_operator.hpp"
#include "formats/padding_limit.hpp"
#include "formats/sell/cpu_storage.hpp"

namespace weft::sell {
namespace {

constexpr Offset entries_per_thread = 4096;  // below this, waking a thread costs more than it brings

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const MatrixSource<V>& source, const BuildOptions& options)
      : CpuOperatorBase<V>(source.rows(), source.nonzeros()),
        storage_(build_cpu_storage(source.host(), choose_cpu_shape(source, options), options)),
        offsets_(source.host().offsets) {}

  void update_values(std::span<const V> csr_values) override { place_values<V>(storage_, offsets_, csr_values); }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = describe(storage_.shape, storage_.short_slices, storage_.slice_count(), false);
    if (storage_.shape.runs)
      info.details += ", " + std::to_string(100 * storage_.in_runs / std::max<Offset>(1, this->entries())) +
                      " % of the entries in runs";
    info.bytes = storage_.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - this->entries();
    info.numbers = numbers_of(storage_.shape);
    info.numbers["runs"] = storage_.shape.runs ? 1 : 0;
    if (storage_.shape.hubs > 0) {
      info.details += ", rows of more than " + std::to_string(storage_.shape.hubs) + " entries first";
      info.numbers["hubs"] = storage_.shape.hubs;
    }
    return info;
  }

 private:
  void multiply(const Product<V>& product) override {
    const CpuMatrix<V> view{.rows = storage_.rows,
                            .slice_rows = storage_.shape.slice_rows,
                            .share_count = static_cast<Index>(storage_.shares.size()) - 1,
                            .shares = storage_.shares.data(),
                            .bands = storage_.bands.data(),
                            .distances = storage_.distances.data(),
                            .masks = storage_.masks.data(),
                            .order = storage_.order.empty() ? nullptr : storage_.order.data(),
                            .columns = storage_.columns.data(),
                            .values = storage_.values.data(),
                            .far = comes_from_memory(storage_.bytes()),
                            .gathers = this->isa() == Isa::avx512_gather};
    const Offset work = storage_.rows + static_cast<Offset>(storage_.values.size());
    WEFT_CALL_ISA(this->isa(), multiply<V>)(view, product, useful_threads(work, entries_per_thread));
  }

  CpuStorage<V> storage_;
  Array<Offset> offsets_;  // shared with the caller's matrix
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(source, options);
  return WEFT_ON_DEVICE(options.device, sell::build<V>)(source, options);
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "sell";
    f.info.summary = "slices of rows, each as wide as its longest row, with 16-bit columns where they fit";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"c", "rows per slice, 4 to 64 (GPU 32, CPU 8 in f64 and 16 in f32)", 4, max_slice_rows},
        {"sigma", "rows are sorted by length in windows of so many (1, or more if that saves 1 %)", 1,
         std::numeric_limits<Index>::max()},
        {"t", "threads per row on a GPU (1, or more where rows are few and long)", 1, 32, true},
        {"runs",
         "on a CPU, 1: entries of neighbouring rows in neighbouring columns go without columns (0, or 1 where that "
         "pays)",
         0, 1},
        {"hubs", "on a CPU: longer rows are sorted among themselves, and come first (0: none, or what saves padding)",
         0, std::numeric_limits<Index>::max()},
        padding_parameter(),
    };
    f.info.refuses = refuses_padding();
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    f.gathers = true;
    return f;
  }();
  return format;
}

}  // namespace weft::sell
