// The GPU kernels of csr: `csr_vector` gives a row to 1 (scalar), 2, 4, ... or 32 neighbouring threads; `csr_stream`
// lets a block read the entries of its rows in one sweep and sum them from shared memory, so that all threads load
// whatever the length of a row.
#include <weft/structure.hpp>

#include <limits>

#include "formats/csr/csr.hpp"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::csr {
namespace {

using ::weft::simt::block_threads;

template <class V, class O, int Lanes, int Room>
__global__ void __launch_bounds__(block_threads)
    csr_vector(Index rows, const O* __restrict__ offsets, const Index* __restrict__ columns,
               const V* __restrict__ values, Product<V> product) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  const std::int64_t row = thread / Lanes;
  const auto lane = static_cast<unsigned>(threadIdx.x) % Lanes;
  V sums[Room] = {};
  if (row < rows) {
    const O end = offsets[row + 1];
    O k = offsets[row] + lane;
    if constexpr (Room == 1) {
      // Four entries a thread are on their way before the first is needed.
      V second = 0;
      for (; k + 3 * Lanes < end; k += 4 * Lanes) {
        const Index c0 = simt::load_streaming(columns + k), c1 = simt::load_streaming(columns + k + Lanes);
        const Index c2 = simt::load_streaming(columns + k + 2 * Lanes),
                    c3 = simt::load_streaming(columns + k + 3 * Lanes);
        const V v0 = simt::load_streaming(values + k), v1 = simt::load_streaming(values + k + Lanes);
        const V v2 = simt::load_streaming(values + k + 2 * Lanes), v3 = simt::load_streaming(values + k + 3 * Lanes);
        sums[0] += v0 * simt::load_readonly(product.x + c0);
        second += v1 * simt::load_readonly(product.x + c1);
        sums[0] += v2 * simt::load_readonly(product.x + c2);
        second += v3 * simt::load_readonly(product.x + c3);
      }
      sums[0] += second;
    }
    for (; k < end; k += Lanes) {
      const V value = simt::load_streaming(values + k);
      const V* x = product.x + simt::load_streaming(columns + k);
      WEFT_UNROLL
      for (int j = 0; j < Room; ++j)
        if (j < product.count)
          sums[j] += value * simt::load_readonly(x + static_cast<std::size_t>(j) * product.x_stride);
    }
  }
  WEFT_UNROLL
  for (int j = 0; j < Room; ++j) {
    const V sum = simt::warp_reduce_sum<Lanes>(sums[j]);
    if (row < rows && lane == 0 && j < product.count) store_sum(product, static_cast<Index>(row), j, sum);
  }
}

constexpr int entries_per_thread = ::weft::simt::csr_stream_entries_per_thread;
constexpr int tile_entries = block_threads * entries_per_thread;

/// A block owns block_threads rows, a thread one of them. Tile by tile the block reads the entries of all its rows side
/// by side, and each thread then adds up those of its own row, in order.
template <class V, class O>
__global__ void __launch_bounds__(block_threads)
    csr_stream(Index rows, const O* __restrict__ offsets, const Index* __restrict__ columns,
               const V* __restrict__ values, Product<V> product) {
  WEFT_SHARED(V, products, tile_entries);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * block_threads;
  const std::int64_t row = first + threadIdx.x;
  const std::int64_t last = first + block_threads < rows ? first + block_threads : rows;
  const auto begin = static_cast<Offset>(offsets[first]), end = static_cast<Offset>(offsets[last]);
  const Offset row_begin = row < rows ? static_cast<Offset>(offsets[row]) : end;
  const Offset row_end = row < rows ? static_cast<Offset>(offsets[row + 1]) : end;
  V sum = 0;
  for (Offset tile = begin; tile < end; tile += tile_entries) {
    Index column[entries_per_thread];
    V value[entries_per_thread];
    WEFT_UNROLL
    for (int u = 0; u < entries_per_thread; ++u) {
      const Offset k = tile + u * block_threads + threadIdx.x;
      column[u] = k < end ? simt::load_streaming(columns + k) : 0;
      value[u] = k < end ? simt::load_streaming(values + k) : V(0);
    }
    WEFT_UNROLL
    for (int u = 0; u < entries_per_thread; ++u)
      if (tile + u * block_threads + threadIdx.x < end)
        products[u * block_threads + threadIdx.x] = value[u] * simt::load_readonly(product.x + column[u]);
    simt::sync_block();
    const Offset from = (row_begin > tile ? row_begin : tile) - tile;
    const Offset to = (row_end < tile + tile_entries ? row_end : tile + tile_entries) - tile;
    for (Offset k = from; k < to; ++k) sum += products[static_cast<int>(k)];
    simt::sync_block();
  }
  if (row < rows) store_sum(product, static_cast<Index>(row), 0, sum);
}

