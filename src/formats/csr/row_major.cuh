#pragma once
#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/merge.cuh"
#include "formats/csr/tuning.hpp"
#include "simt/tuning.hpp"

// The product with row-major vectors, for all variants of csr. Warps get equal shares of the path of merge.cuh,
// whatever the rows look like. A row of x takes one access by a group of lanes, 16 bytes for each lane.
//   1. The warp reads the entries of its share side by side and keeps them in shared memory.
//   2. Each group follows its part of the share entry by entry, and stores the rows that end there. Groups of one lane
//      would read 32 rows of x far from each other at a time: their products are made in step 1, where neighbouring
//      lanes have neighbouring entries, and only summed here.
//   3. What groups have of rows that end later goes to where they end: to y, or to the carry of the share.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// The shares of a matrix and where their carries go, in a piece of the GPU's memory that the caller has.
template <class V>
struct RowMajorSpace {
  int steps = 0;  // of a share
  Offset shares = 0;
  Index* share_rows = nullptr;
  Carries<V> carries;

  RowMajorSpace() = default;
  template <class O>
  RowMajorSpace(const View<V, O>& matrix, Carver& space, int fewest_steps = ::weft::csr::min_row_major_steps) {
    using namespace ::weft::csr;
    const Offset path = matrix.rows + matrix.entries;
    steps = fewest_steps;
    while (steps < max_row_major_steps && path > static_cast<Offset>(steps) * enough_row_major_shares) steps *= 2;
    shares = (path + steps - 1) / steps;
    share_rows = space.take<Index>(shares + 1);
    carries = {space.take<Index>(shares), space.take<V>(shares * max_vectors), shares};
  }
};

/// How the lanes of a warp share rows of `Vectors` elements, aligned (Packed) or anywhere: the sums are the same.
template <class V, int Vectors, bool Packed>
struct RowLanes {
  using Room = RoomFor<Vectors, Packed ? Reach::packed : Reach::rows>;
  static constexpr int per_lane = Room::template pack<V>;
  static constexpr int lanes = Vectors / per_lane;  // of a group
  static constexpr int groups = 32 / lanes;
  using Elements = simt::Pack<V, per_lane>;

  const Product<V>* product;
  int vector;  // the first of this lane

  __device__ __forceinline__ explicit RowLanes(const Product<V>& of)
      : product(&of), vector(simt::lane_id() % lanes * per_lane) {}

  __device__ __forceinline__ bool has(int i) const { return Packed || vector + i < product->count; }

  __device__ __forceinline__ Elements load_x(Index column) const {
    const V* const from = product->x + column * static_cast<Offset>(product->x_stride) + vector;
    if constexpr (Packed) {
      return simt::load_pack_readonly<per_lane>(from);
    } else {
      Elements elements;
      WEFT_UNROLL
      for (int i = 0; i < per_lane; ++i) elements[i] = has(i) ? simt::load_readonly(from + i) : V(0);
      return elements;
    }
  }

  __device__ __forceinline__ void store(Index row, const V (&sums)[per_lane]) const {
    if constexpr (Packed) {
      store_pack_of_sums<Room, per_lane>(*product, row, vector, sums);
    } else {
      WEFT_UNROLL
      for (int i = 0; i < per_lane; ++i)
        if (has(i)) store_sum<Room>(*product, row, vector + i, sums[i]);
    }
  }

  /// To a row that is stored already.
  __device__ __forceinline__ void add(Index row, const V (&sums)[per_lane]) const {
    V* const y = y_at<Room>(*product, row, vector);
    WEFT_UNROLL
    for (int i = 0; i < per_lane; ++i)
      if (has(i)) y[i] = y[i] + product->alpha * sums[i];
  }
};

/// Products of a share in shared memory. After every eighth is a gap, so that lanes that sum eight each are not in one
/// another's way.
__host__ __device__ constexpr int place_of_product(int k) { return k + k / 8; }

