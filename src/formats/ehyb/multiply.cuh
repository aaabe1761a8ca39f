#pragma once
#include "formats/column_groups.cuh"
#include "formats/ehyb/setup.cuh"

// The product of a matrix in parts, a thread block per part. x is loaded into shared memory once; padding meets the
// zero behind it.
namespace weft::WEFT_SIMT_NAMESPACE::ehyb {

template <class V>
struct View {
  const Part* parts = nullptr;
  const Index* cached = nullptr;
  const Index* order = nullptr;  // null: node rows as they stand in slots
  const Slice* slices = nullptr;
  const std::uint16_t* columns = nullptr;
  const V* values = nullptr;
  const Range* ranges = nullptr;
  const V* extra_sums = nullptr;
  Offset pieces = 0;
};

/// Copies what a part caches of x to shared memory, and the zero behind it: vector j from element j * stride on.
template <int B, class V, class Room>
__device__ __forceinline__ void load_cache(const View<V>& view, const Part& part, const XRows<V, Room>& x,
                                           simt::Shared<V> cache, Index stride) {
  constexpr int vectors = Room::vectors;
  constexpr int together = 8 / vectors;  // rows of x that a thread has in flight
  const Index* const cached = view.cached + part.cache;
  const Index count = part.cached * B;
  const auto threads = static_cast<Index>(blockDim.x);
  for (Index first = static_cast<Index>(threadIdx.x); first < count; first += together * threads) {
    Index node[together];
    V element[together][vectors];
    WEFT_UNROLL
    for (int i = 0; i < together; ++i) {
      const Index at = first + i * threads;
      node[i] = simt::load_readonly(cached + (at < count ? at : first) / B);
    }
    WEFT_UNROLL
    for (int i = 0; i < together; ++i) {
      const Index at = first + i * threads;
      const Offset row = static_cast<Offset>(node[i]) * B + (at < count ? at : first) % B;
      WEFT_UNROLL
      for (int j = 0; j < vectors; ++j) element[i][j] = x.at(row, j);
    }
    WEFT_UNROLL
    for (int i = 0; i < together; ++i) WEFT_UNROLL
    for (int j = 0; j < vectors; ++j)
      if (first + i * threads < count) cache[j * stride + first + i * threads] = element[i][j];
  }
  WEFT_UNROLL
  for (int j = 0; j < vectors; ++j)
    if (threadIdx.x < B) cache[j * stride + count + static_cast<Index>(threadIdx.x)] = V(0);
}

/// Values of a slot that lie together: one access of 16 bytes, so that a warp uses whole sectors at once. Shared memory
/// leaves the first-level cache too small to keep the other half of them (bench/NOTES.md).
template <class V>
constexpr int value_pack = 16 / static_cast<int>(sizeof(V));

/// Calls load(first, constant size) for N neighbours that lie in packs of `Pack`, and less at the end.
template <int N, int Pack, class F>
__device__ __forceinline__ void for_each_pack(F&& load) {
  WEFT_UNROLL
  for (int k = 0; k + Pack <= N; k += Pack) load(k, std::integral_constant<int, Pack>());
  if constexpr (Pack == 4 && N % 4 >= 2) load(N / 4 * 4, std::integral_constant<int, 2>());
  if constexpr (N % 2 == 1) load(N - 1, std::integral_constant<int, 1>());
}

/// N columns of single entries of a slot.
template <int N, class V>
__device__ __forceinline__ void load_singles(const V* values, const std::uint16_t* columns, V (&value)[N],
                                             std::uint16_t (&column)[N]) {
  const int lane = simt::lane_id();
  for_each_pack<N, column_pack>([&](int k, auto size) {
    const auto group = load_group<decltype(size)::value>(columns + k * slice_rows + lane * size);
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) column[k + i] = group.values[i];
  });
  for_each_pack<N, value_pack<V>>([&](int k, auto size) {
    const auto group = load_group<decltype(size)::value>(values + k * slice_rows + lane * size);
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) value[k + i] = group.values[i];
  });
}

/// Adds N columns of single entries to a slot's sums. Vector j of x is cached from element j * stride on.
template <int N, int Room, class V>
__device__ __forceinline__ void add_singles(const V* values, const std::uint16_t* columns, simt::Shared<V> cache,
                                            Index stride, V (&sums)[Room][1]) {
  std::uint16_t column[N];
  V value[N];
  load_singles(values, columns, value, column);
  WEFT_UNROLL
  for (int k = 0; k < N; ++k) WEFT_UNROLL
  for (int j = 0; j < Room; ++j) {
    const V x = cache[j * stride + column[k]];
    sums[j][0] += value[k] * x;
  }
}

