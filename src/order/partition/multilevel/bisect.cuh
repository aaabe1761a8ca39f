#pragma once
#include "order/partition/multilevel/bisection.hpp"
#include "order/partition/multilevel/device.hpp"
#include "order/partition/multilevel/graph.cuh"

// Coordinates and halving. For gpu.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::multilevel {

using ::weft::ordering::multilevel::Coordinate;
using ::weft::ordering::multilevel::dimensions;
using ::weft::ordering::multilevel::NodesOnDevice;

/// As ::weft::ordering::multilevel::Point.
struct alignas(8) Point {
  Coordinate at[dimensions];
};

/// Each node goes to the middle of itself and its neighbours.
__global__ void __launch_bounds__(block_threads) smooth_points(GraphView graph, const Point* from, Point* to) {
  const Offset node = simt::global_thread_id();
  if (node >= graph.nodes) return;
  const Point own = from[node];
  Offset sum[dimensions], count = 1;
  for (int d = 0; d < dimensions; ++d) sum[d] = own.at[d];
  each_edge(graph, static_cast<Index>(node), 0, 1, [&](Index neighbour, Index) {
    const Point other = from[neighbour];
    for (int d = 0; d < dimensions; ++d) sum[d] += other.at[d];
    ++count;
  });
  Point middle;
  for (int d = 0; d < dimensions; ++d) middle.at[d] = static_cast<Coordinate>(sum[d] / count);
  to[node] = middle;
}

constexpr int product_count = dimensions * (dimensions + 1) / 2;
constexpr int moment_count = 2 + dimensions + product_count;  // nodes, weight, sums, products

/// Nodes that will be some parts; they are together in the list of nodes, ascending.
struct Piece {
  Offset begin = 0, end = 0;
  Index axis[dimensions] = {};
  Offset target = 0;      ///< weight that is to go left; below 0: all nodes, since the piece is one part
  bool by_count = false;  ///< each node counts 1, whatever it weighs, since a half would have too many
  Index left = 0;         ///< number of the piece that the left half will be; the right half is the next
  std::uint32_t key = 0;  ///< where it is divided, as far as is known
  Offset before = 0;      ///< shares of nodes with smaller keys
};

struct Halving {
  Offset nodes = 0;
  const Point* points = nullptr;    // per node
  const Index* weights = nullptr;   // per node; null: 1 each
  const Index* list = nullptr;      // of nodes
  const Index* piece_of = nullptr;  // per place in the list
  Piece* pieces = nullptr;
  std::uint32_t* keys = nullptr;  // per place in the list

  __device__ Offset weight(Offset place) const { return weights ? weights[list[place]] : 1; }
  /// What the node counts where its piece is divided.
  __device__ Offset share(Offset place, const Piece& piece) const { return piece.by_count ? 1 : weight(place); }
};

__global__ void __launch_bounds__(block_threads) start_list(Offset nodes, Index* list, Index* piece_of) {
  const Offset i = simt::global_thread_id();
  if (i >= nodes) return;
  list[i] = static_cast<Index>(i);
  piece_of[i] = 0;
}

/// Adds the moments of the nodes to those of their pieces.
__global__ void __launch_bounds__(block_threads) add_moments(Halving halving, Offset* moments) {
  const Offset place = simt::global_thread_id();
  const Offset first = static_cast<Offset>(blockIdx.x) * block_threads;
  const Offset last = first + block_threads <= halving.nodes ? first + block_threads - 1 : halving.nodes - 1;
  const bool one_piece = halving.piece_of[first] == halving.piece_of[last];
  Offset own[moment_count] = {};
  if (place < halving.nodes) {
    const Point point = halving.points[halving.list[place]];
    own[0] = 1;
    own[1] = halving.weight(place);
    int next = 2;
    for (int i = 0; i < dimensions; ++i) own[next++] = point.at[i];
    for (int i = 0; i < dimensions; ++i)
      for (int j = 0; j <= i; ++j) own[next++] = static_cast<Offset>(point.at[i]) * point.at[j];
  }
  if (one_piece) {
    Offset* const to = moments + static_cast<Offset>(halving.piece_of[first]) * moment_count;
    for (int i = 0; i < moment_count; ++i) {
      const Offset sum = simt::block_reduce_sum(own[i]);
      if (threadIdx.x == 0) simt::atomic_add(to[i], sum);
    }
  } else if (place < halving.nodes) {
    Offset* const to = moments + static_cast<Offset>(halving.piece_of[place]) * moment_count;
    for (int i = 0; i < moment_count; ++i) simt::atomic_add(to[i], own[i]);
  }
}

/// Places along the axis as numbers without a sign.
__global__ void __launch_bounds__(block_threads) find_keys(Halving halving) {
  const Offset place = simt::global_thread_id();
  if (place >= halving.nodes) return;
  const Piece& piece = halving.pieces[halving.piece_of[place]];
  const Point point = halving.points[halving.list[place]];
  Offset along = Offset(1) << 31;
  for (int d = 0; d < dimensions; ++d) along += static_cast<Offset>(piece.axis[d]) * point.at[d];
  halving.keys[place] = static_cast<std::uint32_t>(along);
}

