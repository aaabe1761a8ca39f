// The GPU kernel of coo: a warp sums `warp_entries` consecutive entries by segments of equal rows. Sums of rows that
// lie wholly inside go to y at once; those of its first and last row go to a list of carries, two a warp, which is
// again sorted by row. The same kernel then runs over the carries, and so on until one warp holds all that is left.
// Every row is added to y once, by one thread, in an order that depends on the matrix only: no atomics, the same bits
// every time.
#include <weft/coo.hpp>

#include "core/timer.hpp"
#include "formats/coo/coo.hpp"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::coo {
namespace {

using ::weft::simt::block_threads;
constexpr int warp_size = 32;
constexpr int warp_entries = warp_size * ::weft::simt::coo_entries_per_lane;

/// One level of the sum: the entries of the matrix, or the carries of the level below.
template <class V>
struct Level {
  const Index* rows = nullptr;
  const Index* columns = nullptr;  // null for carries
  const V* values = nullptr;       // of carries: vector j of entry k at [j * entries + k]
  Offset entries = 0;
  V* carries = nullptr;  // values of the next level; null when one warp sees all entries
  Offset carry_count = 0;
};

template <class V, int Room>
__global__ void __launch_bounds__(block_threads) coo_segments(Level<V> level, Product<V> product) {
  const Offset warp = (static_cast<Offset>(blockIdx.x) * block_threads + threadIdx.x) / warp_size;
  const int lane = simt::lane_id();
  const Offset begin = warp * warp_entries;
  if (begin >= level.entries) return;  // for the whole warp
  const Offset end = begin + warp_entries < level.entries ? begin + warp_entries : level.entries;
  const Index first_row = level.rows[begin], last_row = level.rows[end - 1];

  const auto emit = [&](Index row, int j, V sum) {
    if (level.carries && (row == first_row || row == last_row))
      level.carries[j * level.carry_count + 2 * warp + (row != first_row)] = sum;
    else
      product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row)] += product.alpha * sum;
  };

  // `running` is the sum so far of `running_row`, the row of the last lane in the step before.
  V running[Room] = {};
  Index running_row = first_row;
  for (Offset step = begin; step < end; step += warp_size) {
    const Offset k = step + lane;
    const bool live = k < end;
    const Index row = live ? simt::load_streaming(level.rows + k) : last_row;
    V terms[Room] = {};
    if (live && level.columns) {
      const V value = simt::load_streaming(level.values + k);
      const V* x = product.x + simt::load_streaming(level.columns + k);
      WEFT_UNROLL
      for (int j = 0; j < Room; ++j)
        if (j < product.count)
          terms[j] = value * simt::load_readonly(x + static_cast<std::size_t>(j) * product.x_stride);
    } else if (live) {
      WEFT_UNROLL
      for (int j = 0; j < Room; ++j)
        if (j < product.count) terms[j] = level.values[j * level.entries + k];
    }

    Index row_before = simt::shuffle_up(simt::full_mask, row, 1);
    if (lane == 0) row_before = running_row;
    const bool head = row != row_before;
    const unsigned heads = simt::ballot(simt::full_mask, head);
    const bool ends_here = k + 1 == end || (live && lane + 1 < warp_size && (heads >> (lane + 1) & 1u));
    WEFT_UNROLL
    for (int j = 0; j < Room; ++j) {
      if (j >= product.count) continue;
      if (lane == 0 && head) emit(running_row, j, running[j]);
      const V term = lane == 0 && !head ? terms[j] + running[j] : terms[j];
      const V sum = simt::warp_segmented_sum(term, heads);
      if (ends_here) emit(row, j, sum);
      running[j] = simt::shuffle(simt::full_mask, sum, warp_size - 1);
    }
    running_row = simt::shuffle(simt::full_mask, row, warp_size - 1);
  }
}

Offset warps_for(Offset entries) { return (entries + warp_entries - 1) / warp_entries; }

/// Rows and room for the sums of one level of carries.
template <class V>
struct Carries {
  DeviceBuffer<Index> rows;
  DeviceBuffer<V> values;  // where a warp's first and last row are the same, its second carry stays 0
};

template <Value V>
class GpuOperator final : public Operator<V> {
 public:
  GpuOperator(const Csr<V>& matrix, Device device)
      : device_(device), row_count_(matrix.rows), columns_(device, matrix.columns), values_(device, matrix.values) {
    upload_seconds_ = upload_.seconds();
    Array<Index> rows = to_coo(matrix).row_indices;
    rows_ = DeviceBuffer<Index>(device, rows);
    while (warps_for(static_cast<Offset>(rows.size())) > 1) {
      const auto entries = static_cast<Offset>(rows.size());
      const Offset warps = warps_for(entries);
      Array<Index> carry_rows(static_cast<std::size_t>(2 * warps));
      for (Offset warp = 0; warp < warps; ++warp) {
        carry_rows[2 * warp] = rows[warp * warp_entries];
        carry_rows[2 * warp + 1] = rows[std::min(entries, (warp + 1) * warp_entries) - 1];
      }
      const Array<V> zeros(carry_rows.size() * max_vectors, V(0));
      carries_.push_back({DeviceBuffer<Index>(device, carry_rows), DeviceBuffer<V>(device, zeros)});
      rows = carry_rows;
    }
  }

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.beta != V(1) || product.alpha == V(0)) scale(row_count_, product, stream);
    if (product.alpha == V(0) || values_.size() == 0) return;
    Level<V> level{std::as_const(rows_).data(), std::as_const(columns_).data(), std::as_const(values_).data(),
                   static_cast<Offset>(values_.size())};
    for (Carries<V>& next : carries_) {
      level.carries = next.values.data();
      level.carry_count = static_cast<Offset>(next.rows.size());
      launch(level, product, stream);
      level = {std::as_const(next.rows).data(), nullptr, std::as_const(next.values).data(), level.carry_count};
    }
    launch(level, product, stream);
  }

  void update_values(std::span<const V> csr_values) override {
    values_.upload(csr_values);
    synchronize(device_);
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = std::to_string(warp_entries) + " entries a warp, " + std::to_string(1 + carries_.size()) +
                   (carries_.empty() ? " level" : " levels");
    info.bytes = rows_.bytes() + columns_.bytes() + values_.bytes();
    for (const Carries<V>& level : carries_) info.bytes += level.rows.bytes() + level.values.bytes();
    info.upload_seconds = upload_seconds_;
    return info;
  }

 private:
  void launch(const Level<V>& level, const Product<V>& product, Stream stream) {
    constexpr int warps_a_block = block_threads / warp_size;
    const unsigned blocks = simt::blocks_for(warps_for(level.entries), warps_a_block);
    with_room_for(product.count, [&](auto room) {
      simt::launch(WEFT_KERNEL(coo_segments<V, decltype(room)::value>), blocks, block_threads, 0, stream, level,
                   product);
    });
  }

  Device device_;
  Index row_count_;
  Stopwatch upload_;  // of the two arrays that follow
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
  DeviceBuffer<Index> rows_;
  double upload_seconds_ = 0;
  std::vector<Carries<V>> carries_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build(const Csr<V>& matrix, const BuildOptions& options) {
  return std::make_unique<GpuOperator<V>>(matrix, options.device);
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> build<V>(const Csr<V>&, const BuildOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::coo
