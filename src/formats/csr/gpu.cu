// csr on a GPU: which kernel multiplies, and what it keeps. The kernels are in rows.cuh, merge.cuh and speculative.cuh.
#include <weft/structure.hpp>

#include <limits>

#include "core/timer.hpp"
#include "formats/csr/csr.hpp"
#include "formats/csr/hybrid.cuh"
#include "formats/csr/merge.cuh"
#include "formats/csr/rows.cuh"
#include "formats/csr/speculative.cuh"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::csr {
namespace {

enum class Algorithm { vector, stream, merge, speculative, hybrid };

/// How the work is given to threads.
struct Schedule {
  Algorithm algorithm = Algorithm::vector;
  int lanes = 1;                   // threads a row, of vector and of what falls back to it
  bool several_by_vector = false;  // several vectors are multiplied at once, by vector
  MergeKernel merge = MergeKernel::block;
  SpeculativeShape shape;
  Index empty_rows = 0;
};

bool has_many_empty_rows(const RowLengths& rows, const ::weft::simt::Tuning& tuning) {
  return static_cast<double>(rows.empty_rows) > tuning.csr_graph_empty * static_cast<double>(rows.rows);
}

bool are_even(const RowLengths& rows, const ::weft::simt::Tuning& tuning) {
  return rows.mean_row <= tuning.csr_stream_mean && rows.longest_row <= tuning.csr_stream_longest;
}

/// The rule of `csr:auto`, see README.md.
template <class V>
Algorithm choose_algorithm(const RowLengths& rows, const ::weft::simt::Tuning& tuning) {
  const auto longest = static_cast<double>(rows.longest_row);
  if (are_even(rows, tuning))
    return sizeof(V) == 4 || has_many_empty_rows(rows, tuning) ? Algorithm::stream : Algorithm::merge;
  if (sizeof(V) == 4 && rows.mean_row > tuning.csr_stream_mean && rows.rows >= tuning.csr_vector_rows &&
      longest <= tuning.csr_vector_longest * rows.mean_row)
    return Algorithm::vector;
  if (rows.mean_row <= tuning.csr_speculative_mean && rows.empty_rows == 0) return Algorithm::speculative;
  return Algorithm::merge;
}

/// Many empty rows among uneven ones are taken for a power-law graph: its columns are scattered, and few of them are
/// wanted again and again.
template <class V>
MergeKernel choose_merge(const RowLengths& rows, const ::weft::simt::Tuning& tuning) {
  if (has_many_empty_rows(rows, tuning)) return MergeKernel::narrow;
  const bool wide = sizeof(V) == 4 && rows.mean_row >= tuning.csr_wide_shortest_mean_f32 &&
                    rows.mean_row <= tuning.csr_wide_longest_mean_f32;
  return wide ? MergeKernel::wide : MergeKernel::block;
}

template <Value V>
Schedule choose_schedule(const Csr<V>& matrix, const BuildOptions& options) {
  const std::string& variant = options.variant;
  const auto tuning =
      options.tuning ? *options.tuning : ::weft::simt::tuning_for(describe(options.device).compute_capability);
  Schedule schedule;
  schedule.shape = speculative_shape<V>(tuning);
  if (variant == "scalar") return schedule;
  if (variant.starts_with("vector") && variant.size() > 6) {
    schedule.lanes = std::stoi(variant.substr(6));
    return schedule;
  }
  const RowLengths rows = analyze_rows(matrix);
  schedule.empty_rows = rows.empty_rows;
  schedule.several_by_vector =
      variant == "stream" || ((variant.empty() || variant == "auto") && are_even(rows, tuning));
  const double per_lane = sizeof(V) == 4 ? tuning.csr_entries_per_lane_f32 : tuning.csr_entries_per_lane_f64;
  schedule.lanes = 2;
  while (schedule.lanes < 32 && schedule.lanes * per_lane < rows.mean_row) schedule.lanes *= 2;
  if (static_cast<double>(rows.longest_row) > tuning.csr_uneven * rows.mean_row && rows.longest_row > 32)
    schedule.lanes = 32;
  schedule.merge = variant == "merge-narrow"  ? MergeKernel::narrow
                   : variant == "merge-wide"  ? MergeKernel::wide
                   : variant == "merge-block" ? MergeKernel::block
                                              : choose_merge<V>(rows, tuning);
  schedule.algorithm = variant == "vector"            ? Algorithm::vector
                       : variant == "stream"          ? Algorithm::stream
                       : variant.starts_with("merge") ? Algorithm::merge
                       : variant == "speculative"     ? Algorithm::speculative
                       : variant == "speculative-cpu" ? Algorithm::hybrid
                                                      : choose_algorithm<V>(rows, tuning);
  return schedule;
}

template <Value V, class O>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, std::span<const O> offsets, const BuildOptions& options)
      : device_(options.device),
        rows_(matrix.rows),
        schedule_(choose_schedule(matrix, options)),
        offsets_(options.device, offsets),
        columns_(options.device, matrix.columns),
        values_(options.device, matrix.values) {
    upload_seconds_ = upload_.seconds();
    gpu::CurrentDevice current(device_);
    Carver count;
    carve(count);
    workspace_ = DeviceBuffer<std::byte>(device_, count.bytes());
    Carver space(workspace_.data());
    carve(space);
    if (schedule_.algorithm == Algorithm::merge) merge_search(view(), merge_, {});
    if (speculates()) speculative_search(view(), schedule_.shape, speculation_, {});
    if (schedule_.algorithm == Algorithm::hybrid)
      hybrid_ = Hybrid<V, O>(device_, view(), schedule_.shape, schedule_.empty_rows, matrix.offsets);
  }

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0) || values_.size() == 0) return scale(rows_, product, stream);
    if (product.count > 1 && schedule_.several_by_vector)
      return vector_multiply(schedule_.lanes, view(), product, stream);
    switch (schedule_.algorithm) {
      case Algorithm::merge:
        return for_each_vector(product, [&](const Product<V>& one) { merge_multiply(view(), merge_, one, stream); });
      case Algorithm::speculative:
        return for_each_vector(product, [&](const Product<V>& one) {
          speculative_multiply(view(), schedule_.shape, speculation_, one, stream);
        });
      case Algorithm::hybrid:
        return for_each_vector(
            product, [&](const Product<V>& one) { hybrid_.multiply(view(), speculation_.tile_rows, one, stream); });
      case Algorithm::stream:
        return stream_multiply(view(), product, stream);
      case Algorithm::vector:
        return vector_multiply(schedule_.lanes, view(), product, stream);
    }
  }

  void update_values(std::span<const V> csr_values) override {
    values_.upload(csr_values);
    synchronize(device_);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    const SpeculativeShape& shape = schedule_.shape;
    switch (schedule_.algorithm) {
      case Algorithm::vector:
        info.variant = schedule_.lanes == 1 ? "scalar" : "vector" + std::to_string(schedule_.lanes);
        info.details = std::to_string(schedule_.lanes) + (schedule_.lanes == 1 ? " thread a row" : " threads a row");
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
    info.bytes = offsets_.bytes() + columns_.bytes() + values_.bytes() + workspace_.bytes() + hybrid_.bytes();
    info.upload_seconds = upload_seconds_;
    return info;
  }

 private:
  View<V, O> view() const {
    return {rows_, static_cast<Offset>(values_.size()), offsets_.data(), columns_.data(), values_.data()};
  }

  bool speculates() const {
    return schedule_.algorithm == Algorithm::speculative || schedule_.algorithm == Algorithm::hybrid;
  }

  void carve(Carver& space) {
    if (schedule_.algorithm == Algorithm::merge) merge_ = MergeSpace<V>(view(), schedule_.merge, space);
    if (speculates()) {
      const Index empty_rows = schedule_.algorithm == Algorithm::hybrid ? 0 : schedule_.empty_rows;
      speculation_ = speculation_for(view(), schedule_.shape, true, empty_rows, space);
    }
  }

  template <class F>
  static void for_each_vector(const Product<V>& product, F&& multiply) {
    for (int j = 0; j < product.count; ++j) {
      Product<V> one = product;
      one.x += static_cast<std::size_t>(j) * product.x_stride;
      one.y += static_cast<std::size_t>(j) * product.y_stride;
      one.count = 1;
      multiply(one);
    }
  }

  Device device_;
  Index rows_;
  Schedule schedule_;
  Stopwatch upload_;  // of the three arrays that follow
  DeviceBuffer<O> offsets_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
  DeviceBuffer<std::byte> workspace_;
  MergeSpace<V> merge_;
  Speculation<V> speculation_;
  Hybrid<V, O> hybrid_;
  double upload_seconds_ = 0;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const Csr<V>& matrix, const BuildOptions& options) {
  // The kernels look up to 128 entries ahead, which must not wrap around.
  constexpr Offset most_for_32_bits = std::numeric_limits<std::uint32_t>::max() - 1024;
  if (matrix.nonzeros() > most_for_32_bits)
    return std::make_unique<GpuOperator<V, Offset>>(matrix, matrix.offsets, options);
  const Array<std::uint32_t> offsets = ::weft::csr::narrow_offsets(matrix.offsets);
  return std::make_unique<GpuOperator<V, std::uint32_t>>(matrix, offsets, options);
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> build<V>(const Csr<V>&, const BuildOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