/// How rows are given to threads: `lanes` threads a row, or, for a single vector, staged through shared memory.
struct Schedule {
  bool stream = false;
  int lanes = 1;
};

template <Value V>
Schedule choose_schedule(const Csr<V>& matrix, const BuildOptions& options) {
  const std::string& variant = options.variant;
  const auto tuning = ::weft::simt::tuning_for(describe(options.device).compute_capability);
  if (variant == "scalar") return {false, 1};
  if (variant.starts_with("vector") && variant.size() > 6) return {false, std::stoi(variant.substr(6))};
  const RowLengths rows = analyze_rows(matrix);
  const double mean = rows.mean_row;
  const Offset longest = rows.longest_row;
  const bool stream = variant.empty() && mean <= tuning.csr_stream_mean && longest <= tuning.csr_stream_longest;
  const double per_lane = sizeof(V) == 4 ? tuning.csr_entries_per_lane_f32 : tuning.csr_entries_per_lane_f64;
  int lanes = 2;
  while (lanes < 32 && lanes * per_lane < mean) lanes *= 2;
  if (static_cast<double>(longest) > tuning.csr_uneven * mean && longest > 32) lanes = 32;
  return {stream || variant == "stream", lanes};
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
        values_(options.device, matrix.values) {}

  void apply(const Product<V>& product, Stream stream) override {
    gpu::CurrentDevice current(device_);
    if (product.alpha == V(0)) return scale(rows_, product, stream);
    if (schedule_.stream && product.count == 1) {
      const auto blocks = simt::blocks_for(rows_, block_threads);
      return simt::launch(WEFT_KERNEL(csr_stream<V, O>), blocks, block_threads, 0, stream, rows_,
                          std::as_const(offsets_).data(), std::as_const(columns_).data(), std::as_const(values_).data(),
                          product);
    }
    with_room_for(product.count, [&](auto room) {
      constexpr int Room = decltype(room)::value;
      switch (schedule_.lanes) {
        case 1:
          return launch<1, Room>(product, stream);
        case 2:
          return launch<2, Room>(product, stream);
        case 4:
          return launch<4, Room>(product, stream);
        case 8:
          return launch<8, Room>(product, stream);
        case 16:
          return launch<16, Room>(product, stream);
        default:
          return launch<32, Room>(product, stream);
      }
    });
  }

  void update_values(std::span<const V> csr_values) override {
    values_.upload(csr_values);
    synchronize(device_);
  }

  OperatorInfo info() const override {
    const std::string lanes = std::to_string(schedule_.lanes);
    OperatorInfo info;
    info.variant = schedule_.stream ? "stream" : schedule_.lanes == 1 ? "scalar" : "vector" + lanes;
    info.details = (schedule_.stream ? "rows summed from shared memory, "
                                     : lanes + (schedule_.lanes == 1 ? " thread a row, " : " threads a row, ")) +
                   std::to_string(8 * sizeof(O)) + "-bit offsets";
    info.bytes = offsets_.bytes() + columns_.bytes() + values_.bytes();
    return info;
  }

 private:
  template <int Lanes, int Room>
  void launch(const Product<V>& product, Stream stream) {
    constexpr int rows_a_block = block_threads / Lanes;
    simt::launch(WEFT_KERNEL(csr_vector<V, O, Lanes, Room>), simt::blocks_for(rows_, rows_a_block), block_threads, 0,
                 stream, rows_, std::as_const(offsets_).data(), std::as_const(columns_).data(),
                 std::as_const(values_).data(), product);
  }

  Device device_;
  Index rows_;
  Schedule schedule_;
  DeviceBuffer<O> offsets_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
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
