// csr on a GPU: which kernel multiplies, and what it keeps. The kernels are in rows.cuh, merge.cuh, speculative.cuh and
// row_major.cuh.
#include "facts/source_facts.hpp"
#include "formats/csr/csr.hpp"
#include "formats/csr/hybrid.cuh"
#include "formats/csr/long_rows.cuh"
#include "formats/csr/merge.cuh"
#include "formats/csr/row_major.cuh"
#include "formats/csr/rows.cuh"
#include "formats/csr/speculative.cuh"
#include "formats/csr/variants.hpp"
#include "formats/gpu_operator.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::csr {
namespace {

using ::weft::csr::Algorithm;
using ::weft::csr::Tuning;
using ::weft::csr::Variant;

/// How the work is given to threads.
struct Schedule {
  Algorithm algorithm = Algorithm::vector;
  int lanes = 1;          // threads per row, of vector and of what falls back to it
  int several_lanes = 0;  // column-major vectors are multiplied at once, by vector with so many; 0: they are not
  MergeKernel merge = MergeKernel::block;
  SpeculativeShape shape;
  Index empty_rows = 0;
};

bool has_many_empty_rows(const RowLengths& rows, const Tuning& tuning) {
  return static_cast<double>(rows.empty_rows) > tuning.graph_empty * static_cast<double>(rows.rows);
}

bool are_even(const RowLengths& rows, const Tuning& tuning) {
  return rows.mean_row <= tuning.stream_mean && rows.longest_row <= tuning.stream_longest;
}

/// The rule of `csr:auto`, see README.md.
template <class V>
Algorithm choose_algorithm(const RowLengths& rows, const Tuning& tuning) {
  const auto longest = static_cast<double>(rows.longest_row);
  if (are_even(rows, tuning))
    return tuning.stream_even_rows.of<V>() || has_many_empty_rows(rows, tuning) ? Algorithm::stream : Algorithm::merge;
  if (tuning.vector_for_long_rows.of<V>() && rows.mean_row > tuning.stream_mean && rows.rows >= tuning.vector_rows &&
      longest <= tuning.vector_longest * rows.mean_row)
    return Algorithm::vector;
  if (rows.mean_row <= tuning.speculative_mean && rows.empty_rows == 0) return Algorithm::speculative;
  return Algorithm::merge;
}

/// Many empty rows among uneven ones are taken for a power-law graph: its columns are scattered, and few of them are
/// used again and again.
template <class V>
MergeKernel choose_merge(const RowLengths& rows, const Tuning& tuning) {
  if (has_many_empty_rows(rows, tuning)) return MergeKernel::narrow;
  const bool wide =
      rows.mean_row >= tuning.wide_shortest_mean.of<V>() && rows.mean_row <= tuning.wide_longest_mean.of<V>();
  return wide ? MergeKernel::wide : MergeKernel::block;
}

int lanes_for(const RowLengths& rows, double entries_per_lane, const Tuning& tuning) {
  if (static_cast<double>(rows.longest_row) > tuning.uneven * rows.mean_row && rows.longest_row > 32) return 32;
  int lanes = 2;
  while (lanes < 32 && lanes * entries_per_lane < rows.mean_row) lanes *= 2;
  return lanes;
}

template <Value V>
Schedule choose_schedule(const MatrixSource<V>& source, const BuildOptions& options) {
  const Variant& variant = ::weft::csr::find_variant(options.variant, options.device);
  const auto tuning = options.tuning_as<Tuning>();
  Schedule schedule;
  schedule.shape = speculative_shape<V>(tuning, options);
  if (variant.lanes > 0) {
    schedule.lanes = variant.lanes;
    return schedule;
  }
  const RowLengths& rows = row_lengths(source);
  const bool by_rows = variant.algorithm == Algorithm::by_rows;
  schedule.empty_rows = rows.empty_rows;
  schedule.lanes = lanes_for(rows, tuning.entries_per_lane.of<V>(), tuning);
  const bool several = variant.algorithm == Algorithm::stream || (by_rows && are_even(rows, tuning));
  schedule.several_lanes = static_cast<int>(options.parameter("several", several ? schedule.lanes : 0));
  schedule.merge = variant.merge == MergeKernel::by_rows ? choose_merge<V>(rows, tuning) : variant.merge;
  schedule.algorithm = by_rows ? choose_algorithm<V>(rows, tuning) : variant.algorithm;
  return schedule;
}

template <Value V, class O>
class GpuOperator final : public GpuOperatorBase<V> {
 public:
  GpuOperator(const MatrixSource<V>& source, DeviceArray<O> offsets, const BuildOptions& options)
      : GpuOperatorBase<V>(options.device, source.rows(), source.nonzeros()),
        schedule_(choose_schedule(source, options)),
        offsets_(std::move(offsets)),
        columns_(source.state().on_device(options.device).columns),
        values_(source.state().on_device(options.device).values) {
    gpu::CurrentDevice current(options.device);
    Carver count;
    carve(count);
    workspace_ = DeviceBuffer<std::byte>(options.device, count.bytes());
    Carver space(workspace_.data());
    carve(space);
    if (schedule_.algorithm == Algorithm::merge) merge_search(view(), merge_, {});
    if (schedule_.algorithm == Algorithm::long_rows) long_search(options.device, view(), long_, {});
    row_major_search(view(), row_major_, {});
    if (speculates()) speculative_search(view(), schedule_.shape, speculation_, {});
    if (schedule_.algorithm == Algorithm::hybrid)
      hybrid_ =
          Hybrid<V, O>(options.device, view(), schedule_.shape, schedule_.empty_rows, source.state().host_offsets());
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    const SpeculativeShape& shape = schedule_.shape;
    switch (schedule_.algorithm) {
      case Algorithm::by_rows:
      case Algorithm::vector:
        info.variant = schedule_.lanes == 1 ? "scalar" : "vector" + std::to_string(schedule_.lanes);
        info.details =
            std::to_string(schedule_.lanes) + (schedule_.lanes == 1 ? " thread per row" : " threads per row");
        break;
      case Algorithm::long_rows:
        info.variant = "long";
        info.details = "pieces of " + std::to_string(long_entries) + " entries";
        break;
      case Algorithm::stream:
        info.variant = "stream";
        info.details = "rows summed from shared memory";
        break;
      case Algorithm::merge:
        info.variant = schedule_.merge == MergeKernel::narrow ? "merge-narrow"
                       : schedule_.merge == MergeKernel::wide ? "merge-wide"
                                                              : "merge-block";
        info.details = "shares of " + std::to_string(merge_steps<V>(schedule_.merge)) + " rows + entries";
        break;
      case Algorithm::speculative:
      case Algorithm::hybrid:
        info.variant = schedule_.algorithm == Algorithm::hybrid ? "speculative-cpu" : "speculative";
        info.details = "W = " + std::to_string(shape.width) + ", S = " + std::to_string(shape.tiles) +
                       ", B = " + std::to_string(shape.bunches);
        break;
    }
    info.details += ", " + std::to_string(8 * sizeof(O)) + "-bit offsets";
    info.numbers = numbers();
    info.bytes = offsets_.bytes() + columns_.bytes() + values_.bytes() + workspace_.bytes() + hybrid_.bytes();
    return info;
  }

