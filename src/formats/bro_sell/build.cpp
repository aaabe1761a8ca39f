// bro-sell: how a matrix is cut, the operator on a CPU, and the registry's entry.
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "formats/bro_sell/runs.hpp"
#include "formats/cpu_operator.hpp"
#include "formats/padding_limit.hpp"
#include "formats/sell/sell.hpp"

namespace weft::bro_sell {

template <Value V>
Shape choose_shape(int block, const sell::RowsToCut& rows, const BuildOptions& options) {
  // sell knows which sigma and t suit rows of these lengths.
  const sell::Shape like = sell::choose_shape<V>(rows, options);
  const bool cpu = options.device.is_cpu();
  Shape shape;
  shape.block = block;
  shape.slice_rows = like.slice_rows;
  shape.window = like.window;
  shape.threads = like.threads;
  shape.pack = cpu ? 1 : 4;
  shape.may_widen = !cpu && block == 1 && shape.threads == 1;
  shape.runs = cpu && options.parameter("runs", 1) != 0;
  return shape;
}

void require_sensible(Offset entries, Offset max_words, Offset nonzeros, std::size_t value_bytes,
                      const BuildOptions& options) {
  require_little_padding("bro-sell", entries, nonzeros, value_bytes + 1, options, "bro-hyb");
  if (max_words >= Offset(1) << 31)  // kernels count them with 32 bits
    throw Error(ErrorCode::unsupported,
                "format 'bro-sell': a row is too long for one slice; give it more threads (t=32), or use bro-hyb");
}

Singles cut_singles(const Array<Offset>& offsets, const Array<Index>& block_rows, int block,
                    const BuildOptions& options, ShapeChooser choose) {
  // The listed rows as if they were a matrix of their own.
  const auto rows = static_cast<Index>(block_rows.size() * static_cast<std::size_t>(block));
  const auto row_at = [&](Offset i) { return block_rows[i / block] * block + static_cast<Index>(i % block); };
  Array<Offset> own(static_cast<std::size_t>(rows) + 1);
  for (Index i = 0; i < rows; ++i) own[i] = offsets[row_at(i) + 1] - offsets[row_at(i)];
  prefix_sum(own.data(), rows);
  BuildOptions own_options = options;
  if (options.has("sigma1")) own_options.parameters["sigma"] = options.parameter("sigma1", 1);
  if (options.has("t1")) own_options.parameters["t"] = options.parameter("t1", 1);
  Singles singles{choose(1, {Device::cpu(), own.data(), rows, own.back()}, own_options),
                  Array<Index>(static_cast<std::size_t>(rows))};
  const Array<Index> sorted = sorted_rows(own, rows, singles.shape.window);
  for (Index i = 0; i < rows; ++i) singles.order[i] = row_at(sorted.empty() ? i : sorted[i]);
  return singles;
}

template <Value V>
Storage<V> build_storage(const MatrixSource<V>& source, const BuildOptions& options) {
  Storage<V> storage;
  const Csr<V>& matrix = source.host();
  const int block = block_for(source, options);
  const Pattern pattern = find_pattern(matrix.rows, matrix.offsets, matrix.columns, block);
  const sell::RowsToCut rows{Device::cpu(), pattern.offsets.data(), pattern.rows, pattern.offsets.back()};
  Shape shape = choose_shape<V>(block, rows, options);
  if (!options.has("sigma") && runs_instead_of_order(pattern, shape)) shape.window = 1;
  Part<V> whole = measure_part(matrix, pattern, shape, {});
  if (whole.masked_slices > 0) {
    Split split = split_by_bytes(matrix, pattern, whole);
    if (!split.singles.empty()) {
      Singles singles = cut_singles(matrix.offsets, split.singles, block, options, &choose_shape<V>);
      const Pattern single = find_pattern(matrix.rows, matrix.offsets, matrix.columns, 1);
      storage.singles = measure_part(matrix, single, singles.shape, std::move(singles.order));
      finish_part(matrix, single, storage.singles, options);
      storage.blocks.shape = shape;
      if (split.blocks.empty()) return storage;
      whole = measure_part(matrix, pattern, shape, std::move(split.blocks));
    }
  }
  finish_part(matrix, pattern, whole, options);
  if (block == 1)
    storage.singles = std::move(whole);
  else
    storage.blocks = std::move(whole);
  return storage;
}

std::map<std::string, std::int64_t> numbers_of(const Shape& blocks, const Shape& singles, Index single_rows) {
  const bool in_blocks = blocks.block > 1;
  const Shape& first = in_blocks ? blocks : singles;
  std::map<std::string, std::int64_t> numbers{{"block", blocks.block}, {"sigma", first.window}, {"t", first.threads}};
  if (in_blocks && single_rows > 0) {
    numbers["sigma1"] = singles.window;
    numbers["t1"] = singles.threads;
  }
  return numbers;
}

std::string describe(const Shape& blocks, Index block_rows, const Shape& singles, Index single_rows,
                     std::size_t index_bytes, Offset nonzeros) {
  const auto shape = [](const Shape& cut) {
    return "C = " + std::to_string(cut.slice_rows) + ", sigma = " + std::to_string(cut.window) +
           ", t = " + std::to_string(cut.threads);
  };
  std::string text;
  if (block_rows > 0) {
    const std::string b = std::to_string(blocks.block);
    text = b + " x " + b + " blocks";
    if (single_rows > 0)
      text += " in " + std::to_string(Offset(block_rows) * blocks.block) + " of " +
              std::to_string(Offset(block_rows) * blocks.block + single_rows) + " rows";
    text += ", ";
  }
  text += shape(block_rows > 0 ? blocks : singles);
  std::array<char, 64> bits{};
  std::snprintf(bits.data(), bits.size(), ", %.1f bits of index a nonzero",
                nonzeros == 0 ? 0.0 : 8 * static_cast<double>(index_bytes) / static_cast<double>(nonzeros));
  return text + bits.data();
}

namespace {

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const MatrixSource<V>& source, const BuildOptions& options)
      : CpuOperatorBase<V>(source.rows(), source.nonzeros()),
        storage_(build_storage(source, options)),
        offsets_(source.host().offsets),
        runs_(options.parameter("runs", 1) != 0) {}