constexpr int digits = 256;

/// Weights by the digit at `shift`, of nodes whose key begins as that of their piece.
__global__ void __launch_bounds__(block_threads) count_digits(Halving halving, int shift, Offset* sums) {
  const Offset place = simt::global_thread_id();
  if (place >= halving.nodes) return;
  const Index number = halving.piece_of[place];
  const Piece& piece = halving.pieces[number];
  const std::uint32_t key = halving.keys[place];
  if (piece.target < 0 || (shift < 24 && (key >> (shift + 8)) != (piece.key >> (shift + 8)))) return;
  simt::atomic_add(sums[static_cast<Offset>(number) * digits + ((key >> shift) & (digits - 1))],
                   halving.share(place, piece));
}

/// The digit at which half of the piece's weight is reached: a warp per piece.
__global__ void __launch_bounds__(block_threads)
    choose_digits(Piece* pieces, Offset count, int shift, const Offset* sums) {
  constexpr int per_lane = digits / 32;
  const Offset number = simt::global_thread_id() / 32;
  if (number >= count) return;  // the whole warp
  const Piece piece = pieces[number];
  if (piece.target < 0) return;
  const int lane = simt::lane_id();
  Offset own[per_lane], sum = 0;
  for (int i = 0; i < per_lane; ++i) sum += own[i] = sums[number * digits + lane * per_lane + i];
  Offset before = sum;
  WEFT_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const Offset earlier = simt::shuffle_up(simt::full_mask, before, static_cast<unsigned>(step));
    if (lane >= step) before += earlier;
  }
  before += piece.before - sum;
  int chosen = digits - 1;
  Offset before_chosen = before + sum - own[per_lane - 1];
  for (int i = 0; i < per_lane; ++i) {
    if (before + own[i] >= piece.target) {
      chosen = lane * per_lane + i;
      before_chosen = before;
      break;
    }
    before += own[i];
  }
  const int first = digits - 1 - simt::warp_reduce(digits - 1 - chosen, simt::Max{});
  if (first / per_lane != lane) return;
  pieces[number].key = piece.key | (static_cast<std::uint32_t>(first) << shift);
  pieces[number].before = before_chosen;
}

/// Shares of nodes whose key is that of their piece, for a running sum.
__global__ void __launch_bounds__(block_threads) find_ties(Halving halving, Offset* tied) {
  const Offset place = simt::global_thread_id();
  if (place >= halving.nodes) return;
  const Piece& piece = halving.pieces[halving.piece_of[place]];
  tied[place] = halving.keys[place] == piece.key ? halving.share(place, piece) : 0;
}

/// Which nodes go left; `tied` are running sums.
__global__ void __launch_bounds__(block_threads) find_sides(Halving halving, const Offset* tied, Index* left) {
  const Offset place = simt::global_thread_id();
  if (place >= halving.nodes) return;
  const Piece& piece = halving.pieces[halving.piece_of[place]];
  const std::uint32_t key = halving.keys[place];
  bool goes_left = piece.target < 0 || key < piece.key;
  if (!goes_left && key == piece.key)
    goes_left = piece.before + tied[place] - tied[piece.begin] + halving.share(place, piece) / 2 < piece.target;
  left[place] = goes_left ? 1 : 0;
}

/// Left nodes before right ones in each piece; `left` are running sums.
__global__ void __launch_bounds__(block_threads)
    divide_pieces(Halving halving, const Index* left, Index* list, Index* piece_of) {
  const Offset place = simt::global_thread_id();
  if (place >= halving.nodes) return;
  const Piece& piece = halving.pieces[halving.piece_of[place]];
  const Offset before = left[place] - left[piece.begin], all_left = left[piece.end] - left[piece.begin];
  const bool goes_left = left[place + 1] > left[place];
  const Offset to = piece.begin + (goes_left ? before : all_left + (place - piece.begin) - before);
  list[to] = halving.list[place];
  piece_of[to] = piece.left + (goes_left ? 0 : 1);
}

/// How many nodes of each piece went left.
__global__ void __launch_bounds__(block_threads)
    count_left(const Piece* pieces, Offset count, const Index* left, Offset* middles) {
  const Offset number = simt::global_thread_id();
  if (number < count) middles[number] = pieces[number].begin + left[pieces[number].end] - left[pieces[number].begin];
}

/// 1 and the entries of each node's rows.
__global__ void __launch_bounds__(block_threads) weigh_rows(NodesOnDevice matrix, Offset nodes, Index* weights) {
  const Offset node = simt::global_thread_id();
  if (node >= nodes) return;
  const Offset first = node * matrix.block;
  const Offset last = first + matrix.block < matrix.rows ? first + matrix.block : matrix.rows;
  weights[node] = ::weft::ordering::multilevel::weight_of_entries(matrix.offsets[last] - matrix.offsets[first]);
}

__global__ void __launch_bounds__(block_threads)
    list_to_parts(Offset nodes, const Index* list, const Index* piece_of, const Index* part_of_piece, Index* part_of) {
  const Offset place = simt::global_thread_id();
  if (place < nodes) part_of[list[place]] = part_of_piece[piece_of[place]];
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
