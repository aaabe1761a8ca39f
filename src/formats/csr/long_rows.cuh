#pragma once
#include "formats/csr/csr.hpp"
#include "formats/csr/tuning.hpp"
#include "formats/gpu_product.cuh"
#include "simt/scan.cuh"

// csr:long. Few and long rows: each is cut into pieces of equal length, a thread block sums a piece, and the block that
// is the last of its row adds up the sums of all its pieces, in their order. One kernel, however long a row is.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

using ::weft::csr::Carver;
using ::weft::csr::View;

inline constexpr int long_threads = ::weft::csr::long_threads;
inline constexpr int long_entries = long_threads * ::weft::csr::long_entries_per_thread;  // of a piece

/// All that a block has to know, in one place: one load instead of three that wait for each other.
struct alignas(16) LongPiece {
  Offset begin = 0;       ///< of its entries
  Index row = -1;         ///< -1: there is no such piece
  Index entries = 0;      ///< up to long_entries
  Offset first = 0;       ///< piece of the row
  Offset row_pieces = 0;  ///< of the row
};

/// The pieces of a matrix, in a piece of the GPU's memory that the caller has.
template <class V>
struct LongSpace {
  Offset pieces = 0;
  Offset* first_piece = nullptr;  ///< of each row, and after the last
  LongPiece* list = nullptr;
  unsigned* done = nullptr;  ///< pieces of each row that have been summed; 0 between products
  V* sums = nullptr;         ///< of each piece

  LongSpace() = default;
  /// An empty row has a piece, too: it stores 0.
  template <class O>
  LongSpace(const View<V, O>& matrix, Carver& space) : pieces(matrix.entries / long_entries + matrix.rows) {
    first_piece = space.take<Offset>(Offset(matrix.rows) + 1);
    list = space.take<LongPiece>(pieces);
    done = space.take<unsigned>(matrix.rows);
    sums = space.take<V>(pieces);
  }
};

/// Counts the pieces of each row.
template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_count_pieces(Index rows, const O* offsets, Offset* pieces, unsigned* done) {
  const Offset row = simt::global_thread_id();
  if (row >= rows) return;
  const auto length = static_cast<Offset>(offsets[row + 1] - offsets[row]);
  pieces[row] = length == 0 ? 1 : (length + long_entries - 1) / long_entries;
  done[row] = 0;
}

template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_list_pieces(Index rows, const O* offsets, const Offset* first_piece, Offset room, LongPiece* list) {
  const Offset thread = simt::global_thread_id();
  for (Offset piece = first_piece[rows] + thread; piece < room; piece += static_cast<Offset>(gridDim.x) * blockDim.x)
    list[piece] = LongPiece{};
  if (thread >= rows) return;
  LongPiece next{.begin = static_cast<Offset>(offsets[thread]),
                 .row = static_cast<Index>(thread),
                 .first = first_piece[thread],
                 .row_pieces = first_piece[thread + 1] - first_piece[thread]};
  const auto end = static_cast<Offset>(offsets[thread + 1]);
  for (Offset piece = next.first; piece < next.first + next.row_pieces; ++piece, next.begin += long_entries) {
    next.entries = static_cast<Index>(end - next.begin < long_entries ? end - next.begin : long_entries);
    list[piece] = next;
  }
}

template <class V, class O>
__global__ void __launch_bounds__(long_threads) csr_long(View<V, O> matrix, LongSpace<V> space, Product<V> product) {
  constexpr int batch = ::weft::csr::long_entries_per_thread;
  WEFT_SHARED(int, is_last, 1);
  const LongPiece piece = space.list[blockIdx.x];
  if (piece.row < 0) return;
  const Index* __restrict__ columns = matrix.columns + piece.begin;
  const V* __restrict__ values = matrix.values + piece.begin;
  Index column[batch];
  V value[batch];
  WEFT_UNROLL
  for (int u = 0; u < batch; ++u) {
    const int k = u * long_threads + static_cast<int>(threadIdx.x);
    column[u] = k < piece.entries ? simt::load_streaming(columns + k) : -1;
    value[u] = k < piece.entries ? simt::load_streaming(values + k) : V(0);
  }
  V sum = 0;
  WEFT_UNROLL
  for (int u = 0; u < batch; ++u)
    if (column[u] >= 0) sum += value[u] * simt::load_readonly(product.x + column[u]);
  sum = simt::block_reduce_sum(sum);
  if (piece.row_pieces == 1) {
    if (threadIdx.x == 0) store_sum(product, piece.row, 0, sum);
    return;
  }
  if (threadIdx.x == 0) {
    space.sums[blockIdx.x] = sum;
    __threadfence();
    is_last[0] = simt::atomic_add(space.done[piece.row], 1u) == static_cast<unsigned>(piece.row_pieces) - 1;
  }
  simt::sync_block();
  if (!is_last[0]) return;
  __threadfence();
  V all = 0;
  for (Offset i = threadIdx.x; i < piece.row_pieces; i += long_threads)
    all += simt::load_fresh(space.sums + piece.first + i);
  all = simt::block_reduce_sum(all);
  if (threadIdx.x != 0) return;
  store_sum(product, piece.row, 0, all);
  space.done[piece.row] = 0;  // for the next product
}

template <class V, class O>
void long_search(Device device, const View<V, O>& matrix, const LongSpace<V>& space, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  const unsigned blocks = simt::blocks_for(matrix.rows, threads);
  simt::launch(WEFT_KERNEL(csr_count_pieces<O>), blocks, threads, 0, stream, matrix.rows, matrix.offsets,
               space.first_piece, space.done);
  simt::exclusive_scan(device, space.first_piece, matrix.rows);
  simt::launch(WEFT_KERNEL(csr_list_pieces<O>), blocks, threads, 0, stream, matrix.rows, matrix.offsets,
               static_cast<const Offset*>(space.first_piece), space.pieces, space.list);
}

/// For one vector. long_search must have come before, once.
template <class V, class O>
void long_multiply(const View<V, O>& matrix, const LongSpace<V>& space, const Product<V>& product, Stream stream) {
  simt::launch(WEFT_KERNEL(csr_long<V, O>), simt::blocks_for(space.pieces, 1), long_threads, 0, stream, matrix, space,
               product);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
