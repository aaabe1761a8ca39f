// The partitioner's steps on a GPU: which kernels, in which order.
#include "core/gpu_runtime.hpp"
#include "order/partition/multilevel/bisect.cuh"
#include "order/partition/multilevel/contract.cuh"
#include "order/partition/multilevel/device.hpp"
#include "order/partition/multilevel/match.cuh"
#include "order/partition/multilevel/multilevel.hpp"
#include "order/partition/multilevel/node_graph.cuh"
#include "order/partition/multilevel/refine.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::multilevel {
namespace {

using ordering::PartSizes;
using ordering::Pulse;
namespace host = ordering::multilevel;

struct DeviceLevel {
  GraphView graph;
  Offset edges = 0;
  const Index* coarse_of = nullptr;  ///< node of the next finer level -> its node here
  const Index* hubs = nullptr;       ///< nodes with more than max_lane_edges edges
  Index hub_count = 0;

  Index nodes() const { return graph.nodes; }
};

class DeviceSteps {
 public:
  using Level = DeviceLevel;
  struct Parts {
    Index* part_of;
    Index nodes;
  };
  struct Points {
    Point* at;
    Index nodes;
  };

  DeviceSteps(Device device, const PartSizes& sizes)
      : device_(device), sizes_(sizes), kept_(device), scratch_(device) {}

  Offset total_weight() const { return total_weight_; }

  /// The graph of the nodes of a matrix.
  Level finest(const NodesOnDevice& matrix) {
    Level level = matrix.block == 1 ? borrowed(matrix) : of_blocks(matrix);
    if (!matrix.symmetric) level = both_ways(level);
    if (level.graph.edge_weights) drop_equal_weights(level);
    nodes_ = level.nodes();
    total_weight_ = level.nodes();
    if (sizes_.even_entries) {
      Index* const weights = kept_.take<Index>(level.nodes());
      Offset* const all = zeros<Offset>(1);
      launch(WEFT_KERNEL(weigh_by_entries), level.nodes(), level.graph, weights, all);
      total_weight_ = download(all);
      level.graph.weights = weights;
    }
    find_hubs(level);
    return level;
  }

  Level coarsen(const Level& fine, Offset max_weight) {
    const Index nodes = fine.nodes();
    const auto mark = scratch_.mark();
    Index* const mate = scratch_.take<Index>(nodes);
    Index* const choice = scratch_.take<Index>(nodes);
    launch(WEFT_KERNEL(fill<Index>), nodes, Offset(nodes), nobody, mate);
    for (int round = 0; round < host::matching_rounds; ++round) {
      choose(fine, {mate, max_weight, round, false}, choice);
      launch(WEFT_KERNEL(join_mates), nodes, nodes, std::as_const(choice), mate);
    }
    Index* const number = scratch_.take<Index>(Offset(nodes) + 2);
    Index coarse_nodes = number_nodes(nodes, mate, number);
    const Index alone = 2 * coarse_nodes - nodes;  // each pair is two nodes
    if (alone > nodes / 5) {
      choose(fine, {mate, max_weight, 0, true}, choice);
      join_relatives(fine, max_weight, mate, choice);
      coarse_nodes = number_nodes(nodes, mate, number);
    }
    Index* const coarse_of = kept_.take<Index>(nodes);
    Index* const first = scratch_.take<Index>(coarse_nodes);
    launch(WEFT_KERNEL(number_pairs), nodes, nodes, std::as_const(mate), std::as_const(number), coarse_of, first);
    Level coarse = merge({fine.graph, coarse_nodes, first, mate, coarse_of}, fine.edges);
    coarse.coarse_of = coarse_of;
    scratch_.release(mark);
    return coarse;
  }

