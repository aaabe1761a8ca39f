#pragma once
#include "core/gpu_runtime.hpp"
#include "formats/coo/tuning.hpp"
#include "formats/gpu_product.cuh"

// Sums of entries by rows, of which no two neighbours need be in the same warp, without atomics. A warp sums
// `warp_entries` consecutive entries by segments of equal rows. Sums of rows that lie wholly inside go to y at once;
// those of its first and last row go to a list of carries, two per warp, which is again sorted by row. The same kernel
// then runs over the carries, and so on until one warp holds all that is left. Every row reaches y once, by one thread,
// in an order that depends on the matrix only: the same bits every time.
namespace weft::WEFT_SIMT_NAMESPACE::coo {

constexpr int warp_size = 32;
constexpr int warp_entries = warp_size * ::weft::coo::entries_per_lane;

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

template <class V, class Room>
__global__ void __launch_bounds__(simt::block_threads) coo_segments(Level<V> level, Product<V> product) {
  const Offset warp = simt::global_thread_id() / warp_size;
  const int lane = simt::lane_id();
  const Offset begin = warp * warp_entries;
  if (begin >= level.entries) return;  // for the whole warp
  const Offset end = begin + warp_entries < level.entries ? begin + warp_entries : level.entries;
  const Index first_row = level.rows[begin], last_row = level.rows[end - 1];

  const auto emit = [&](Index row, int j, V sum) {
    if (level.carries && (row == first_row || row == last_row))
      level.carries[j * level.carry_count + 2 * warp + (row != first_row)] = sum;
    else
      store_sum<Room>(product, row, j, sum);
  };

  // `running` is the sum so far of `running_row`, the row of the last lane in the step before.
  V running[Room::vectors] = {};
  Index running_row = first_row;
  for (Offset step = begin; step < end; step += warp_size) {
    const Offset k = step + lane;
    const bool live = k < end;
    const Index row = live ? simt::load_streaming(level.rows + k) : last_row;
    V terms[Room::vectors] = {};
    if (live && level.columns) {
      const V value = simt::load_streaming(level.values + k);
      const XRows<V, Room> x(product);
      const Index column = simt::load_streaming(level.columns + k);
      if constexpr (Room::reach == Reach::packed) x.load(column, terms);
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j)
        if (j < product.count) terms[j] = value * (Room::reach == Reach::packed ? terms[j] : x.at(column, j));
    } else if (live) {
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j)
        if (j < product.count) terms[j] = level.values[j * level.entries + k];
    }

    Index row_before = simt::shuffle_up(simt::full_mask, row, 1);
    if (lane == 0) row_before = running_row;
    const bool head = row != row_before;
    const unsigned heads = simt::ballot(simt::full_mask, head);
    const bool ends_here = k + 1 == end || (live && lane + 1 < warp_size && (heads >> (lane + 1) & 1u));
    WEFT_UNROLL
    for (int j = 0; j < Room::vectors; ++j) {
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

inline Offset warps_for(Offset entries) { return (entries + warp_entries - 1) / warp_entries; }

inline unsigned blocks_for_entries(Offset entries) {
  return simt::blocks_for(warps_for(entries), simt::block_threads / warp_size);
}

template <class V>
void add_segments(const Level<V>& level, const Product<V>& product, Stream stream) {
  with_room_for(product, [&](auto room) {
    simt::launch(WEFT_KERNEL(coo_segments<V, decltype(room)>), blocks_for_entries(level.entries), simt::block_threads,
                 0, stream, level, product);
  });
}

static __global__ void __launch_bounds__(simt::block_threads)
    coo_carry_rows(const Index* rows, Offset entries, Offset warps, Index* to) {
  const Offset warp = simt::global_thread_id();
  if (warp >= warps) return;
  to[2 * warp] = rows[warp * warp_entries];
  to[2 * warp + 1] = rows[(warp + 1 < warps ? (warp + 1) * warp_entries : entries) - 1];
}

/// The first and the last row of each warp that sums entries of these rows: the rows of its carries.
inline DeviceBuffer<Index> carry_rows(Device device, const Index* rows, Offset entries) {
  const Offset warps = warps_for(entries);
  DeviceBuffer<Index> result(device, static_cast<std::size_t>(2 * warps));
  simt::launch(WEFT_KERNEL(coo_carry_rows), simt::blocks_for(warps, simt::block_threads), simt::block_threads, 0, {},
               rows, entries, warps, result.data());
  return result;
}

template <class V>
__global__ void __launch_bounds__(simt::block_threads) coo_clear(Offset count, V* values) {
  const Offset k = simt::global_thread_id();
  if (k < count) values[k] = V(0);
}

/// Room for a list of carries and for those of its own sums, and so on.
template <class V>
class Carries {
 public:
  Carries() = default;
  /// `rows` are those of the first list. Where a warp's first and last row are the same, its second carry stays 0.
  Carries(Device device, DeviceBuffer<Index> rows) {
    while (true) {
      const auto count = static_cast<Offset>(rows.size());
      levels_.push_back({std::move(rows), DeviceBuffer<V>(device, static_cast<std::size_t>(count * max_vectors))});
      simt::launch(WEFT_KERNEL(coo_clear<V>), simt::blocks_for(count * max_vectors, simt::block_threads),
                   simt::block_threads, 0, {}, count * max_vectors, levels_.back().values.data());
      if (warps_for(count) <= 1) return;
      rows = carry_rows(device, std::as_const(levels_.back().rows).data(), count);
    }
  }

  int levels() const { return static_cast<int>(levels_.size()); }
  /// Of the first list; vector j begins at values() + j * count(). Null when there is none.
  V* values() { return levels_.empty() ? nullptr : levels_.front().values.data(); }
  Offset count() const { return levels_.empty() ? 0 : static_cast<Offset>(levels_.front().rows.size()); }

  /// Adds the sums of the first list up, into y.
  void add(const Product<V>& product, Stream stream) {
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      Level<V> level{std::as_const(levels_[i].rows).data(), nullptr, std::as_const(levels_[i].values).data(),
                     static_cast<Offset>(levels_[i].rows.size())};
      if (i + 1 < levels_.size()) {
        level.carries = levels_[i + 1].values.data();
        level.carry_count = static_cast<Offset>(levels_[i + 1].rows.size());
      }
      add_segments(level, product, stream);
    }
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& level : levels_) sum += level.rows.bytes() + level.values.bytes();
    return sum;
  }

 private:
  struct List {
    DeviceBuffer<Index> rows;
    DeviceBuffer<V> values;
  };
  std::vector<List> levels_;
};

/// How sums reach a y that was scaled by beta before: as if it were 1, and y need not be read where it is 0.
template <class V>
Product<V> after_scaling(Product<V> product) {
  if (product.beta != V(0)) product.beta = V(1);
  return product;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::coo