  void update_values(std::span<const V> csr_values) override {
    for (Part<V>* part : {&storage_.blocks, &storage_.singles})
      place_values<V>(*part, offsets_, csr_values, part->values.data());
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    std::size_t index_bytes = 0, values = 0;
    for (const Part<V>* part : {&storage_.blocks, &storage_.singles}) {
      index_bytes += part->order.bytes() + part->slices.bytes() + part->bases.bytes() + part->words.bytes();
      values += part->values.size();
    }
    info.details = describe(storage_.blocks.shape, storage_.blocks.rows, storage_.singles.shape, storage_.singles.rows,
                            index_bytes, this->entries());
    info.bytes = index_bytes + values * sizeof(V);
    info.padding = static_cast<Offset>(values) - this->entries();
    info.numbers = numbers_of(storage_.blocks.shape, storage_.singles.shape, storage_.singles.rows);
    info.numbers["runs"] = runs_ ? 1 : 0;
    if (runs_) info.details += ", " + std::to_string(share_in_runs()) + " % of the values in runs";
    return info;
  }

 private:
  void multiply(const Product<V>& product) override {
    multiply_part(storage_.blocks, product);
    multiply_part(storage_.singles, product);
  }

  /// In percent of what is stored.
  Offset share_in_runs() const {
    Offset all = 0, found = 0;
    for (const Part<V>* part : {&storage_.blocks, &storage_.singles})
      for (const Slice& slice : part->slices) {
        const Offset values = Offset(slice.width) * part->shape.block * part->shape.block * part->shape.slice_rows;
        all += values;
        if (slice.marks & in_runs) found += values;
      }
    return 100 * found / std::max<Offset>(1, all);
  }

  void multiply_part(const Part<V>& part, const Product<V>& product) const {
    if (part.rows == 0) return;
    const CpuPart<V> view{.block = part.shape.block,
                          .rows = part.rows,
                          .slice_count = static_cast<Index>(part.slices.size()),
                          .slices = part.slices.data(),
                          .order = part.order.empty() ? nullptr : part.order.data(),
                          .bases = part.bases.data(),
                          .words = part.words.data(),
                          .values = part.values.data()};
    constexpr Offset work_per_thread = 4096;
    const Offset work = part.rows + static_cast<Offset>(part.values.size());
    WEFT_CALL_ISA(this->isa(), multiply<V>)(view, product, useful_threads(work, work_per_thread));
  }

  Storage<V> storage_;
  Array<Offset> offsets_;  // shared with the caller's matrix
  bool runs_;              // are stored where there are some
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(source, options);
  return WEFT_ON_DEVICE(options.device, bro_sell::build<V>)(source, options);
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "bro-sell";
    f.info.summary = "slices with packed column numbers, one for a whole block where unknowns come in blocks: meshes";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"block", "unknowns of a node, whose blocks share a column number; 1: no blocks; else what the matrix shows", 1,
         max_block},
        {"sigma", "rows sorted by length in windows of so many; else what leaves little padding", 1, 1 << 24},
        {"t", "threads per row on a GPU; else more than 1 where rows are few and long", 1, 32, true},
        {"sigma1", "sigma of the rows that take fewer bytes outside of blocks; else sigma, or what suits them", 1,
         1 << 24},
        {"t1", "t of these rows; else t, or what suits them", 1, 32, true},
        {"runs", "on a CPU, 0: slices of alike rows are packed, too, in place of loading x as vectors there", 0, 1},
        padding_parameter()};
    f.info.refuses = refuses_padding();
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.predict = &predict;
    return f;
  }();
  return format;
}

#define WEFT_INSTANTIATE(V)                                                         \
  template Shape choose_shape<V>(int, const sell::RowsToCut&, const BuildOptions&); \
  template Storage<V> build_storage<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell
