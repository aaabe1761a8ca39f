#pragma once
#include <weft/error.hpp>

#include <cstdint>
#include <string>

#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/segments.cuh"
#include "formats/csr/tuning.hpp"
#include "formats/gpu_product.cuh"
#include "simt/tuning.hpp"

// csr:speculative, after Liu and Vinter (2015), in their words: a thread-bunch (a warp, T = 32 threads) sums S tiles of
// W x T consecutive entries one after the other; B bunches make a group (a block). Nothing need be known of the
// matrix beforehand; a plan keeps where tiles begin.
//   Stage 1, csr_speculate. A bunch finds the rows in which its S + 1 tile boundaries lie and marks in shared memory
//   where rows end in a tile, the segment descriptor. The sums of the segments, stored compactly, are the rows' sums if
//   no row in between is empty: that is the speculation. A tile that saw an empty row is dirty: its sums wait in the
//   workspace, and the speculator remembers it. What a tile knows of a row that goes on is handed to the next tile by
//   the transmitter. The first sum of a bunch, if its row began in an earlier one, goes to the synchronizer.
//   Stage 2, csr_check and add_carries: puts the sums of dirty tiles where they belong, and adds the synchronizer.
// The paper keeps the sums of dirty tiles in y itself and moves them there. Here y may hold numbers that are still
// needed (beta), and two tiles that share a row would move it at the same time.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

using ::weft::csr::Dirty;
using ::weft::csr::most_tiles_a_bunch;

constexpr int most_bunches = 8;  // in a group

template <class V>
struct Speculation {
  Offset tiles = 0;
  Offset most_dirty = 0;
  int tiles_a_bunch = 0;              // S
  Index* tile_rows = nullptr;         // where tiles begin, if that was searched for; else null
  Carries<V> synchronizer;            // one a bunch
  unsigned* dirty_counter = nullptr;  // null: tile t has place t in the speculator, clean ones with start -1
  Dirty* speculator = nullptr;        // room for most_dirty tiles
  V* sums = nullptr;                  // of dirty tiles, in the place of the row they are taken for
  unsigned* finished = nullptr;       // null, or for each bunch the number of the last product it has finished
  unsigned product_number = 0;
};

