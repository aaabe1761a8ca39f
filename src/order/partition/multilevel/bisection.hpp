#pragma once
#include <weft/array.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "order/partition/methods.hpp"

namespace weft::ordering::multilevel {

constexpr int dimensions = 4;
/// Where a node is: whole numbers from 0 to max_coordinate. Eight bytes, since points travel to the device.
using Coordinate = std::int16_t;
using Point = std::array<Coordinate, dimensions>;
constexpr Index max_coordinate = std::numeric_limits<Coordinate>::max();

/// Coordinates for the nodes of a small graph: their distances from four nodes, each as far as can be from those
/// before. Scaled to max_coordinate.
Array<Point> distances(const NodeGraph& graph);

/// Sums over the nodes of a piece, of which the principal axis follows.
struct Moments {
  Offset count = 0;
  std::array<Offset, dimensions> sum{};
  std::array<Offset, dimensions*(dimensions + 1) / 2> products{};  ///< of coordinates i >= j, at i (i + 1) / 2 + j
};

/// The direction in which the nodes are spread most, in units of 1 / 2^14.
std::array<Index, dimensions> principal_axis(const Moments& moments);

/// Where a node is along an axis; ties are decided by the nodes' numbers.
constexpr Offset along(const std::array<Index, dimensions>& axis, const Point& point) {
  Offset sum = 0;
  for (int d = 0; d < dimensions; ++d) sum += Offset(axis[d]) * point[d];
  return sum;
}

/// How much of a piece goes left, which will be the first half of its parts.
inline Offset weight_of_left(Offset all, Index parts) {
  const Index on_left = parts / 2;
  return static_cast<Offset>(static_cast<double>(all) * on_left / parts);
}

/// How many nodes of a piece may go left, so that neither half has more than its parts can hold.
struct LeftCounts {
  Offset min, max;

  static LeftCounts of(Offset nodes, Index parts, Index capacity) {
    const Offset left = parts / 2, right = parts - left;
    return {std::max<Offset>(0, nodes - right * capacity), std::min(nodes, left * capacity)};
  }
};

/// After how many halvings each piece is one part.
inline int halvings(Index parts) { return std::bit_width(static_cast<std::uint32_t>(parts) - 1); }

/// Halves the nodes along their principal axis so that both halves weigh in proportion to the parts they will be, and
/// the halves likewise, until each is one part. `weights` may be empty: 1 each. No part gets more than `capacity`
/// nodes, which must be enough for all, even if that makes weights uneven.
Array<Index> bisect(const Array<Point>& points, const Array<Index>& weights, Index parts, Index capacity,
                    const Pulse& pulse);

}  // namespace weft::ordering::multilevel
