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

/// The pieces of a matrix, in a piece of the GPU's memory that the caller has.
template <class V>
struct LongSpace {
  Offset pieces = 0;
  Offset* first_piece = nullptr;  ///< of each row, and behind the last
  Index* piece_rows = nullptr;
  unsigned* done = nullptr;  ///< pieces of each row that have been summed; 0 between products
  V* sums = nullptr;         ///< of each piece

  LongSpace() = default;
  /// An empty row has a piece, too: it stores 0.
  template <class O>
  LongSpace(const View<V, O>& matrix, Carver& space) : pieces(matrix.entries / long_entries + matrix.rows) {
    first_piece = space.take<Offset>(Offset(matrix.rows) + 1);
    piece_rows = space.take<Index>(pieces);
    done = space.take<unsigned>(matrix.rows);
    sums = space.take<V>(pieces);
  }
};

/// Counts the pieces of each row; -1 in piece_rows are those that there are not.
template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_count_pieces(Index rows, const O* offsets, Offset* pieces, unsigned* done) {
  const Offset row = simt::global_thread_id();
  if (row >= rows) return;
  const auto length = static_cast<Offset>(offsets[row + 1] - offsets[row]);
  pieces[row] = length == 0 ? 1 : (length + long_entries - 1) / long_entries;
  done[row] = 0;
}

inline __global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_list_pieces(Index rows, const Offset* first_piece, Offset room, Index* piece_rows) {
  const Offset thread = simt::global_thread_id();
  for (Offset piece = first_piece[rows] + thread; piece < room; piece += static_cast<Offset>(gridDim.x) * blockDim.x)
    piece_rows[piece] = -1;
  if (thread >= rows) return;
  for (Offset piece = first_piece[thread]; piece < first_piece[thread + 1]; ++piece)
    piece_rows[piece] = static_cast<Index>(thread);
}

template <class V, class O>
__global__ void __launch_bounds__(long_threads) csr_long(View<V, O> matrix, LongSpace<V> space, Product<V> product) {
  constexpr int batch = ::weft::csr::long_entries_per_thread;
  WEFT_SHARED(int, is_last, 1);
  const Index row = space.piece_rows[blockIdx.x];
  if (row < 0) return;
  const Offset first = space.first_piece[row], pieces = space.first_piece[row + 1] - first;
  const auto row_end = static_cast<Offset>(matrix.offsets[row + 1]);
  const Offset begin = static_cast<Offset>(matrix.offsets[row]) + (blockIdx.x - first) * long_entries;
  const Offset end = begin + long_entries < row_end ? begin + long_entries : row_end;
  Index column[batch];
  V value[batch];
  WEFT_UNROLL
  for (int u = 0; u < batch; ++u) {
    const Offset k = begin + u * long_threads + threadIdx.x;
    column[u] = k < end ? simt::load_streaming(matrix.columns + k) : -1;
    value[u] = k < end ? simt::load_streaming(matrix.values + k) : V(0);
  }
  V sum = 0;
  WEFT_UNROLL
  for (int u = 0; u < batch; ++u)
    if (column[u] >= 0) sum += value[u] * simt::load_readonly(product.x + column[u]);
  sum = simt::block_reduce_sum(sum);
  if (pieces == 1) {
    if (threadIdx.x == 0) store_sum(product, row, 0, sum);
    return;
  }
  if (threadIdx.x == 0) {
    space.sums[blockIdx.x] = sum;
    __threadfence();
    is_last[0] = simt::atomic_add(space.done[row], 1u) == static_cast<unsigned>(pieces) - 1;
  }
  simt::sync_block();
  if (!is_last[0]) return;
  __threadfence();
  V all = 0;
  for (Offset piece = threadIdx.x; piece < pieces; piece += long_threads)
    all += simt::load_fresh(space.sums + first + piece);
  all = simt::block_reduce_sum(all);
  if (threadIdx.x != 0) return;
  store_sum(product, row, 0, all);
  space.done[row] = 0;  // for the next product
}

template <class V, class O>
void long_search(Device device, const View<V, O>& matrix, const LongSpace<V>& space, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  const unsigned blocks = simt::blocks_for(matrix.rows, threads);
  simt::launch(WEFT_KERNEL(csr_count_pieces<O>), blocks, threads, 0, stream, matrix.rows, matrix.offsets,
               space.first_piece, space.done);
  simt::exclusive_scan(device, space.first_piece, matrix.rows);
  simt::launch(WEFT_KERNEL(csr_list_pieces), blocks, threads, 0, stream, matrix.rows,
               static_cast<const Offset*>(space.first_piece), space.pieces, space.piece_rows);
}

/// For one vector. long_search must have come before, once.
template <class V, class O>
void long_multiply(const View<V, O>& matrix, const LongSpace<V>& space, const Product<V>& product, Stream stream) {
  simt::launch(WEFT_KERNEL(csr_long<V, O>), simt::blocks_for(space.pieces, 1), long_threads, 0, stream, matrix, space,
               product);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