  ordering::NodeGraph to_host(const Level& level) const {
    ordering::NodeGraph graph;
    graph.nodes = level.nodes();
    graph.offsets = download(level.graph.offsets, Offset(level.nodes()) + 1);
    graph.neighbours = download(level.graph.neighbours, level.edges);
    if (level.graph.edge_weights) graph.edge_weights = download(level.graph.edge_weights, level.edges);
    if (level.graph.weights) graph.node_weights = download(level.graph.weights, level.nodes());
    return graph;
  }

  Points load(const Array<host::Point>& points) {
    static_assert(sizeof(host::Point) == sizeof(Point));
    const auto nodes = static_cast<Index>(points.size());
    Point* const at = kept_.take<Point>(nodes);
    ::weft::detail::copy_to_device(device_, at, points.data(), points.size() * sizeof(Point), {});
    synchronize(device_);
    return {at, nodes};
  }

  Points carry(const Level& coarse, const Points& points, Index finer_nodes) {
    Point* const at = kept_.take<Point>(finer_nodes);
    launch(WEFT_KERNEL(gather<Point>), finer_nodes, Offset(finer_nodes), coarse.coarse_of, std::as_const(points.at),
           at);
    return {at, finer_nodes};
  }

  void smooth(const Level& level, int passes, Points& points) {
    Point* other = kept_.take<Point>(points.nodes);
    for (int pass = 0; pass < passes; ++pass) {
      launch(WEFT_KERNEL(smooth_points), level.nodes(), level.graph, std::as_const(points.at), other);
      std::swap(points.at, other);
    }
  }

  Parts bisect(const Level& level, const Points& points, Index parts) {
    return bisect(level, points, parts, level.nodes(), Pulse());
  }

  /// Parts by the places of the nodes alone.
  Array<Index> halve(const NodesOnDevice& matrix, const Array<host::Point>& points, const Pulse& pulse) {
    Level level{.graph = {.nodes = static_cast<Index>(points.size())}};
    if (sizes_.even_entries) {
      Index* const weights = kept_.take<Index>(level.nodes());
      launch(WEFT_KERNEL(weigh_rows), level.nodes(), matrix, Offset(level.nodes()), weights);
      level.graph.weights = weights;
    }
    const Parts parts = bisect(level, load(points), sizes_.parts, sizes_.capacity, pulse);
    return download(std::as_const(parts.part_of), parts.nodes);
  }

  Parts expand(const Level& coarse, const Parts& parts, Index finer_nodes) {
    Index* const finer = kept_.take<Index>(finer_nodes);
    launch(WEFT_KERNEL(gather<Index>), finer_nodes, Offset(finer_nodes), coarse.coarse_of, std::as_const(parts.part_of),
           finer);
    return {finer, finer_nodes};
  }

  void refine(const Level& level, int number, int rounds, Parts& parts);

  Array<Index> finish(const Parts& parts) const {
    Array<Index> part_of = download(std::as_const(parts.part_of), parts.nodes);
    host::scatter_surplus(sizes_.parts,
                          static_cast<Index>(host::bounds_for(total_weight_, nodes_, sizes_, 0).max.count), part_of);
    return part_of;
  }

 private:
  template <class Kernel, class... Arguments>
  void launch(const Kernel& kernel, Offset items, Arguments... arguments) const {
    simt::launch(kernel, blocks_of_threads(items), block_threads, 0, {}, arguments...);
  }
  /// With lanes_per_node lanes per item.
  template <class Kernel, class... Arguments>
  void launch_lanes(const Kernel& kernel, Offset items, Arguments... arguments) const {
    simt::launch(kernel, blocks_of_lanes(items), block_threads, 0, {}, arguments...);
  }
  template <class T>
  Array<T> download(const T* from, Offset count) const {
    Array<T> result(static_cast<std::size_t>(count));
    ::weft::detail::copy_to_host(device_, result.data(), from, result.size() * sizeof(T), {});
    return result;
  }
  template <class T>
  T download(const T* from) const {
    return download(from, 1)[0];
  }
  template <class T>
  T* zeros(Offset count) {
    T* const result = scratch_.take<T>(count);
    constexpr Offset word = sizeof(Index);
    static_assert(sizeof(T) % word == 0);
    const Offset words = count * static_cast<Offset>(sizeof(T)) / word;
    launch(WEFT_KERNEL(fill<Index>), words, words, Index(0), reinterpret_cast<Index*>(result));
    return result;
  }
  template <class T>
  void scan(T* values, Offset count) {
    const auto mark = scratch_.mark();
    simt::exclusive_scan(values, count, scratch_.take<T>(simt::scan_workspace(count)));
    scratch_.release(mark);
  }