/// Calls add(constant N, values, columns) for all columns of a slot, N at a time.
template <int Batch, class V, class F>
__device__ __forceinline__ void for_each_singles(const V* values, const std::uint16_t* columns, Index width,
                                                 F&& add_some) {
  Index k = 0;
  const auto add = [&](auto count) {
    add_some(count, values + static_cast<Offset>(k) * slice_rows, columns + static_cast<Offset>(k) * slice_rows);
  };
  WEFT_KEEP_LOOP
  for (; width - k >= Batch; k += Batch) add(std::integral_constant<int, Batch>());
  WEFT_KEEP_LOOP
  for (; width - k >= 4; k += 4) add(std::integral_constant<int, 4>());
  with_tail<4>(width - k, add);
}

/// The values of a slot's block.
template <int B, class V>
__device__ __forceinline__ void load_block(const V* values, V (&value)[B * B]) {
  for_each_pack<B * B, value_pack<V>>([&](int e, auto size) {
    const auto group = load_group<decltype(size)::value>(values + e * slice_rows + simt::lane_id() * size);
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) value[e + i] = group.values[i];
  });
}

/// Adds Together blocks to a slot's sums.
template <int B, int Together, int Room, class V>
__device__ __forceinline__ void add_blocks(const std::uint16_t* column, const V* values, simt::Shared<V> cache,
                                           Index stride, V (&sums)[Room][B]) {
  constexpr int entries = B * B;
  V value[Together][entries];
  WEFT_UNROLL
  for (int n = 0; n < Together; ++n) load_block<B>(values + n * entries * slice_rows, value[n]);
  WEFT_UNROLL
  for (int n = 0; n < Together; ++n) WEFT_UNROLL
  for (int j = 0; j < Room; ++j) {
    V factor[B];
    WEFT_UNROLL
    for (int c = 0; c < B; ++c) factor[c] = cache[j * stride + static_cast<Index>(column[n]) * B + c];
    WEFT_UNROLL
    for (int e = 0; e < entries; ++e) sums[j][e / B] += value[n][e] * factor[e % B];
  }
}

/// Calls add(constant N, columns, values) for all blocks of a slot, N = Together at a time. The next four columns are
/// loaded before these four's blocks.
template <int B, int Together, class V, class F>
__device__ __forceinline__ void for_each_blocks(const V* values, const std::uint16_t* columns, Index width, F&& add) {
  const int lane = simt::lane_id();
  const auto block = [&](Index k) { return values + static_cast<Offset>(k) * (B * B * slice_rows); };
  const auto load = [&](Index k, auto size) {
    return load_group<decltype(size)::value>(columns + static_cast<Offset>(k) * slice_rows + lane * size);
  };
  using Four = std::integral_constant<int, 4>;
  Index k = 0;
  Group<4, std::uint16_t> column{};
  if (width >= 4) column = load(0, Four());
  WEFT_KEEP_LOOP
  for (; width - k >= 4; k += 4) {
    const auto these = column;
    if (width - k >= 8) column = load(k + 4, Four());
    WEFT_UNROLL
    for (int n = 0; n < 4; n += Together) add(std::integral_constant<int, Together>(), these.values + n, block(k + n));
  }
  if (width - k >= 2) {
    const auto two = load(k, std::integral_constant<int, 2>());
    WEFT_UNROLL
    for (int n = 0; n < 2; ++n) add(std::integral_constant<int, 1>(), two.values + n, block(k + n));
    k += 2;
  }
  if (width - k >= 1) {
    const auto one = load(k, std::integral_constant<int, 1>());
    add(std::integral_constant<int, 1>(), one.values, block(k));
  }
}

/// Adds what the extra part has of the rows of a slot, and stores the sums.
template <class Room, int B, class V>
__device__ __forceinline__ void finish_slot(const View<V>& view, const Part& part, const Slice& slice, Index place,
                                            const Product<V>& product, V (&sums)[Room::vectors][B]) {
  if (place >= part.rows) return;
  const Index node = view.order ? simt::load_streaming(view.order + part.row + place) : part.row + place;
  WEFT_UNROLL
  for (int r = 0; r < B; ++r) {
    if (slice.extra >= 0) {
      const Range range = view.ranges[(static_cast<Offset>(slice.extra) * slice_rows + simt::lane_id()) * B + r];
      for (Index piece = range.begin; piece < range.end; ++piece) WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) sums[j][r] += view.extra_sums[j * view.pieces + piece];
    }
    if constexpr (Room::reach == Reach::columns) {
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) store_sum<Room>(product, node * B + r, j, sums[j][r]);
    } else {
      V of_row[Room::vectors];
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) of_row[j] = sums[j][r];
      store_sums<Room>(product, node * B + r, of_row);
    }
  }
}