/// The last row with offsets[row] <= entry: the rightmost of several equal ones, `rows` for the end of the matrix. The
/// empty rows before all entries belong to the first tile.
template <class O>
__device__ Index rightmost_match(const O* __restrict__ offsets, Index rows, Offset entry) {
  if (entry == 0) return 0;
  Index low = 0, high = rows;
  while (low < high) {
    const Index middle = high - (high - low) / 2;
    if (static_cast<Offset>(offsets[middle]) <= entry)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_find_tiles(Index rows, Offset entries, const O* __restrict__ offsets, int tile, Offset tiles,
                   Index* __restrict__ tile_rows) {
  const Offset t = simt::global_thread_id();
  if (t <= tiles) tile_rows[t] = rightmost_match(offsets, rows, t * tile < entries ? t * tile : entries);
}

template <class V, class O, int W>
__global__ void __launch_bounds__(32 * most_bunches, W * sizeof(V) > 32 ? 3 : 4)
    csr_speculate(View<V, O> matrix, Speculation<V> work, Product<V> product) {
  constexpr int tile = 32 * W;
  WEFT_SHARED(std::uint32_t, descriptors, (W * most_bunches));
  const int lane = simt::lane_id();
  const auto descriptor = descriptors + simt::warp_id() * W;
  const Offset bunch = simt::global_thread_id() / 32;
  const Offset first_tile = bunch * work.tiles_a_bunch;
  if (first_tile >= work.tiles) return;  // for the whole bunch
  const int tiles =
      work.tiles - first_tile < work.tiles_a_bunch ? static_cast<int>(work.tiles - first_tile) : work.tiles_a_bunch;
  const Offset bunch_begin = first_tile * tile;

  Index column[W];
  V value[W];
  load_striped(matrix, bunch_begin, matrix.entries, column, value);
  // Lane i finds where tile i begins.
  Index tile_row = 0;
  if (lane <= tiles) {
    const Offset boundary = bunch_begin + static_cast<Offset>(lane) * tile;
    tile_row = work.tile_rows != nullptr ? work.tile_rows[first_tile + lane]
                                         : rightmost_match(matrix.offsets, matrix.rows,
                                                           boundary < matrix.entries ? boundary : matrix.entries);
  }
  const Index bunch_row = simt::shuffle(simt::full_mask, tile_row, 0);
  const bool joins = bunch > 0 && static_cast<Offset>(matrix.offsets[bunch_row]) < bunch_begin;
  V transmitter = 0;
  unsigned dirty_tiles = 0, joining_tiles = 0;  // a bit a tile
  // A lane has the borders of one of the tile's first rows at hand before it needs them.
  O next_begin = 0, next_end = 0;
  const auto fetch_rows = [&](Index start) {
    if (lane < matrix.rows - start) {
      next_begin = matrix.offsets[start + lane];
      next_end = matrix.offsets[start + lane + 1];
    }
  };
  fetch_rows(bunch_row);

  for (int t = 0; t < tiles; ++t) {
    const Offset begin = bunch_begin + static_cast<Offset>(t) * tile;
    const int length = matrix.entries - begin < tile ? static_cast<int>(matrix.entries - begin) : tile;
    V sums[W];
    WEFT_UNROLL
    for (int u = 0; u < W; ++u)
      sums[u] = u * 32 + lane < length ? value[u] * simt::load_readonly(product.x + column[u]) : V(0);
    if (t + 1 < tiles) load_striped(matrix, begin + tile, matrix.entries, column, value);  // while these are summed

    const Index start = simt::shuffle(simt::full_mask, tile_row, t),
                stop = simt::shuffle(simt::full_mask, tile_row, t + 1);
    if (lane < W) descriptor[lane] = 0;
    simt::sync_warp();
    bool saw_empty = false;
    for (Offset row = static_cast<Offset>(start) + lane; row < stop; row += 32) {
      const bool fetched = row - start == lane;
      const O row_begin = fetched ? next_begin : matrix.offsets[row],
              row_end = fetched ? next_end : matrix.offsets[row + 1];
      saw_empty |= row_begin == row_end;
      const int k = static_cast<int>(static_cast<Offset>(row_end) - begin) - 1;
      if (row_begin != row_end) simt::atomic_or(descriptor[k / 32], 1u << k % 32);
    }
    const bool dirty = simt::any(simt::full_mask, saw_empty);
    dirty_tiles |= static_cast<unsigned>(dirty) << t;
    fetch_rows(stop);
    simt::sync_warp();
    unsigned ends[W];
    WEFT_UNROLL
    for (int u = 0; u < W; ++u) ends[u] = descriptor[u];
    sum_segments(sums, ends, transmitter);

    const bool first_joins = joins && start == bunch_row;
    int segment = 0;
    WEFT_UNROLL
    for (int u = 0; u < W; ++u) {
      if ((ends[u] >> lane & 1u) != 0) {
        const int mine = segment + simt::popcount(static_cast<std::uint32_t>(ends[u] & ((1u << lane) - 1)));
        if (mine == 0 && first_joins)
          work.synchronizer.values[bunch] = sums[u];
        else if (dirty)
          work.sums[start + mine] = sums[u];
        else
          store_sum(product, start + mine, 0, sums[u]);
      }
      segment += simt::popcount(static_cast<std::uint32_t>(ends[u]));
    }
    joining_tiles |= static_cast<unsigned>(first_joins) << t;
    if (lane == 0) {
      // What the bunch has of a row that goes on in the next one.
      if (t + 1 == tiles && stop < matrix.rows && static_cast<Offset>(matrix.offsets[stop]) < begin + length) {
        if (joins && stop == bunch_row)
          work.synchronizer.values[bunch] = transmitter;
        else
          store_sum(product, stop, 0, transmitter);
      }
    }
    simt::sync_warp();
  }
  if (lane == 0) work.synchronizer.rows[bunch] = joins ? bunch_row : -1;
  if (work.speculator != nullptr) {
    const Index stop = simt::shuffle_down(simt::full_mask, tile_row, 1);
    const bool dirty = lane < tiles && (dirty_tiles >> lane & 1u) != 0;
    Offset place = first_tile + lane;
    if (work.dirty_counter != nullptr) {
      unsigned base = 0;
      if (lane == 0 && dirty_tiles != 0)
        base = simt::atomic_add(*work.dirty_counter, static_cast<unsigned>(simt::popcount(std::uint32_t{dirty_tiles})));
      place = simt::shuffle(simt::full_mask, base, 0) +
              simt::popcount(static_cast<std::uint32_t>(dirty_tiles & ((1u << lane) - 1)));
    }
    if (dirty)
      work.speculator[place] = {tile_row, stop, static_cast<int>(joining_tiles >> lane & 1u)};
    else if (work.dirty_counter == nullptr && lane < tiles)
      work.speculator[place].start = -1;
  }
  if (work.finished != nullptr) {
    simt::sync_warp();
    if (lane == 0) simt::publish(work.finished[bunch], work.product_number);
  }
}

/// Stage 2 of dirty tiles, a warp a tile.
template <class V, class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_check(View<V, O> matrix, Speculation<V> work, Product<V> product) {
  simt::wait_for_earlier_kernels();
  const int lane = simt::lane_id();
  const Offset place = simt::global_thread_id() / 32;
  if (place >= *work.dirty_counter) return;  // for the whole warp
  const Dirty tile = work.speculator[place];
  Offset next = tile.start;  // where the next sum waits
  for (Offset begin = tile.start; begin < tile.stop; begin += 32) {
    const Offset row = begin + lane;
    const bool inside = row < tile.stop;
    const bool full = inside && matrix.offsets[row] != matrix.offsets[row + 1];
    const unsigned fulls = simt::ballot(simt::full_mask, full);
    const Offset from = next + simt::popcount(static_cast<std::uint32_t>(fulls & ((1u << lane) - 1)));
    if (inside && !(full && from == tile.start && tile.skip != 0))
      store_sum(product, static_cast<Index>(row), 0, full ? work.sums[from] : V(0));
    next += simt::popcount(static_cast<std::uint32_t>(fulls));
  }
}

using SpeculativeShape = ::weft::csr::SpeculativeNumbers;

/// Throws Error(invalid_argument) for numbers the kernels do not have.
template <class V>
SpeculativeShape speculative_shape(const ::weft::csr::Tuning& tuning, const BuildOptions& options) {
  SpeculativeShape shape = tuning.speculative.of<V>();
  if (options.has("w")) shape.width = static_cast<int>(options.parameter("w", 2) + 1) / 2 * 2;
  shape.tiles = static_cast<int>(options.parameter("s", shape.tiles));
  shape.bunches = static_cast<int>(options.parameter("b", shape.bunches));
  const bool known = shape.width == 2 || shape.width == 4 || shape.width == 6 || shape.width == 8;
  if (!known || shape.tiles < 1 || shape.tiles > most_tiles_a_bunch || shape.bunches < 1 ||
      shape.bunches > most_bunches)
    throw Error(ErrorCode::invalid_argument, "csr:speculative takes W = 2, 4, 6 or 8, S = 1 to " +
                                                 std::to_string(most_tiles_a_bunch) + " and B = 1 to " +
                                                 std::to_string(most_bunches));
  return shape;
}

/// Calls body(std::integral_constant<int, W>) for one of the widths that are compiled in.
template <class F>
void with_width(int width, F&& body) {
  switch (width) {
    case 2:
      return body(std::integral_constant<int, 2>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 6:
      return body(std::integral_constant<int, 6>());
    default:
      return body(std::integral_constant<int, 8>());
  }
}

/// Cuts the arrays of both stages out of `space`. `searched`: with room for the tiles' rows, for speculative_search to
/// fill in once. There are no more dirty tiles than `empty_rows`; for 0 nothing is kept for them.
template <class V, class O>
Speculation<V> speculation_for(const View<V, O>& matrix, const SpeculativeShape& shape, bool searched, Index empty_rows,
                               Carver& space) {
  Speculation<V> work;
  const Offset tile = 32 * shape.width;
  work.tiles = (matrix.entries + tile - 1) / tile;
  work.tiles_a_bunch = shape.tiles;
  const Offset bunches = (work.tiles + shape.tiles - 1) / shape.tiles;
  if (searched) work.tile_rows = space.take<Index>(work.tiles + 1);
  work.synchronizer = {space.take<Index>(bunches), space.take<V>(bunches), bunches};
  work.most_dirty = work.tiles < empty_rows ? work.tiles : empty_rows;
  if (work.most_dirty > 0) {
    work.dirty_counter = space.take<unsigned>(1);
    work.speculator = space.take<Dirty>(work.most_dirty);
    work.sums = space.take<V>(matrix.rows);
  }
  return work;
}

template <class V, class O>
void speculative_search(const View<V, O>& matrix, const SpeculativeShape& shape, const Speculation<V>& work,
                        Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(csr_find_tiles<O>), simt::blocks_for(work.tiles + 1, threads), threads, 0, stream,
               matrix.rows, matrix.entries, matrix.offsets, 32 * shape.width, work.tiles, work.tile_rows);
}

template <class Counter>
__global__ void csr_reset(Counter* counter) {
  *counter = 0;
}

template <class V, class O>
void speculate(const View<V, O>& matrix, const SpeculativeShape& shape, const Speculation<V>& work,
               const Product<V>& product, Stream stream) {
  with_width(shape.width, [&](auto width) {
    simt::launch(WEFT_KERNEL(csr_speculate<V, O, decltype(width)::value>),
                 simt::blocks_for(work.synchronizer.count, shape.bunches), 32 * shape.bunches, 0, stream, matrix, work,
                 product);
  });
}

/// Both stages for one vector; the matrix has entries.
template <class V, class O>
void speculative_multiply(const View<V, O>& matrix, const SpeculativeShape& shape, const Speculation<V>& work,
                          const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  if (work.dirty_counter != nullptr)
    simt::launch(WEFT_KERNEL(csr_reset<unsigned>), 1, 1, 0, stream, work.dirty_counter);
  speculate(matrix, shape, work, product, stream);
  if (work.dirty_counter != nullptr)
    simt::launch_early(WEFT_KERNEL(csr_check<V, O>), simt::blocks_for(work.most_dirty, threads / 32), threads, 0,
                       stream, matrix, work, product);
  if (work.synchronizer.count > 1) add_carries(work.synchronizer, product, stream);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
