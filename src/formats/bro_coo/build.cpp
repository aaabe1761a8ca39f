#include <cstdio>

#include "formats/bro_coo/bro_coo.hpp"
#include "formats/bro_coo/tuning.hpp"
#include "formats/coo/coo.hpp"
#include "formats/coo/tuning.hpp"
#include "formats/cpu_operator.hpp"

namespace weft::bro_coo {

Shape choose_shape(Offset entries, const BuildOptions& options) {
  int steps = 32;
  if (!options.device.is_cpu()) {
    const auto tuning = options.tuning_as<Tuning>();
    while (steps > tuning.min_steps && entries / steps < tuning.enough_threads) steps /= 2;
  }
  return {.entries = entries,
          .steps = static_cast<int>(options.parameter("steps", steps)),
          .symbol_bits = static_cast<int>(options.parameter("sym", 32))};
}

std::map<std::string, std::int64_t> numbers_of(const Shape& shape) {
  return {{"steps", shape.steps}, {"sym", shape.symbol_bits}};
}

double space_savings(const Shape& shape, std::size_t symbol_bytes) {
  if (shape.entries == 0) return 0;
  // An interval's width, its first row, and where its symbols begin.
  constexpr std::size_t interval_bytes = sizeof(std::uint8_t) + sizeof(Index) + sizeof(Offset);
  const auto compressed =
      static_cast<double>(symbol_bytes) + static_cast<double>(interval_bytes) * static_cast<double>(shape.intervals());
  return 1 - compressed / (static_cast<double>(sizeof(Index)) * static_cast<double>(shape.entries));
}

OperatorInfo describe(const Shape& shape, std::size_t symbol_bytes) {
  OperatorInfo info;
  char savings[32];
  std::snprintf(savings, sizeof savings, "%.1f", 100 * space_savings(shape, symbol_bytes));
  info.details = "intervals of " + std::to_string(shape.interval_entries()) + " entries, " +
                 std::to_string(shape.symbol_bits) + "-bit symbols, row numbers " + savings + " % smaller";
  info.padding = shape.places() - shape.entries;
  info.numbers = numbers_of(shape);
  return info;
}

namespace {

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  explicit CpuOperator(Storage<V> storage)
      : CpuOperatorBase<V>(storage.rows, storage.shape.entries),
        storage_(std::move(storage)),
        chunk_intervals_(std::max<Offset>(1, coo::entries_per_chunk / storage_.shape.interval_entries())),
        chunks_((storage_.shape.intervals() + chunk_intervals_ - 1) / chunk_intervals_),
        carries_(static_cast<std::size_t>(chunks_) * 2 * max_row_major_vectors) {}

  void update_values(std::span<const V> csr_values) override {
    place_values(storage_.shape, csr_values.data(), storage_.values.data());
  }

  OperatorInfo info() const override {
    OperatorInfo info = describe(storage_.shape, storage_.symbols.bytes());
    info.bytes = storage_.bytes() + carries_.bytes();
    return info;
  }

 private:
  void multiply(const Product<V>& product) override {
    if (product.beta != V(1)) scale_on_cpu(product, storage_.rows);
    const CpuMatrix<V> view{.entries = storage_.shape.entries,
                            .intervals = storage_.shape.intervals(),
                            .steps = storage_.shape.steps,
                            .words_per_symbol = storage_.shape.words_per_symbol(),
                            .bounds = storage_.bounds.data(),
                            .widths = storage_.widths.data(),
                            .words = storage_.words.data(),
                            .symbols = storage_.symbols.data(),
                            .columns = storage_.columns.data(),
                            .values = storage_.values.data(),
                            .chunk_intervals = chunk_intervals_,
                            .carries = carries_.data()};
    WEFT_CALL_ISA(multiply_add<V>)(view, product, useful_threads(chunks_ - 1, 1));
  }

  Storage<V> storage_;
  Offset chunk_intervals_;
  Offset chunks_;
  Array<V> carries_;
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu())
    return std::make_unique<CpuOperator<V>>(encode(source.host(), choose_shape(source.nonzeros(), options)));
  return WEFT_ON_DEVICE(options.device, bro_coo::build<V>)(source, options);
}

template <Value V>
Storing<V> storing() {
  return {.store =
              [](const Csr<V>& matrix, const BuildOptions& options) {
                return to_arrays(encode(matrix, choose_shape(matrix.nonzeros(), options)));
              },
          .unpack = [](const StoredArrays& arrays, Index rows,
                       Index cols) { return decode(from_arrays<V>(arrays, rows, cols)); },
          .load = [](const StoredArrays& arrays, const Csr<V>& matrix, const BuildOptions& options) -> Loaded<V> {
            Storage<V> storage = from_arrays<V>(arrays, matrix.rows, matrix.cols);
            if (options.device.is_cpu()) return {std::make_unique<CpuOperator<V>>(std::move(storage))};
            storage.has_empty_rows = any_empty_row(matrix.offsets);
            return {WEFT_ON_DEVICE(options.device, bro_coo::load<V>)(storage, matrix, options.device)};
          }};
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bro-coo";
    f.info.summary = "coo with packed row numbers, a few bits per entry: indifferent to uneven rows";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"steps", "entries per lane of an interval; else 32, on a GPU fewer for small matrices", 1, max_steps, true},
        {"sym", "bits per symbol; else 32", 32, 64, true}};
    f.info.storable = true;
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.storing.get<V>() = storing<V>(); });
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    return f;
  }();
  return format;
}

}  // namespace weft::bro_coo