template <class V, class O, int Vectors, bool Packed>
__global__ void __launch_bounds__(::weft::simt::block_threads,
                                  simt::resident_blocks(::weft::csr::row_major_resident_blocks,
                                                        ::weft::simt::block_threads))
    csr_row_major(View<V, O> matrix, int steps, Offset shares, const Index* __restrict__ share_rows, Carries<V> carries,
                  Product<V> product) {
  using Lanes = RowLanes<V, Vectors, Packed>;
  using Elements = typename Lanes::Elements;
  constexpr int per_lane = Lanes::per_lane, groups = Lanes::groups;
  constexpr bool multiplies_first = Lanes::lanes == 1;
  constexpr int warps = ::weft::simt::block_threads / 32, max_steps = ::weft::csr::max_row_major_steps;
  constexpr int staged_size = multiplies_first ? place_of_product(max_steps) * per_lane : max_steps;
  // Columns from the front and ends of rows from the back: as many as the share has steps.
  WEFT_SHARED(Index, path_of_block, (warps * max_steps));
  WEFT_SHARED(V, staged_of_block, (warps * staged_size));
  const Offset share = simt::global_thread_id() / 32;
  if (share >= shares) return;  // for the whole warp
  const int lane = simt::lane_id();
  const auto path = path_of_block + simt::warp_id() * max_steps;
  const auto staged = staged_of_block + simt::warp_id() * staged_size;  // values, or products
  const Lanes vectors(product);

  const Index first_row = share_rows[share], last_row = share_rows[share + 1];
  const Offset first_step = share * steps, all_steps = matrix.rows + matrix.entries;
  const int steps_here =
      static_cast<int>((first_step + steps < all_steps ? first_step + steps : all_steps) - first_step);
  const Offset begin = first_step - first_row;  // the first entry
  const int rows = last_row - first_row;        // that end here
  const int entries = steps_here - rows;
  for (int r = lane; r < rows; r += 32)
    path[max_steps - 1 - r] = static_cast<Index>(static_cast<Offset>(matrix.offsets[first_row + r + 1]) - begin);
  constexpr int batch = ::weft::csr::row_major_batch;
  for (int first = lane; first < entries; first += batch * 32) {
    Index column[batch];
    V value[batch];
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool here = first + u * 32 < entries;
      column[u] = here ? simt::load_streaming(matrix.columns + begin + first + u * 32) : 0;
      value[u] = here ? simt::load_streaming(matrix.values + begin + first + u * 32) : V(0);
    }
    [[maybe_unused]] Elements factor[batch];
    if constexpr (multiplies_first) {
      WEFT_UNROLL
      for (int u = 0; u < batch; ++u)
        if (first + u * 32 < entries) factor[u] = vectors.load_x(column[u]);
    }
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {
      const int k = first + u * 32;
      if (k >= entries) break;
      if constexpr (multiplies_first) {
        WEFT_UNROLL
        for (int i = 0; i < per_lane; ++i) staged[place_of_product(k) * per_lane + i] = value[u] * factor[u][i];
      } else {
        path[k] = column[u];
        staged[k] = value[u];
      }
    }
  }
  simt::sync_warp();

  const auto end_of = [&](int r) {
    const Index end = path[max_steps - 1 - r];
    return static_cast<int>(end);
  };
  // How many rows end within so many steps of the share.
  const auto rows_within = [&](int step) {
    int low = 0, high = rows < step ? rows : step;
    while (low < high) {
      const int middle = high - (high - low) / 2;
      if (middle + end_of(middle - 1) <= step)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  };
  const int group = lane / Lanes::lanes, group_steps = steps / groups;
  const auto step_of = [&](int g) { return g * group_steps < steps_here ? g * group_steps : steps_here; };
  int row = rows_within(step_of(group));  // the next to end
  const int stop_row = rows_within(step_of(group + 1));
  const int first_entry = step_of(group) - row, stop = step_of(group + 1) - stop_row;
  constexpr int never = max_steps + 1;
  int row_end = row < stop_row ? end_of(row) : never, open_since = first_entry;
  V sums[per_lane] = {};
  const auto finish_row = [&] {
    vectors.store(first_row + row, sums);
    WEFT_UNROLL
    for (int i = 0; i < per_lane; ++i) sums[i] = V(0);
    open_since = row_end;
    ++row;
    row_end = row < stop_row ? end_of(row) : never;
  };
  if constexpr (multiplies_first) {
    for (int k = first_entry; k < stop; ++k) {
      while (row_end == k) finish_row();  // NOLINT(bugprone-infinite-loop): it changes row_end
      WEFT_UNROLL
      for (int i = 0; i < per_lane; ++i) {
        const V term = staged[place_of_product(k) * per_lane + i];
        sums[i] += term;
      }
    }
  } else {
    for (int first = first_entry; first < stop; first += batch) {
      Elements factor[batch];
      V value[batch];
      WEFT_UNROLL
      for (int u = 0; u < batch; ++u) {
        const int k = first + u < stop ? first + u : first;
        const Index column = path[k];
        const V of_column = staged[k];
        value[u] = of_column;
        factor[u] = vectors.load_x(column);
      }
      WEFT_UNROLL
      for (int u = 0; u < batch; ++u) {  // NOLINT(bugprone-infinite-loop)
        if (first + u >= stop) break;
        while (row_end == first + u) finish_row();  // NOLINT(bugprone-infinite-loop): it changes row_end
        WEFT_UNROLL
        for (int i = 0; i < per_lane; ++i) sums[i] += value[u] * factor[u][i];
      }
    }
  }
  while (row < stop_row) finish_row();  // NOLINT(bugprone-infinite-loop): it changes row

  // Neighbouring groups may have parts of the same row: the last of them adds these up.
  const Index open_row = open_since < stop ? first_row + row : -1;
  Index row_before = simt::shuffle_up(simt::full_mask, open_row, Lanes::lanes);
  Index row_after = simt::shuffle_down(simt::full_mask, open_row, Lanes::lanes);
  if (group == 0) row_before = -1;
  if (group == groups - 1) row_after = -1;
  const unsigned heads = simt::ballot(simt::full_mask, lane % Lanes::lanes == 0 && open_row != row_before);
  const int distance = simt::segment_distance(heads) / Lanes::lanes;
  WEFT_UNROLL
  for (int i = 0; i < per_lane; ++i) {
    WEFT_UNROLL
    for (int step = 1; step < groups; step *= 2) {
      const V before = simt::shuffle_up(simt::full_mask, sums[i], static_cast<unsigned>(step * Lanes::lanes));
      if (step <= distance) sums[i] += before;
    }
  }
  simt::sync_warp();  // rows that end here are stored
  const bool is_last = open_row >= 0 && open_row != row_after, goes_on = is_last && open_row == last_row;
  if (is_last && !goes_on) vectors.add(open_row, sums);
  if (goes_on) {
    WEFT_UNROLL
    for (int i = 0; i < per_lane; ++i)
      if (vectors.has(i)) carries.values[(vectors.vector + i) * carries.count + share] = sums[i];
  }
  const bool has_carry = simt::any(simt::full_mask, goes_on);
  if (lane == 0) carries.rows[share] = has_carry ? last_row : -1;
}

