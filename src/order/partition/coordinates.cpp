#include "order/partition/coordinates.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/parallel.hpp"
#include "order/partition/multilevel/rules.hpp"

namespace weft::ordering {
namespace {

using multilevel::Coordinate;
using multilevel::max_coordinate;
using multilevel::Point;

constexpr Offset point_grain = 1 << 14;
constexpr int max_dimensions = 3;

Offset count_of(const Coordinates& coordinates) {
  return static_cast<Offset>(coordinates.points.size()) / coordinates.dimensions;
}

/// Smallest and largest coordinates, halved: their difference is always finite.
struct Box {
  double low[max_dimensions] = {}, high[max_dimensions] = {};

  explicit Box(const Coordinates& coordinates) {
    const int dimensions = coordinates.dimensions;
    const Offset count = count_of(coordinates);
    if (count == 0) return;
    const double* const points = coordinates.points.data();
    for (int d = 0; d < dimensions; ++d) low[d] = high[d] = points[d] / 2;
    std::mutex mutex;
    parallel_ranges(count, point_grain, [&](Offset begin, Offset end) {
      double lowest[max_dimensions], highest[max_dimensions];
      for (int d = 0; d < dimensions; ++d) lowest[d] = highest[d] = points[begin * dimensions + d];
      for (Offset i = begin + 1; i < end; ++i)
        for (int d = 0; d < dimensions; ++d) {
          lowest[d] = std::min(lowest[d], points[i * dimensions + d]);
          highest[d] = std::max(highest[d], points[i * dimensions + d]);
        }
      const std::lock_guard lock(mutex);
      for (int d = 0; d < dimensions; ++d) {
        low[d] = std::min(low[d], lowest[d] / 2);
        high[d] = std::max(high[d], highest[d] / 2);
      }
    });
  }

  double longest_side(int dimensions) const {
    double longest = 0;
    for (int d = 0; d < dimensions; ++d) longest = std::max(longest, high[d] - low[d]);
    return longest;
  }
};

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::invalid_argument, sentence); }

void require_finite(const Coordinates& coordinates) {
  std::atomic<Offset> first{std::numeric_limits<Offset>::max()};
  parallel_ranges(static_cast<Offset>(coordinates.points.size()), 4 * point_grain, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i) {
      if (std::isfinite(coordinates.points[i])) continue;
      Offset found = first;
      while (i < found && !first.compare_exchange_weak(found, i)) {
      }
      return;
    }
  });
  if (first != std::numeric_limits<Offset>::max())
    refuse("coordinates must be finite, but point " + std::to_string(first / coordinates.dimensions) + " has " +
           std::to_string(coordinates.points[first]));
}

void require_points(const Coordinates& coordinates) {
  if (coordinates.dimensions < 1 || coordinates.dimensions > max_dimensions)
    refuse("points must have 1 to 3 coordinates, not " + std::to_string(coordinates.dimensions));
  if (coordinates.points.size() % static_cast<std::size_t>(coordinates.dimensions) != 0)
    refuse("there are " + std::to_string(coordinates.points.size()) + " coordinates, which do not make points of " +
           std::to_string(coordinates.dimensions));
  require_finite(coordinates);
}

[[noreturn]] void refuse_count(Offset count, Index rows, const std::string& right) {
  refuse("there are coordinates of " + std::to_string(count) + (count == 1 ? " point" : " points") +
         ", but the matrix has " + std::to_string(rows) + " rows; give " + right);
}

}  // namespace

void require_coordinates(const Coordinates& coordinates, Index rows, int block) {
  require_points(coordinates);
  const Offset count = count_of(coordinates);
  if (count == rows || count == nodes_of(rows, block)) return;
  refuse_count(count, rows,
               block == 1 ? "a point per row" : "a point per row or per " + std::to_string(block) + " rows");
}

void require_coordinates_of_nodes(const Coordinates& coordinates, Index rows) {
  require_points(coordinates);
  const Offset count = count_of(coordinates);
  if (count == rows || (count > 0 && rows % count == 0)) return;
  refuse_count(count, rows, "a point per row, or per node of equally many rows");
}

Array<Point> points_of_nodes(const Coordinates& coordinates, Index rows, int block) {
  const Box box(coordinates);
  const int dimensions = coordinates.dimensions;
  const double side = box.longest_side(dimensions);
  const Offset count = count_of(coordinates);
  const Offset rows_per_point = count == 0 ? 1 : (Offset(rows) + count - 1) / count;
  Array<Point> points(static_cast<std::size_t>(nodes_of(rows, block)));
  parallel_for(static_cast<Offset>(points.size()), point_grain, [&](Offset node) {
    Point point{};
    const double* const from = coordinates.points.data() + node * block / rows_per_point * dimensions;
    for (int d = 0; d < dimensions && side > 0; ++d)
      point[d] = static_cast<Coordinate>(
          std::min<double>(max_coordinate, (from[d] / 2 - box.low[d]) / side * (max_coordinate + 1)));
    points[node] = point;
  });
  return points;
}

Array<Index> coordinate_parts(const Pattern& pattern, int block, const Coordinates& coordinates, const PartSizes& sizes,
                              const Pulse& pulse) {
  const Array<Point> points = points_of_nodes(coordinates, pattern.rows, block);
  Array<Index> weights;
  if (sizes.even_entries) {
    weights = Array<Index>(points.size());
    parallel_for(static_cast<Offset>(points.size()), point_grain, [&](Offset node) {
      const Offset last = std::min<Offset>(pattern.rows, (node + 1) * block);
      weights[node] = multilevel::weight_of_entries(pattern.offsets[last] - pattern.offsets[node * block]);
    });
  }
  return multilevel::bisect(points, weights, sizes.parts, sizes.capacity, pulse);
}

}  // namespace weft::ordering
