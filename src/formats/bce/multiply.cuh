#pragma once
#include "formats/bce/bce.hpp"
#include "formats/bce/schedule.cuh"
#include "formats/column_groups.cuh"

// The kernels of bce. A thread block takes a sub-block. Where a thread has a row of its own it reads groups of columns
// at once; where t threads share a row they read t neighbours, so that all loads of the matrix are side by side, and
// add up their sums in the end.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

using simt::block_threads;
using ::weft::bce::View;

template <class V, int Batch, class Room, int MinBlocks>
__global__ void __launch_bounds__(block_threads, simt::resident_blocks(MinBlocks, block_threads))
    bce_multiply(View<V> matrix, const SubBlock* schedule, Product<V> product) {
  const SubBlock block = schedule[blockIdx.x];
  const Index rows = block.rows, width = block.width;
  const int threads = block.threads;
  const int shift = simt::first_set(static_cast<std::uint32_t>(threads)) - 1;
  const int thread = static_cast<int>(threadIdx.x);
  const Index row = thread >> shift;
  const V* values = matrix.values + block.position;
  const Index* columns = matrix.columns + block.position;
  const XRows<V, Room> x(product);
  V sums[Room::vectors] = {};
  if (threads == 1) {
    if (rows == block_threads)  // all but the last of a block: the compiler knows how far apart columns are
      sum_grouped_row<Batch>(values, columns, row, std::integral_constant<Index, block_threads>(), width, x, sums);
    else if (row < rows)
      sum_grouped_row<Batch>(values, columns, row, rows, width, x, sums);
  } else {
    if (row < rows)
      sum_striped(values + thread, columns + thread, static_cast<Offset>(rows) * threads, width >> shift, x, sums);
    for (int distance = threads / 2; distance > 0; distance /= 2) {
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) sums[j] += simt::shuffle_xor(simt::full_mask, sums[j], distance);
    }
  }
  if (row >= rows || (thread & (threads - 1)) != 0) return;
  const Index number = matrix.row_numbers[block.first + row];
  if constexpr (Room::reach != Reach::columns) {
    if (number >= 0) return store_sums<Room>(product, number, sums);
  }
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j) {
    if (j >= product.count) continue;
    if (number >= 0)
      store_sum<Room>(product, number, j, sums[j]);
    else
      matrix.partials[j * matrix.pieces + ~number] = sums[j];
  }
}

/// A warp adds up the pieces of a row.
template <class V, class Vectors>
__global__ void __launch_bounds__(block_threads) bce_add_pieces(View<V> matrix, Product<V> product) {
  simt::wait_for_earlier_kernels();
  const Offset i = simt::global_thread_id() / 32;
  if (i >= matrix.long_rows) return;  // for the whole warp
  const Offset begin = matrix.piece_starts[i], end = matrix.piece_starts[i + 1];
  for (int j = 0; j < product.count; ++j) {
    V sum = 0;
    for (Offset q = begin + simt::lane_id(); q < end; q += 32) sum += matrix.partials[j * matrix.pieces + q];
    sum = simt::warp_reduce_sum(sum);
    if (simt::lane_id() == 0) store_sum<Vectors>(product, matrix.long_row_numbers[i], j, sum);
  }
}

/// Few rows at once where they are long, many where they are short, as in sell: see blocks_for_short_rows.
template <class V>
void multiply(const View<V>& matrix, std::span<const SubBlock> schedule, bool long_rows, const Product<V>& product,
              Stream stream) {
  const unsigned blocks = simt::blocks_for(static_cast<Offset>(schedule.size()), 1);
  const auto launch = [&](auto batch, auto room, auto min_blocks) {
    simt::launch(WEFT_KERNEL(bce_multiply<V, decltype(batch)::value, decltype(room), decltype(min_blocks)::value>),
                 blocks, block_threads, 0, stream, matrix, schedule.data(), product);
  };
  constexpr std::integral_constant<int, 4> four;
  constexpr std::integral_constant<int, 8> eight;
  constexpr std::integral_constant<int, blocks_for_long_rows> few;
  constexpr std::integral_constant<int, blocks_for_short_rows.of<V>()> many;
  with_room_for(product, [&](auto room) {
    if constexpr (decltype(room)::vectors > 1)
      launch(four, room, std::integral_constant<int, 1>());
    else if (long_rows)
      launch(eight, room, few);
    else
      launch(four, room, many);
  });
  if (matrix.long_rows > 0)
    with_layout_of(product, [&](auto vectors) {
      simt::launch_early(WEFT_KERNEL(bce_add_pieces<V, decltype(vectors)>),
                         simt::blocks_for(matrix.long_rows, block_threads / 32), block_threads, 0, stream, matrix,
                         product);
    });
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