  static Level borrowed(const NodesOnDevice& matrix) {
    return {.graph = {.nodes = matrix.rows, .offsets = matrix.offsets, .neighbours = matrix.columns},
            .edges = matrix.entries};
  }

  Level of_blocks(const NodesOnDevice& matrix) {
    Level level;
    const Index nodes = ordering::nodes_of(matrix.rows, matrix.block);
    Offset* const offsets = kept_.take<Offset>(Offset(nodes) + 1);
    launch(WEFT_KERNEL(find_node_entries), nodes, matrix, Offset(nodes), offsets, static_cast<Index*>(nullptr),
           static_cast<Index*>(nullptr));
    scan(offsets, nodes);
    level.edges = download(std::as_const(offsets) + nodes);
    Index* const columns = kept_.take<Index>(level.edges);
    Index* const entries = kept_.take<Index>(level.edges);
    launch(WEFT_KERNEL(find_node_entries), nodes, matrix, Offset(nodes), offsets, columns, entries);
    level.graph = {.nodes = nodes, .offsets = offsets, .neighbours = columns, .edge_weights = entries};
    return level;
  }

  /// The graph of A + A^T: each edge in the lists of both its ends, and those that were there twice as one.
  Level both_ways(const Level& one_way) {
    const Index nodes = one_way.nodes();
    const auto mark = scratch_.mark();
    Offset* const offsets = zeros<Offset>(Offset(nodes) + 1);
    launch_lanes(WEFT_KERNEL(count_ends), nodes, one_way.graph, offsets);
    scan(offsets, nodes);
    const Offset edges = download(std::as_const(offsets) + nodes);
    Offset* const next = scratch_.take<Offset>(nodes);
    ::weft::detail::copy_on_device(device_, next, offsets, static_cast<std::size_t>(nodes) * sizeof(Offset), {});
    Index* const neighbours = scratch_.take<Index>(edges);
    Index* const weights = scratch_.take<Index>(edges);
    launch_lanes(WEFT_KERNEL(list_both_ways), nodes, one_way.graph, next, neighbours, weights);
    Index* const mate = scratch_.take<Index>(nodes);
    Index* const self = scratch_.take<Index>(nodes);
    launch(WEFT_KERNEL(fill<Index>), nodes, Offset(nodes), nobody, mate);
    launch(WEFT_KERNEL(count_to), nodes, Offset(nodes), self);
    const GraphView all{.nodes = nodes, .offsets = offsets, .neighbours = neighbours, .edge_weights = weights};
    Level merged = merge({all, nodes, self, mate, self}, edges);
    merged.graph.weights = merged.graph.counts = nullptr;
    scratch_.release(mark);
    return merged;
  }

  void drop_equal_weights(Level& level) {
    Index* const differ = zeros<Index>(1);
    launch(WEFT_KERNEL(compare_weights), level.edges, level.edges, level.graph.edge_weights, differ);
    if (download(std::as_const(differ)) == 0) level.graph.edge_weights = nullptr;
  }

