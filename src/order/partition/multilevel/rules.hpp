#pragma once
#include <weft/types.hpp>

#include <cstdint>

#include "core/host_device.hpp"

// The choices of the partitioner, as formulas of integers that the CPU's and the GPU's steps share. None depends on the
// order in which nodes or neighbours are visited, so every device and any number of threads find the same parts.
namespace weft::ordering::multilevel {

constexpr Index nobody = -1;

/// Spreads the bits of a number over all 32.
WEFT_HOST_DEVICE constexpr std::uint32_t scramble(std::uint32_t number) {
  number = (number ^ (number >> 16)) * 0x9E3779B1u;
  number = (number ^ (number >> 13)) * 0x85EBCA77u;
  return number ^ (number >> 16);
}

/// What a node weighs where points are halved and entries are to be even. A node without entries is not free, either.
WEFT_HOST_DEVICE constexpr Index weight_of_entries(Offset entries) {
  constexpr Offset max = 0x7fffffff;
  return static_cast<Index>(entries < max ? entries + 1 : max);
}

/// Which neighbour a node would like to be joined with: the one over the heaviest edge. Ties are decided by a number
/// that both ends compute alike and that is another in each round, so that no chain of nodes points one way.
struct Wish {
  Index node = nobody;
  Index weight = 0;
  std::uint32_t tie = 0;

  WEFT_HOST_DEVICE static constexpr Wish of(Index node, Index neighbour, Index weight, int round) {
    const auto low = static_cast<std::uint32_t>(node < neighbour ? node : neighbour);
    const auto high = static_cast<std::uint32_t>(node < neighbour ? neighbour : node);
    return {neighbour, weight, scramble(scramble(low + 977u * static_cast<std::uint32_t>(round)) ^ high)};
  }
  WEFT_HOST_DEVICE constexpr bool beats(const Wish& other) const {
    if (weight != other.weight) return weight > other.weight;
    if (tie != other.tie) return tie > other.tie;
    return other.node == nobody || node < other.node;
  }
};

/// What a part holds: the weight that is to be even, and how many nodes of the finest graph.
struct Load {
  Offset weight = 0;
  Offset count = 0;

  WEFT_HOST_DEVICE constexpr Load operator+(const Load& other) const {
    return {weight + other.weight, count + other.count};
  }
  WEFT_HOST_DEVICE constexpr Load operator-(const Load& other) const {
    return {weight - other.weight, count - other.count};
  }
  /// No more than `other`, in weight and in count.
  WEFT_HOST_DEVICE constexpr bool within(const Load& other) const {
    return weight <= other.weight && count <= other.count;
  }
};

/// Between which loads the parts of a level are to stay.
struct Bounds {
  Load max;        ///< a part above is full: its nodes go to neighbours with room, even if that cuts more
  Load emptied;    ///< how far a full part is emptied
  Offset min = 0;  ///< weight below which no part is drained

  /// How much may leave a part in one round.
  WEFT_HOST_DEVICE constexpr Load may_leave(const Load& load) const {
    return {load.weight - (load.weight > max.weight ? emptied.weight : min),
            load.count - (load.count > max.count ? emptied.count : 0)};
  }
};

/// An order of moves, the most useful first, of which a part admits as many as it has room for: classes by the power of
/// two of the gain, each in eight pieces so that a class need not be admitted or refused as a whole.
constexpr int gain_classes = 16, pieces_per_class = 8, buckets = gain_classes * pieces_per_class;
WEFT_HOST_DEVICE constexpr int bucket_of(Offset gain, Index node, int round) {
  constexpr int no_gain = 7;  // 6 .. 0: gains of 1, 2 to 3, ..., 64 and more; 8 .. 15: losses
  int size = 0;
  for (Offset rest = gain < 0 ? -gain : gain; rest > 0 && size < 8; rest /= 2) ++size;
  const int gain_class = gain > 0 ? no_gain - (size < 7 ? size : 7) : no_gain + size;
  const std::uint32_t piece = scramble(static_cast<std::uint32_t>(node) * 31u + static_cast<std::uint32_t>(round));
  return gain_class * pieces_per_class + static_cast<int>(piece % pieces_per_class);
}

/// Whether a move that loses `loss` of a node's `own` edges may be tried, for the sake of those that follow (Gilbert et
/// al. 2024). Bolder on coarse levels.
WEFT_HOST_DEVICE constexpr bool may_lose(Offset loss, Offset own, bool finest) {
  return loss < (finest ? own / 4 : own / 4 * 3 + own % 4 * 3 / 4);
}

}  // namespace weft::ordering::multilevel