 private:
  std::map<std::string, std::int64_t> numbers() const {
    if (schedule_.algorithm == Algorithm::vector) return {};
    std::map<std::string, std::int64_t> result{{"several", schedule_.several_lanes}};
    if (!speculates()) return result;
    const SpeculativeShape& shape = schedule_.shape;
    result.insert({{"w", shape.width}, {"s", shape.tiles}, {"b", shape.bunches}});
    return result;
  }

  void multiply(const Product<V>& product, Stream stream) override {
    if (has_gaps(product)) return row_major_multiply(view(), row_major_, product, stream);
    if (product.count > 1 && schedule_.several_lanes > 0 && schedule_.algorithm != Algorithm::vector)
      return vector_multiply(schedule_.several_lanes, view(), product, stream);
    switch (schedule_.algorithm) {
      case Algorithm::merge:
        return for_each_vector(product, [&](const Product<V>& one) { merge_multiply(view(), merge_, one, stream); });
      case Algorithm::long_rows:
        return for_each_vector(product, [&](const Product<V>& one) { long_multiply(view(), long_, one, stream); });
      case Algorithm::speculative:
        return for_each_vector(product, [&](const Product<V>& one) {
          speculative_multiply(view(), schedule_.shape, speculation_, one, stream);
        });
      case Algorithm::hybrid:
        return for_each_vector(
            product, [&](const Product<V>& one) { hybrid_.multiply(view(), speculation_.tile_rows, one, stream); });
      case Algorithm::stream:
        return for_each_vector(product, [&](const Product<V>& one) { stream_multiply(view(), one, stream); });
      default:
        return vector_multiply(schedule_.lanes, view(), product, stream);
    }
  }

  void place_values(const V* csr_values) override { values_.replace(this->device(), csr_values); }

  View<V, O> view() const { return {this->rows(), this->entries(), offsets_.data(), columns_.data(), values_.data()}; }

  bool speculates() const {
    return schedule_.algorithm == Algorithm::speculative || schedule_.algorithm == Algorithm::hybrid;
  }

  void carve(Carver& space) {
    row_major_ = RowMajorSpace<V>(view(), space);
    if (schedule_.algorithm == Algorithm::merge) merge_ = MergeSpace<V>(view(), schedule_.merge, space);
    if (schedule_.algorithm == Algorithm::long_rows) long_ = LongSpace<V>(view(), space);
    if (speculates()) {
      const Index empty_rows = schedule_.algorithm == Algorithm::hybrid ? 0 : schedule_.empty_rows;
      speculation_ = speculation_for(view(), schedule_.shape, true, empty_rows, space);
    }
  }

  template <class F>
  static void for_each_vector(const Product<V>& product, F&& multiply) {
    for (int j = 0; j < product.count; ++j) multiply(product.part(j, 1));
  }

  Schedule schedule_;
  DeviceArray<O> offsets_;
  DeviceArray<Index> columns_;
  SharedValues<V> values_;
  DeviceBuffer<std::byte> workspace_;
  MergeSpace<V> merge_;
  LongSpace<V> long_;
  Speculation<V> speculation_;
  RowMajorSpace<V> row_major_;
  Hybrid<V, O> hybrid_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  source.state().on_device(options.device);  // before facts are needed, which are then found there
  if (source.nonzeros() > max_entries_of_32_bits)
    return std::make_unique<GpuOperator<V, Offset>>(source, source.state().offsets64(options.device), options);
  return std::make_unique<GpuOperator<V, std::uint32_t>>(source, source.state().offsets32(options.device), options);
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> build<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