  void find_hubs(Level& level) {
    const auto mark = scratch_.mark();
    Index* const count = zeros<Index>(1);
    Index* const list = scratch_.take<Index>(level.nodes());
    launch(WEFT_KERNEL(list_hubs), level.nodes(), level.graph, list, count);
    level.hub_count = download(std::as_const(count));
    if (level.hub_count > 0) {
      Index* const hubs = kept_.take<Index>(level.hub_count);
      ::weft::detail::copy_on_device(device_, hubs, list, static_cast<std::size_t>(level.hub_count) * sizeof(Index),
                                     {});
      level.hubs = hubs;
    }
    scratch_.release(mark);
  }

  void choose(const Level& level, const Suitors& suitors, Index* choice) const {
    launch_lanes(WEFT_KERNEL(choose_mates), level.nodes(), level.graph, suitors, choice);
    if (level.hub_count > 0)
      simt::launch(WEFT_KERNEL(choose_mates_of_hubs), static_cast<unsigned>(level.hub_count), block_threads, 0, {},
                   level.graph, level.hubs, suitors, choice);
  }

  /// Numbers for coarse nodes; returns how many there are.
  Index number_nodes(Index nodes, const Index* mate, Index* number) {
    launch(WEFT_KERNEL(mark_first), nodes, nodes, mate, number);
    scan(number, nodes);
    return download(std::as_const(number) + nodes);
  }

  /// Few graphs need it, and those that do are small soon: on the host.
  void join_relatives(const Level& level, Offset max_weight, Index* mate, const Index* choice) {
    Array<Index> mates = download(std::as_const(mate), level.nodes());
    Array<Index> weights;
    if (level.graph.weights) weights = download(level.graph.weights, level.nodes());
    host::join_relatives(download(choice, level.nodes()), weights, max_weight, mates);
    ::weft::detail::copy_to_device(device_, mate, mates.data(), mates.size() * sizeof(Index), {});
    synchronize(device_);
  }

  Level merge(const Pairs& pairs, Offset fine_edges) {
    Level coarse;
    Offset* const room = scratch_.take<Offset>(Offset(pairs.nodes) + 1);
    Index* const large = scratch_.take<Index>(pairs.nodes);
    Offset* const table_begin = scratch_.take<Offset>(pairs.nodes);
    PairCounts* const found = zeros<PairCounts>(1);
    Index* const weights = kept_.take<Index>(pairs.nodes);
    Index* const counts = kept_.take<Index>(pairs.nodes);
    launch(WEFT_KERNEL(measure_pairs), pairs.nodes, pairs, room, weights, counts, large, table_begin, found);
    scan(room, pairs.nodes);
    const PairCounts large_ones = download(std::as_const(found));
    Index* const neighbours = scratch_.take<Index>(fine_edges);
    Index* const edge_weights = scratch_.take<Index>(fine_edges);
    Offset* const offsets = kept_.take<Offset>(Offset(pairs.nodes) + 1);
    simt::launch(WEFT_KERNEL(merge_edges), simt::blocks_for(pairs.nodes, warps_per_block), block_threads, 0, {}, pairs,
                 std::as_const(room), neighbours, edge_weights, offsets);
    if (large_ones.large > 0) {
      Index* const keys = scratch_.take<Index>(large_ones.large_places);
      launch(WEFT_KERNEL(fill<Index>), large_ones.large_places, large_ones.large_places, nobody, keys);
      Index* const sums = zeros<Index>(large_ones.large_places);
      simt::launch(WEFT_KERNEL(merge_edges_of_large), static_cast<unsigned>(large_ones.large), block_threads, 0, {},
                   pairs, std::as_const(room), std::as_const(large), std::as_const(table_begin), keys, sums, neighbours,
                   edge_weights, offsets);
    }
    scan(offsets, pairs.nodes);
    coarse.edges = download(std::as_const(offsets) + pairs.nodes);
    Index* const kept_neighbours = kept_.take<Index>(coarse.edges);
    Index* const kept_weights = kept_.take<Index>(coarse.edges);
    launch_lanes(WEFT_KERNEL(close_gaps), pairs.nodes, pairs.nodes, std::as_const(room), std::as_const(offsets),
                 std::as_const(neighbours), std::as_const(edge_weights), kept_neighbours, kept_weights);
    coarse.graph = {pairs.nodes, offsets, kept_neighbours, kept_weights, weights, counts};
    find_hubs(coarse);
    return coarse;
  }

