#include <limits>

#include "formats/cpu_operator.hpp"
#include "formats/csr/csr.hpp"
#include "formats/csr/row_groups.hpp"
#include "formats/csr/variants.hpp"

namespace weft::csr {

Array<Chunk> cut_into_chunks(Index rows, const Array<Offset>& offsets, Offset items) {
  const Offset entries = offsets[rows];
  const Offset path = rows + entries;
  const Offset count = path == 0 ? 0 : (path + items - 1) / items;
  Array<Chunk> chunks(static_cast<std::size_t>(count) + 1);
  parallel_for(count, 1024, [&](std::int64_t c) {
    // The last row whose end, and all before it, lies within the first c * items steps of the path.
    const Offset step = c * items;
    Index low = 0, high = rows;
    while (low < high) {
      const Index middle = high - (high - low) / 2;
      if (middle + offsets[middle] <= step)
        low = middle;
      else
        high = middle - 1;
    }
    Offset entry = step - low;
    if (low < rows && offsets[low + 1] - offsets[low] <= items) entry = offsets[low];
    chunks[c] = {low, entry};
  });
  chunks[count] = {rows, entries};
  return chunks;
}

namespace {

// About 50 KB of matrix: well over a hand-out's cost, and the products of short rows stay in the first-level cache.
constexpr Offset items_per_chunk = 4096;
constexpr std::size_t large_x_bytes = std::size_t{2} << 20;  // what second-level caches hold
constexpr Offset items_per_thread = 4096;                    // below this, waking a thread costs more than it brings

/// Chunks that end inside a row: the next ones go on with it.
Array<Offset> chunks_with_carries(const Array<Offset>& offsets, Index rows, const Array<Chunk>& chunks) {
  std::vector<Offset> carried;
  for (std::size_t c = 0; c + 1 < chunks.size(); ++c) {
    const Chunk begin = chunks[c], end = chunks[c + 1];
    if (end.row < rows && end.entry > offsets[end.row] && end.entry > begin.entry)
      carried.push_back(static_cast<Offset>(c));
  }
  return Array<Offset>(std::move(carried));
}

template <Value V, class O>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const Csr<V>& matrix, Array<O> offsets)
      : CpuOperatorBase<V>(matrix.rows, matrix.nonzeros()),
        large_x_(static_cast<std::size_t>(matrix.cols) * sizeof(V) > large_x_bytes),
        offsets_(std::move(offsets)),
        columns_(matrix.columns),
        values_(matrix.values),
        chunks_(cut_into_chunks(matrix.rows, matrix.offsets, items_per_chunk)),
        groups_(group_rows(matrix.rows, matrix.offsets, chunks_)),
        carried_(chunks_with_carries(matrix.offsets, matrix.rows, chunks_)),
        carries_(chunks_.size() * max_row_major_vectors) {}

  void update_values(std::span<const V> csr_values) override {
    // The new numbers of a caller whose own array this is are in place already.
    if (csr_values.data() == values_.data()) return;
    if (shares_values_) values_ = Array<V>(csr_values.size());
    shares_values_ = false;
    copy_values(csr_values, values_.data());
  }

  OperatorInfo info() const override {
    return {"merge",
            std::to_string(chunks_.size() - 1) + " pieces of " + std::to_string(items_per_chunk) + " rows + entries, " +
                std::to_string(8 * sizeof(O)) + "-bit offsets",
            offsets_.bytes() + columns_.bytes() + values_.bytes() + chunks_.bytes() + groups_.shapes.bytes() +
                groups_.order.bytes() + carried_.bytes() + carries_.bytes()};
  }

 private:
  void multiply(const Product<V>& product) override {
    const CpuMatrix<V, O> view{.rows = this->rows(),
                               .offsets = offsets_.data(),
                               .columns = columns_.data(),
                               .values = values_.data(),
                               .chunks = chunks_.data(),
                               .chunk_count = static_cast<Offset>(chunks_.size()) - 1,
                               .shapes = groups_.shapes.data(),
                               .order = groups_.order.data(),
                               .large_x = large_x_,
                               .far = comes_from_memory(offsets_.bytes() + columns_.bytes() + values_.bytes()),
                               .carried = carried_.data(),
                               .carried_count = static_cast<Offset>(carried_.size()),
                               .carries = carries_.data()};
    const int workers = useful_threads(this->rows() + this->entries(), items_per_thread);
    WEFT_CALL_ISA(this->isa(), multiply<V, O>)(view, product, workers);
  }

  bool large_x_;
  Array<O> offsets_;
  Array<Index> columns_;
  Array<V> values_;
  Array<Chunk> chunks_;
  RowGroups groups_;
  Array<Offset> carried_;
  Array<V> carries_;
  bool shares_values_ = true;  // with the caller's matrix, until new values come
};

template <Value V>
std::unique_ptr<Operator<V>> build_cpu(const MatrixSource<V>& source, const BuildOptions& options) {
  find_variant(options.variant, options.device);  // throws for one that is not for the CPU
  const Csr<V>& matrix = source.host();
  if (matrix.nonzeros() > std::numeric_limits<std::uint32_t>::max())
    return std::make_unique<CpuOperator<V, Offset>>(matrix, matrix.offsets);
  return std::make_unique<CpuOperator<V, std::uint32_t>>(matrix, source.state().host_offsets32());
}

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu()) return build_cpu(source, options);
  return WEFT_ON_DEVICE(options.device, csr::build<V>)(source, options);
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "csr";
    f.info.summary = "rows one after the other, as they come: no conversion";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.variants = variant_infos();
    f.info.parameters = {
        {"several",
         "threads per row that multiply several vectors at once on a GPU, 0: none do (else where rows are even); not "
         "for csr:vector, which always does",
         0, 32, true},
        {"w", "entries per lane of csr:speculative, rounded up to an even number (f32 8, f64 4)", 2, 8},
        {"s", "tiles per bunch of csr:speculative (f32 2, f64 4)", 1, most_tiles_a_bunch},
        {"b", "bunches per group of csr:speculative (8)", 1, 8}};
    for_each_value_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    f.yardstick = true;
    return f;
  }();
  return format;
}

}  // namespace weft::csr
