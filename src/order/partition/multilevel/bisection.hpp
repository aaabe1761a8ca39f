#pragma once
#include <weft/array.hpp>

#include <array>
#include <cstdint>

#include "order/partition/graph.hpp"

namespace weft::ordering::multilevel {

constexpr int dimensions = 4;
/// Where a node is: whole numbers from 0 to max_coordinate.
using Point = std::array<Index, dimensions>;
constexpr Index max_coordinate = (1 << 15) - 1;

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
  return static_cast<Offset>(static_cast<double>(all) * (parts / 2) / parts);
}

/// Halves the nodes along their principal axis so that both halves weigh in proportion to the parts they will be, and
/// the halves likewise, until each is one part. `weights` may be empty: 1 each.
Array<Index> bisect(const Array<Point>& points, const Array<Index>& weights, Index parts);

}  // namespace weft::ordering::multilevel