  struct Halves;
  struct Range;
  Array<Piece> pieces_of(const std::vector<Range>& ranges, const Halving& halving);
  Array<Offset> divide(const Array<Piece>& pieces, const Halving& halving, const Halves& halves);
  static bool limit_halves(const std::vector<Range>& ranges, Index capacity, const Array<Offset>& middle,
                           Array<Piece>& pieces);
  Parts bisect(const Level& level, const Points& points, Index parts, Index capacity, const Pulse& pulse);

  Device device_;
  PartSizes sizes_;
  Arena kept_, scratch_;
  Index nodes_ = 0;
  Offset total_weight_ = 0;
};

/// Where the nodes are while they are halved, and workspace.
struct DeviceSteps::Halves {
  Index nodes;
  Index *list, *piece_of, *next_list, *next_piece_of;
  std::uint32_t* keys;
  Offset* tied;
  Index* left;  ///< after `divide`, how many before each place go left

  Halves(Arena& arena, Index count)
      : nodes(count),
        list(arena.take<Index>(count)),
        piece_of(arena.take<Index>(count)),
        next_list(arena.take<Index>(count)),
        next_piece_of(arena.take<Index>(count)),
        keys(arena.take<std::uint32_t>(count)),
        tied(arena.take<Offset>(Offset(count) + 1)),
        left(arena.take<Index>(Offset(count) + 1)) {}
};

/// Nodes that will be the parts first_part .. first_part + parts - 1.
struct DeviceSteps::Range {
  Index first_part, parts;
  Offset begin, end;
};

/// Along which axis each piece is divided, and how much of it is to go left.
Array<Piece> DeviceSteps::pieces_of(const std::vector<Range>& ranges, const Halving& halving) {
  const auto count = static_cast<Offset>(ranges.size());
  Offset* const moments = zeros<Offset>(count * moment_count);
  launch(WEFT_KERNEL(add_moments), halving.nodes, halving, moments);
  const Array<Offset> found = download(std::as_const(moments), count * moment_count);
  Array<Piece> pieces(ranges.size());
  Index next = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    Piece& piece = pieces[i] = {};
    piece.begin = range.begin;
    piece.end = range.end;
    piece.left = next;
    next += range.parts > 1 ? 2 : 1;
    piece.target = -1;
    if (range.parts == 1) continue;
    const Offset* const own = found.data() + i * moment_count;
    host::Moments sums;
    sums.count = own[0];
    std::copy_n(own + 2, dimensions, sums.sum.begin());
    std::copy_n(own + 2 + dimensions, product_count, sums.products.begin());
    piece.target = host::weight_of_left(own[1], range.parts);
    std::ranges::copy(host::principal_axis(sums), piece.axis);
  }
  return pieces;
}

/// Finds out which nodes go left; returns where the right ones will begin in each piece.
Array<Offset> DeviceSteps::divide(const Array<Piece>& pieces, const Halving& halving, const Halves& halves) {
  const auto count = static_cast<Offset>(pieces.size());
  const auto mark = scratch_.mark();
  ::weft::detail::copy_to_device(device_, halving.pieces, pieces.data(), pieces.size() * sizeof(Piece), {});
  for (int shift = 24; shift >= 0; shift -= 8) {
    const auto in_pass = scratch_.mark();
    Offset* const sums = zeros<Offset>(count * digits);
    if (shift == 24) launch(WEFT_KERNEL(find_keys), halving.nodes, halving);
    launch(WEFT_KERNEL(count_digits), halving.nodes, halving, shift, sums);
    launch(WEFT_KERNEL(choose_digits), count * 32, halving.pieces, count, shift, std::as_const(sums));
    scratch_.release(in_pass);
  }
  launch(WEFT_KERNEL(find_ties), halving.nodes, halving, halves.tied);
  scan(halves.tied, halving.nodes);
  launch(WEFT_KERNEL(find_sides), halving.nodes, halving, static_cast<const Offset*>(halves.tied), halves.left);
  scan(halves.left, halving.nodes);
  Offset* const middles = scratch_.take<Offset>(count);
  launch(WEFT_KERNEL(count_left), count, static_cast<const Piece*>(halving.pieces), count,
         static_cast<const Index*>(halves.left), middles);
  Array<Offset> middle = download(std::as_const(middles), count);
  scratch_.release(mark);
  return middle;
}

