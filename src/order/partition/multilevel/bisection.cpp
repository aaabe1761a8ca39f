#include "order/partition/multilevel/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"

namespace weft::ordering::multilevel {
namespace {

constexpr Index unreached = -1;

/// Edges from `start` to each node; of the nodes furthest away, the first is returned.
Index search(const NodeGraph& graph, Index start, Array<Index>& distance) {
  std::ranges::fill(distance, unreached);
  std::vector<Index> line{start};
  distance[start] = 0;
  for (std::size_t next = 0; next < line.size(); ++next)
    graph.each_neighbour(line[next], [&](Index neighbour, Index) {
      if (distance[neighbour] != unreached) return;
      distance[neighbour] = distance[line[next]] + 1;
      line.push_back(neighbour);
    });
  Index furthest = start;
  for (const Index node : line)
    if (distance[node] > distance[furthest] || (distance[node] == distance[furthest] && node < furthest))
      furthest = node;
  return furthest;
}

/// One piece: nodes that will be the parts first_part .. first_part + parts - 1.
struct Piece {
  Index first_part = 0, parts = 1;
  Offset begin = 0, end = 0;  // in the list of nodes
};

class Bisection {
 public:
  Bisection(const Array<Point>& points, const Array<Index>& weights, Index capacity)
      : points_(points),
        weights_(weights),
        capacity_(capacity),
        nodes_(points.size()),
        keys_(points.size()),
        right_(points.size()) {
    parallel_for(static_cast<Offset>(nodes_.size()), 1 << 14, [&](Offset i) { nodes_[i] = static_cast<Index>(i); });
  }

  Array<Index> run(Index parts, const Pulse& pulse) {
    std::vector<Piece> pieces{{0, parts, 0, static_cast<Offset>(nodes_.size())}};
    const int rounds = halvings(parts);
    for (int round = 0; round < rounds; ++round) {
      pulse(static_cast<double>(round) / rounds);
      std::vector<Piece> halves(2 * pieces.size());
      parallel_for(static_cast<Offset>(pieces.size()), 1, [&](Offset i) {
        const Piece& piece = pieces[i];
        const Index left = piece.parts / 2;
        const Offset middle = left == 0 ? piece.begin : split(piece);
        halves[2 * i] = {piece.first_part, left, piece.begin, middle};
        halves[2 * i + 1] = {piece.first_part + left, piece.parts - left, middle, piece.end};
      });
      std::erase_if(halves, [](const Piece& piece) { return piece.parts == 0; });
      pieces = std::move(halves);
    }
    Array<Index> part_of(nodes_.size());
    parallel_for(static_cast<Offset>(pieces.size()), 1, [&](Offset i) {
      for (Offset at = pieces[i].begin; at < pieces[i].end; ++at) part_of[nodes_[at]] = pieces[i].first_part;
    });
    return part_of;
  }

 private:
  Offset weight(Index node) const { return weights_.empty() ? 1 : weights_[node]; }

  /// Puts the nodes that will be the first half of a piece's parts before the others; returns where those begin.
  Offset split(const Piece& piece) {
    if (piece.begin == piece.end) return piece.end;
    Offset total = 0;
    find_keys(piece, total);
    Cut cut = find_cut(piece, weight_of_left(total, piece.parts), [&](Index node) { return weight(node); });
    const LeftCounts counts = LeftCounts::of(piece.end - piece.begin, piece.parts, capacity_);
    const Offset count = std::clamp(cut.count, counts.min, counts.max);
    if (count != cut.count) cut = find_cut(piece, count, [](Index) { return Offset(1); });
    return divide(piece, cut);
  }

  void find_keys(const Piece& piece, Offset& total) {
    Moments moments;
    for (Offset at = piece.begin; at < piece.end; ++at) {
      const Point& point = points_[nodes_[at]];
      total += weight(nodes_[at]);
      ++moments.count;
      int product = 0;
      for (int i = 0; i < dimensions; ++i) {
        moments.sum[i] += point[i];
        for (int j = 0; j <= i; ++j) moments.products[product++] += Offset(point[i]) * point[j];
      }
    }
    const std::array<Index, dimensions> axis = principal_axis(moments);
    for (Offset at = piece.begin; at < piece.end; ++at) keys_[at] = along(axis, points_[nodes_[at]]);
  }

  /// Where a piece is divided: nodes with smaller keys go left, and of those with this key the ones before
  /// `first_right`.
  struct Cut {
    Offset key;
    Index first_right;
    Offset count;  // of nodes that go left

    bool is_left(Offset node_key, Index node) const {
      return node_key < key || (node_key == key && node < first_right);
    }
  };

  /// The cut that leaves `target` on the left, if nodes weigh as `weigh` says.
  template <class F>
  Cut find_cut(const Piece& piece, Offset target, F&& weigh) const {
    const auto [least, greatest] = std::minmax_element(keys_.data() + piece.begin, keys_.data() + piece.end);
    Bin bin{*least, *greatest, 0};
    while (narrow(piece, target, weigh, bin)) {
    }
    Cut cut{bin.least, std::numeric_limits<Index>::max(), 0};
    Offset sum = bin.before;
    for (Offset at = piece.begin; at < piece.end; ++at) {
      const Index node = nodes_[at];
      if (keys_[at] == cut.key && node < cut.first_right) {
        if (sum + weigh(node) / 2 < target)
          sum += weigh(node);
        else
          cut.first_right = node;
      }
      cut.count += cut.is_left(keys_[at], node);
    }
    return cut;
  }