/// A thread block per part; its warps take slices as they are done with others. Which warp sums a slice does not
/// change the sum. B: the size of blocks. Together: columns (B = 1) or blocks in flight. Room: vectors.
/// `stride`: elements that a vector's cache has room for.
template <class V, int B, int Together, class Room, int MaxThreads>
__global__ void __launch_bounds__(MaxThreads, 1) ehyb_multiply(View<V> view, Product<V> product, Index stride) {
  WEFT_DYNAMIC_SHARED(V, cache, static_cast<Offset>(stride) * Room::vectors);
  WEFT_SHARED(Index, taken, 1);
  const Part part = view.parts[blockIdx.x];
  load_cache<B>(view, part, XRows<V, Room>(product), cache, stride);
  if (threadIdx.x == 0) taken[0] = static_cast<Index>(blockDim.x / 32);
  simt::wait_for_earlier_kernels();  // they sum the extra part
  simt::sync_block();
  const int lane = simt::lane_id();
  WEFT_KEEP_LOOP
  for (Index s = simt::warp_id(); s < part.slices;) {
    const Slice slice = view.slices[part.slice + s];
    // The next slice is taken early: its number is there when this one is done.
    Index next = 0;
    if (lane == 0) next = simt::atomic_add(taken[0], 1);
    const V* const values = view.values + slice.entry * (B * B);
    const std::uint16_t* const columns = view.columns + slice.entry;
    V sums[Room::vectors][B] = {};
    if constexpr (B == 1)
      for_each_singles<Together>(values, columns, slice.width, [&](auto n, const V* some, const std::uint16_t* of) {
        add_singles<decltype(n)::value>(some, of, cache, stride, sums);
      });
    else
      for_each_blocks<B, Together>(values, columns, slice.width, [&](auto n, const std::uint16_t* of, const V* some) {
        add_blocks<B, decltype(n)::value>(of, some, cache, stride, sums);
      });
    finish_slot<Room>(view, part, slice, s * slice_rows + lane, product, sums);
    s = simt::shuffle(simt::full_mask, next, 0);
  }
}

/// The same for row-major vectors, whose rows are read where they are: a part's do not fit shared memory, and a row is
/// one or a few whole sectors wherever it is. `Blocks` thread blocks per part.
template <class V, int B, int Blocks, class Room, int Resident>
__global__ void __launch_bounds__(simt::block_threads, simt::resident_blocks(Resident, simt::block_threads))
    ehyb_multiply_rows(View<V> view, Product<V> product) {
  constexpr int vectors = Room::vectors;
  constexpr Index warps = simt::block_threads / 32;
  const Part part = view.parts[blockIdx.x / Blocks];
  const Index* const cached = view.cached + part.cache;
  const XRows<V, Room> x(product);
  simt::wait_for_earlier_kernels();  // they sum the extra part
  WEFT_KEEP_LOOP
  for (Index s = static_cast<Index>(blockIdx.x % Blocks) * warps + simt::warp_id(); s < part.slices;
       s += Blocks * warps) {
    const Slice slice = view.slices[part.slice + s];
    const V* const values = view.values + slice.entry * (B * B);
    const std::uint16_t* const columns = view.columns + slice.entry;
    V sums[vectors][B] = {};
    if constexpr (B == 1) {
      V flat[vectors] = {};
      for_each_singles<4>(values, columns, slice.width, [&](auto n, const V* some, const std::uint16_t* of) {
        constexpr int count = decltype(n)::value;
        std::uint16_t column[count];
        V value[count];
        load_singles(some, of, value, column);
        Index node[count];
        WEFT_UNROLL
        for (int k = 0; k < count; ++k) node[k] = column[k] < part.cached ? simt::load_readonly(cached + column[k]) : 0;
        add_products(x, value, node, [&](int k) { return column[k] < part.cached; }, flat);
      });
      WEFT_UNROLL
      for (int j = 0; j < vectors; ++j) sums[j][0] = flat[j];
    } else {
      for_each_blocks<B, 1>(values, columns, slice.width, [&](auto, const std::uint16_t* of, const V* block) {
        V value[B * B];
        load_block<B>(block, value);
        if (*of >= part.cached) return;
        const Index node = simt::load_readonly(cached + *of);
        WEFT_UNROLL
        for (int c = 0; c < B; ++c) {
          V row[vectors];
          x.load(node * B + c, row);
          WEFT_UNROLL
          for (int r = 0; r < B; ++r) WEFT_UNROLL
          for (int j = 0; j < vectors; ++j) sums[j][r] += value[r * B + c] * row[j];
        }
      });
    }
    finish_slot<Room>(view, part, slice, s * slice_rows + simt::lane_id(), product, sums);
  }
}

/// The sums of the extra part's pieces, a thread each.
template <class V, class Room>
__global__ void __launch_bounds__(simt::block_threads)
    ehyb_sum_extra(Index slice_count, const Slice* slices, const Index* columns, const V* values, const Index* places,
                   Offset pieces, Product<V> product, V* extra_sums) {
  const Offset slot = simt::global_thread_id();
  if (slot / slice_rows >= slice_count) return;
  const Slice slice = slices[slot / slice_rows];
  V sums[Room::vectors] = {};
  sum_grouped_row<4>(values + slice.entry, columns + slice.entry, static_cast<Index>(simt::lane_id()),
                     std::integral_constant<Index, slice_rows>(), slice.width, XRows<V, Room>(product), sums);
  const Index place = places[slot];
  if (place < 0) return;
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j) extra_sums[j * pieces + place] = sums[j];
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