/// Pieces of which a half would have more nodes than its parts can hold are divided by count; says whether there are
/// any.
bool DeviceSteps::limit_halves(const std::vector<Range>& ranges, Index capacity, const Array<Offset>& middle,
                               Array<Piece>& pieces) {
  bool any = false;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    if (range.parts == 1) continue;
    const auto counts = host::LeftCounts::of(range.end - range.begin, range.parts, capacity);
    const Offset left = middle[i] - range.begin, allowed = std::clamp(left, counts.min, counts.max);
    if (left == allowed) continue;
    pieces[i].by_count = any = true;
    pieces[i].target = allowed;
  }
  return any;
}

DeviceSteps::Parts DeviceSteps::bisect(const Level& level, const Points& points, Index parts, Index capacity,
                                       const Pulse& pulse) {
  const Index nodes = level.nodes();
  Index* const part_of = kept_.take<Index>(nodes);
  const auto mark = scratch_.mark();
  Halves halves(scratch_, nodes);
  launch(WEFT_KERNEL(start_list), nodes, Offset(nodes), halves.list, halves.piece_of);
  std::vector<Range> ranges{{0, parts, 0, nodes}};
  const int rounds = host::halvings(parts);
  for (int round = 0; round < rounds; ++round) {
    pulse(static_cast<double>(round) / rounds);
    const auto in_round = scratch_.mark();
    Halving halving{nodes, points.at, level.graph.weights, halves.list, halves.piece_of, nullptr, halves.keys};
    Array<Piece> pieces = pieces_of(ranges, halving);
    halving.pieces = scratch_.take<Piece>(static_cast<Offset>(pieces.size()));
    Array<Offset> middle = divide(pieces, halving, halves);
    if (limit_halves(ranges, capacity, middle, pieces)) middle = divide(pieces, halving, halves);
    launch(WEFT_KERNEL(divide_pieces), nodes, halving, static_cast<const Index*>(halves.left), halves.next_list,
           halves.next_piece_of);
    std::swap(halves.list, halves.next_list);
    std::swap(halves.piece_of, halves.next_piece_of);
    std::vector<Range> next;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Range& range = ranges[i];
      const Index on_left = range.parts / 2;
      if (on_left > 0) next.push_back({range.first_part, on_left, range.begin, middle[i]});
      next.push_back(
          {range.first_part + on_left, range.parts - on_left, on_left > 0 ? middle[i] : range.begin, range.end});
    }
    ranges = std::move(next);
    scratch_.release(in_round);
  }
  Array<Index> part_of_piece(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) part_of_piece[i] = ranges[i].first_part;
  Index* const names = scratch_.take<Index>(static_cast<Offset>(ranges.size()));
  ::weft::detail::copy_to_device(device_, names, part_of_piece.data(), ranges.size() * sizeof(Index), {});
  launch(WEFT_KERNEL(list_to_parts), nodes, Offset(nodes), static_cast<const Index*>(halves.list),
         static_cast<const Index*>(halves.piece_of), std::as_const(names), part_of);
  synchronize(device_);
  scratch_.release(mark);
  return {part_of, nodes};
}