template <class V, class O>
void row_major_search(const View<V, O>& matrix, const RowMajorSpace<V>& space, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(csr_merge_search<O>), simt::blocks_for(space.shares + 1, threads), threads, 0, stream,
               matrix.rows, matrix.entries, matrix.offsets, space.steps, space.shares, space.share_rows,
               static_cast<unsigned*>(nullptr));
}

/// For up to max_vectors vectors. row_major_search must have come before, once.
template <class V, class O>
void row_major_multiply(const View<V, O>& matrix, const RowMajorSpace<V>& space, const Product<V>& product,
                        Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  const Index* share_rows = space.share_rows;
  const auto launch = [&](auto vectors) {
    constexpr int count = decltype(vectors)::value;
    const auto launch_for = [&](auto packed) {
      simt::launch(WEFT_KERNEL(csr_row_major<V, O, count, decltype(packed)::value>),
                   simt::blocks_for(space.shares, threads / 32), threads, 0, stream, matrix, space.steps, space.shares,
                   share_rows, space.carries, product);
    };
    if (is_packed<RoomFor<count, Reach::packed>>(product)) return launch_for(std::true_type());
    launch_for(std::false_type());
  };
  if (product.count <= 2)
    launch(std::integral_constant<int, 2>());
  else if (product.count <= 4)
    launch(std::integral_constant<int, 4>());
  else
    launch(std::integral_constant<int, 8>());
  if (space.shares > 1) add_carries(space.carries, product, stream);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
