#pragma once
#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/merge.cuh"
#include "formats/csr/tuning.hpp"
#include "simt/tuning.hpp"

// The product with row-major vectors, for all variants of csr. A group of lanes has a lane for each vector, or for each
// 16 bytes of a row of x, so that it reads a row in one access wherever the column is: there is more to read of x than
// of the matrix. The groups get equal shares of the path of merge.cuh, whatever the rows look like, and follow them
// entry by entry: no lane has to exchange anything with another. A row that goes on in the next share leaves a carry.
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
  RowMajorSpace(const View<V, O>& matrix, Carver& space) {
    using namespace ::weft::csr;
    const Offset path = matrix.rows + matrix.entries;
    steps = min_row_major_steps;
    while (steps < max_row_major_steps && path > static_cast<Offset>(steps) * enough_row_major_shares) steps *= 2;
    shares = (path + steps - 1) / steps;
    share_rows = space.take<Index>(shares + 1);
    carries = {space.take<Index>(shares), space.take<V>(shares * max_vectors), shares};
  }
};

/// Lanes: of a group. PerLane: vectors of a lane, neighbours that take one access.
template <class V, class O, int Lanes, int PerLane>
__global__ void __launch_bounds__(::weft::simt::block_threads,
                                  simt::resident_blocks(::weft::csr::row_major_resident_blocks,
                                                        ::weft::simt::block_threads))
    csr_row_major(View<V, O> matrix, int steps, Offset shares, const Index* __restrict__ share_rows, Carries<V> carries,
                  Product<V> product) {
  constexpr int batch = ::weft::csr::row_major_batch;
  using Room = RoomFor<Lanes * PerLane, PerLane == 1 ? Reach::rows : Reach::packed>;
  const Index* __restrict__ const columns = matrix.columns;
  const V* __restrict__ const values = matrix.values;
  const Offset share = simt::global_thread_id() / Lanes;
  if (share >= shares) return;
  const int vector = static_cast<int>(threadIdx.x) % Lanes * PerLane;
  const bool own = vector < product.count;
  // A lane without a vector follows another's, and stores nothing.
  const V* const x = product.x + (own ? vector : 0);
  const auto stride = static_cast<Offset>(product.x_stride);

  const Offset path = matrix.rows + matrix.entries;
  const Offset step = share * steps;
  const Index last = share_rows[share + 1];
  Index row = share_rows[share];  // the next to end
  const Offset begin = step - row;
  const int entries = static_cast<int>((step + steps < path ? step + steps : path) - last - begin);
  // Rows before `last` end here. Ends are looked up one row ahead.
  const auto end_of = [&](Index r) {
    return r < last ? static_cast<int>(static_cast<Offset>(matrix.offsets[r + 1]) - begin) : entries + 1;
  };
  int row_end = end_of(row), next_end = end_of(row + 1);
  V sums[PerLane] = {};
  const auto finish_row = [&] {
    if constexpr (PerLane == 1) {
      if (own) store_sum<Room>(product, row, vector, sums[0]);
    } else {
      store_pack_of_sums<Room, PerLane>(product, row, vector, sums);
    }
    WEFT_UNROLL
    for (int i = 0; i < PerLane; ++i) sums[i] = V(0);
    ++row;
    row_end = next_end;
    next_end = end_of(row + 1);
  };

  Index column[batch];
  V value[batch];
  const auto load = [&](int from) {
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {
      // Not streaming: other batches need the same lines.
      column[u] = from + u < entries ? simt::load_readonly(columns + begin + from + u) : 0;
      value[u] = from + u < entries ? simt::load_readonly(values + begin + from + u) : V(0);
    }
  };
  load(0);
  for (int k = 0; k < entries; k += batch) {
    simt::Pack<V, PerLane> factor[batch];
    V these[batch];
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {
      these[u] = value[u];
      factor[u] = simt::load_pack_readonly<PerLane>(x + column[u] * stride);
    }
    load(k + batch);  // on its way while these are added
    WEFT_UNROLL
    for (int u = 0; u < batch; ++u) {  // NOLINT(bugprone-infinite-loop)
      if (k + u >= entries) break;
      while (row_end == k + u) finish_row();  // NOLINT(bugprone-infinite-loop): it changes row_end
      WEFT_UNROLL
      for (int i = 0; i < PerLane; ++i) sums[i] += these[u] * factor[u][i];
    }
  }
  while (row < last) finish_row();  // NOLINT(bugprone-infinite-loop): it changes row

  const bool open = row < matrix.rows && entries > 0 && static_cast<Offset>(matrix.offsets[row]) < begin + entries;
  if (vector == 0) carries.rows[share] = open ? row : -1;
  if (!own) return;
  WEFT_UNROLL
  for (int i = 0; i < PerLane; ++i) carries.values[(vector + i) * carries.count + share] = sums[i];
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
  const auto launch = [&](auto lanes, auto per_lane) {
    simt::launch(WEFT_KERNEL(csr_row_major<V, O, decltype(lanes)::value, decltype(per_lane)::value>),
                 simt::blocks_for(space.shares, threads / lanes), threads, 0, stream, matrix, space.steps, space.shares,
                 share_rows, space.carries, product);
  };
  constexpr std::integral_constant<int, 1> one;
  with_room_for(product, [&](auto room) {
    using Room = decltype(room);
    if constexpr (Room::reach == Reach::packed) {
      constexpr int per_lane = Room::template pack<V>;
      launch(std::integral_constant<int, Room::vectors / per_lane>(), std::integral_constant<int, per_lane>());
    } else if constexpr (Room::reach == Reach::rows) {
      if (product.count <= 2)
        launch(std::integral_constant<int, 2>(), one);
      else if (product.count <= 4)
        launch(std::integral_constant<int, 4>(), one);
      else
        launch(std::integral_constant<int, 8>(), one);
    }
  });
  if (space.shares > 1) add_carries(space.carries, product, stream);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