void DeviceSteps::refine(const Level& level, int number, int rounds, Parts& parts) {
  const Index nodes = level.nodes(), count = sizes_.parts;
  const auto mark = scratch_.mark();
  Index* const best = kept_.take<Index>(nodes);
  Refinement refinement;
  refinement.graph = level.graph;
  refinement.bounds = host::bounds_for(total_weight_, nodes_, sizes_, number);
  refinement.finest = number == 0;
  refinement.parts = count;
  refinement.part_of = parts.part_of;
  refinement.best = best;
  refinement.target = scratch_.take<Index>(nodes);
  refinement.state = scratch_.take<Index>(nodes);
  refinement.gain = scratch_.take<Offset>(nodes);
  refinement.own = scratch_.take<Offset>(nodes);
  refinement.outside = scratch_.take<Offset>(nodes);
  refinement.special = scratch_.take<Index>(nodes);
  refinement.loads = zeros<Load>(count);
  refinement.was_full = zeros<Index>(count);
  refinement.admitted = scratch_.take<Index>(count);
  const unsigned blocks_for_special = std::min(special_blocks, 1 + static_cast<unsigned>(nodes) / 16);
  refinement.special_sums = zeros<Offset>(Offset(blocks_for_special) * count);
  const Control fresh;
  refinement.control = scratch_.take<Control>(1);
  ::weft::detail::copy_to_device(device_, refinement.control, &fresh, sizeof fresh, {});
  launch(WEFT_KERNEL(start_refinement), nodes, refinement);
  const unsigned summing_blocks = std::min(blocks_of_threads(nodes), 512u);
  for (int round = 0; round <= rounds; ++round) {
    const auto in_round = scratch_.mark();
    launch_lanes(WEFT_KERNEL(evaluate), nodes, refinement);
    simt::launch(WEFT_KERNEL(evaluate_special), blocks_for_special, block_threads, 0, {}, refinement);
    simt::launch(WEFT_KERNEL(sum_cut), summing_blocks, block_threads, 0, {}, refinement);
    launch(WEFT_KERNEL(sum_excess), count, refinement);
    simt::launch(WEFT_KERNEL(decide), 1, 1, 0, {}, refinement.control, round, rounds);
    launch(WEFT_KERNEL(find_candidates), nodes, refinement);
    if (round == rounds) break;
    refinement.arriving = zeros<Load>(2 * Offset(count) * buckets);
    refinement.departing = refinement.arriving + Offset(count) * buckets;
    launch_lanes(WEFT_KERNEL(find_moves), nodes, refinement, round);
    if (level.hub_count > 0)
      simt::launch(WEFT_KERNEL(find_moves_of_hubs), static_cast<unsigned>(level.hub_count), block_threads, 0, {},
                   refinement, level.hubs, round);
    launch(WEFT_KERNEL(admit), Offset(count) * 32, refinement, true);
    launch(WEFT_KERNEL(ask_to_leave), nodes, refinement, round);
    launch(WEFT_KERNEL(admit), Offset(count) * 32, refinement, false);
    launch(WEFT_KERNEL(make_moves), nodes, refinement, round);
    scratch_.release(in_round);
  }
  synchronize(device_);
  scratch_.release(mark);
  parts.part_of = best;
}

}  // namespace

Array<Index> find_parts(const NodesOnDevice& matrix, const PartSizes& sizes, const Pulse& pulse) {
  const gpu::CurrentDevice current(matrix.device);
  DeviceSteps steps(matrix.device, sizes);
  return host::find_parts(steps, steps.finest(matrix), sizes, pulse);
}

Array<Index> halve_points(const NodesOnDevice& matrix, const Array<host::Point>& points, const PartSizes& sizes,
                          const Pulse& pulse) {
  const gpu::CurrentDevice current(matrix.device);
  return DeviceSteps(matrix.device, sizes).halve(matrix, points, pulse);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::multilevel