  /// Keys among which the middle is, and the weight of nodes with smaller ones.
  struct Bin {
    Offset least, greatest, before;
  };

  /// Looks at 256 equal parts of a bin; says whether there is more to find.
  template <class F>
  bool narrow(const Piece& piece, Offset target, F&& weigh, Bin& bin) const {
    constexpr Offset bins = 256;
    if (bin.least == bin.greatest) return false;
    const Offset width = (bin.greatest - bin.least) / bins + 1;
    std::array<Offset, bins> sums{};
    for (Offset at = piece.begin; at < piece.end; ++at)
      if (keys_[at] >= bin.least && keys_[at] <= bin.greatest)
        sums[(keys_[at] - bin.least) / width] += weigh(nodes_[at]);
    Offset chosen = 0;
    while (chosen < bins - 1 && bin.before + sums[chosen] < target) bin.before += sums[chosen++];
    bin.least += chosen * width;
    bin.greatest = std::min(bin.greatest, bin.least + width - 1);
    return true;
  }

  /// Both halves keep their order.
  Offset divide(const Piece& piece, const Cut& cut) {
    Offset to = piece.begin, right = 0;
    for (Offset at = piece.begin; at < piece.end; ++at)
      if (cut.is_left(keys_[at], nodes_[at]))
        nodes_[to++] = nodes_[at];
      else
        right_[piece.begin + right++] = nodes_[at];
    std::copy_n(right_.data() + piece.begin, right, nodes_.data() + to);
    return to;
  }

  const Array<Point>& points_;
  const Array<Index>& weights_;
  Index capacity_;
  Array<Index> nodes_;  // those of a piece are together, ascending
  Array<Offset> keys_;  // like nodes_
  Array<Index> right_;  // workspace
};

}  // namespace

Array<Point> distances(const NodeGraph& graph) {
  const auto nodes = static_cast<std::size_t>(graph.nodes);
  Array<Point> points(nodes);
  if (graph.nodes == 0) return points;
  std::array<Array<Index>, dimensions> distances;
  Array<Index> nearest(nodes, std::numeric_limits<Index>::max());  // to a start so far
  for (Array<Index>& distance : distances) distance = Array<Index>(nodes);
  Index start = search(graph, 0, distances[0]);
  Index longest = 0;
  for (Array<Index>& distance : distances) {
    longest = std::max(longest, distance[search(graph, start, distance)]);
    for (std::size_t node = 0; node < nodes; ++node)
      if (distance[node] != unreached) nearest[node] = std::min(nearest[node], distance[node]);
    start = static_cast<Index>(std::ranges::max_element(nearest) - nearest.begin());
  }
  // What cannot be reached from a start is twice as far as anything else.
  const Offset scale = 2 * Offset(longest) + 2;
  for (std::size_t node = 0; node < nodes; ++node)
    for (int d = 0; d < dimensions; ++d) {
      const Index distance = distances[d][node];
      points[node][d] = static_cast<Coordinate>((distance == unreached ? scale : distance) * max_coordinate / scale);
    }
  return points;
}

std::array<Index, dimensions> principal_axis(const Moments& moments) {
  double spread[dimensions][dimensions];
  const auto count = static_cast<double>(std::max<Offset>(1, moments.count));
  for (int i = 0, product = 0; i < dimensions; ++i)
    for (int j = 0; j <= i; ++j, ++product)
      spread[i][j] = spread[j][i] = static_cast<double>(moments.products[product]) -
                                    static_cast<double>(moments.sum[i]) * static_cast<double>(moments.sum[j]) / count;
  // Where no direction stands out, as in a cube, the axis stays about where it starts: along a coordinate, which cuts
  // grids least. It is slightly tilted so that it is not at right angles to the one sought.
  int widest = 0;
  for (int i = 1; i < dimensions; ++i)
    if (spread[i][i] > spread[widest][widest]) widest = i;
  double axis[dimensions];
  for (int i = 0; i < dimensions; ++i) axis[i] = i == widest ? 1 : (1 + 0.1 * i) / 256;
  constexpr int steps = 40;
  for (int step = 0; step < steps; ++step) {
    double next[dimensions] = {}, length = 0;
    for (int i = 0; i < dimensions; ++i) {
      for (int j = 0; j < dimensions; ++j) next[i] += spread[i][j] * axis[j];
      length += next[i] * next[i];
    }
    length = std::sqrt(length);
    if (length < 1e-30) break;  // all in one place
    for (int i = 0; i < dimensions; ++i) axis[i] = next[i] / length;
  }
  std::array<Index, dimensions> rounded{};
  for (int i = 0; i < dimensions; ++i) rounded[i] = static_cast<Index>(std::lround(axis[i] * (1 << 14)));
  return rounded;
}

Array<Index> bisect(const Array<Point>& points, const Array<Index>& weights, Index parts, Index capacity,
                    const Pulse& pulse) {
  return Bisection(points, weights, capacity).run(parts, pulse);
}

}  // namespace weft::ordering::multilevel
