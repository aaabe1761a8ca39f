#include <algorithm>

#include "facts/source_facts.hpp"
#include "formats/cpu_operator.hpp"
#include "formats/ell/ell.hpp"
#include "formats/padding_limit.hpp"

namespace weft::ell {

template <Value V>
void fill(const Shape& shape, const Array<Offset>& offsets, const Index* csr_columns, const V* csr_values,
          Index* columns, V* values) {
  constexpr Index rows_per_task = 32;
  constexpr Index steps_per_task = 1024;  // so that a few long rows keep all threads busy, too
  const Offset slots = shape.slots(), padded_rows = slots / shape.threads;
  const Offset row_tasks = (padded_rows + rows_per_task - 1) / rows_per_task;
  const Offset step_tasks = (static_cast<Offset>(shape.steps()) + steps_per_task - 1) / steps_per_task;
  parallel_for(row_tasks * step_tasks, 16, [&](std::int64_t task) {
    const Offset first_row = task % row_tasks * rows_per_task;
    const Offset last_row = std::min(padded_rows, first_row + rows_per_task);
    const Offset first_step = task / row_tasks * steps_per_task;
    const Offset last_step = std::min<Offset>(shape.steps(), first_step + steps_per_task);
    Offset begins[rows_per_task], lengths[rows_per_task];
    for (Offset row = first_row; row < last_row; ++row) {
      begins[row - first_row] = row < shape.rows ? offsets[row] : 0;
      lengths[row - first_row] = row < shape.rows ? std::min<Offset>(shape.width, offsets[row + 1] - offsets[row]) : 0;
    }
    for (Offset step = first_step; step < last_step; ++step) {
      Offset place = step * slots + first_row * shape.threads;
      for (Offset r = 0; r < last_row - first_row; ++r)
        for (Offset k = step * shape.threads; k < (step + 1) * shape.threads; ++k, ++place) {
          if (columns) columns[place] = k < lengths[r] ? csr_columns[begins[r] + k] : padding_column<Index>;
          values[place] = k < lengths[r] ? csr_values[begins[r] + k] : V(0);
        }
    }
  });
}

namespace {

constexpr Offset entries_per_chunk = 16384;

Array<Index> lengths_of(const Shape& shape, const Array<Offset>& offsets) {
  Array<Index> lengths(static_cast<std::size_t>(shape.rows));
  parallel_for(shape.rows, 1 << 16, [&](std::int64_t row) {
    lengths[row] = static_cast<Index>(std::min<Offset>(shape.width, offsets[row + 1] - offsets[row]));
  });
  return lengths;
}

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const Csr<V>& matrix, const Shape& shape)
      : CpuOperatorBase<V>(shape.rows, shape.kept),
        shape_(shape),
        offsets_(matrix.offsets),
        columns_(static_cast<std::size_t>(shape.stored())),
        values_(static_cast<std::size_t>(shape.stored())) {
    if (shape.has_lengths()) lengths_ = lengths_of(shape, offsets_);
    fill(shape, offsets_, matrix.columns.data(), matrix.values.data(), columns_.data(), values_.data());
  }

  void update_values(std::span<const V> csr_values) override {
    fill<V>(shape_, offsets_, nullptr, csr_values.data(), nullptr, values_.data());
  }

  OperatorInfo info() const override { return describe(shape_, columns_.bytes() + values_.bytes() + lengths_.bytes()); }

 private:
  void multiply(const Product<V>& product) override {
    const View<V> view{.rows = shape_.rows,
                       .width = shape_.width,
                       .threads = shape_.threads,
                       .slots = shape_.slots(),
                       .steps = shape_.steps(),
                       .columns = columns_.data(),
                       .values = values_.data(),
                       .lengths = lengths_.data()};
    const Offset tiles = entries_per_chunk / shape_.width / rows_per_tile;
    const Index chunk_rows = rows_per_tile * static_cast<Index>(std::max<Offset>(1, tiles));
    WEFT_CALL_ISA(this->isa(), multiply<V>)(view, product, chunk_rows, useful_threads(shape_.rows - 1, chunk_rows));
  }

  Shape shape_;
  Array<Offset> offsets_;  // the caller's, shared
  Array<Index> columns_;
  Array<V> values_;
  Array<Index> lengths_;
};

template <Value V>
std::unique_ptr<Operator<V>> build_shape(const MatrixSource<V>& source, const Shape& shape, Device device) {
  if (device.is_cpu()) return std::make_unique<CpuOperator<V>>(source.host(), shape);
  return WEFT_ON_DEVICE(device, ell::build<V>)(source, shape, device);
}

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return build_shape(source, choose_shape(row_lengths(source), sizeof(V), options), options.device);
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build_part(const MatrixSource<V>& source, Index width, const BuildOptions& options) {
  return build_shape(source, choose_shape(row_lengths(source), sizeof(V), options, width), options.device);
}

const Format& format() {
  static const Format format = [] {
    const std::vector<Device::Kind> all{Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    Format f;
    f.info.name = "ell";
    f.info.summary = "all rows padded to the longest, stored column by column: rows of even length";
    f.info.devices = all;
    f.info.variants = {{"plain", "ELLPACK: a row ends where its columns do", all},
                       {"r", "ELLPACK-R: the lengths of the rows are stored too", all},
                       {"rt", "ELLR-T: and several threads take a row", all}};
    f.info.parameters = {{"t", "threads per row of ell:rt; else by the mean row length", 1, 32, true},
                         padding_parameter()};
    f.info.refuses = refuses_padding();
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    return f;
  }();
  return format;
}

#define WEFT_INSTANTIATE(V)                                                                                \
  template std::unique_ptr<Operator<V>> build_part<V>(const MatrixSource<V>&, Index, const BuildOptions&); \
  template void fill<V>(const Shape&, const Array<Offset>&, const Index*, const V*, Index*, V*);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ell
