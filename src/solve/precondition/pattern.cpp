#include "solve/precondition/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/progress_meter.hpp"
#include "facts/tally_pool.hpp"

namespace weft::precondition {
namespace {

constexpr Index nodes_per_range = 256;

/// The nodes of a matrix, an entry where their block has one, and how strong a step from one to the other is.
struct NodeGraph {
  Array<Offset> offsets;
  Array<Index> columns;
  Array<float> strengths;
  Index nodes() const { return static_cast<Index>(offsets.size() - 1); }
};

/// Calls body(column, sum of squares) for each block of a node row, in the order of its columns.
template <Value V, class F>
void for_blocks(const Csr<V>& matrix, int block, Index node, std::vector<Offset>& next, F&& body) {
  const Index first = node * block;
  for (int r = 0; r < block; ++r) next[r] = matrix.offsets[first + r];
  for (;;) {
    Index column = matrix.cols;
    for (int r = 0; r < block; ++r)
      if (next[r] < matrix.offsets[first + r + 1]) column = std::min(column, matrix.columns[next[r]]);
    if (column == matrix.cols) return;
    column /= block;
    double squares = 0;
    for (int r = 0; r < block; ++r)
      for (; next[r] < matrix.offsets[first + r + 1] && matrix.columns[next[r]] / block == column; ++next[r])
        squares += static_cast<double>(matrix.values[next[r]]) * static_cast<double>(matrix.values[next[r]]);
    body(column, squares);
  }
}

/// What is not a number is kept, so that the systems show it.
float strength_of(double norm, double scale) {
  const double strength = norm / scale;
  return strength < 1 ? static_cast<float>(strength) : 1.0f;
}

template <Value V>
NodeGraph node_graph(const Csr<V>& matrix, const PatternRules& rules) {
  const Index nodes = matrix.rows / rules.block;
  NodeGraph graph{Array<Offset>(static_cast<std::size_t>(nodes) + 1), {}, {}};
  const auto each_node = [&](auto&& body) {
    parallel_ranges(nodes, nodes_per_range, [&](Offset begin, Offset end) {
      std::vector<Offset> next(static_cast<std::size_t>(rules.block));
      for (Offset node = begin; node < end; ++node) body(static_cast<Index>(node), next);
    });
  };
  each_node([&](Index node, std::vector<Offset>& next) {
    Offset blocks = 0;
    for_blocks(matrix, rules.block, node, next, [&](Index, double) { ++blocks; });
    graph.offsets[node] = blocks;
  });
  prefix_sum(graph.offsets.data(), nodes);
  graph.columns = Array<Index>(static_cast<std::size_t>(graph.offsets.back()));
  graph.strengths = Array<float>(graph.columns.size());
  Array<double> norms(graph.columns.size()), scales(static_cast<std::size_t>(nodes));
  each_node([&](Index node, std::vector<Offset>& next) {
    Offset at = graph.offsets[node];
    double scale = 0;
    for_blocks(matrix, rules.block, node, next, [&](Index column, double squares) {
      graph.columns[at] = column;
      norms[at] = std::sqrt(squares);
      if (rules.lower ? column == node : !(norms[at] <= scale)) scale = norms[at];
      ++at;
    });
    scales[node] = scale;
  });
  each_node([&](Index node, std::vector<Offset>&) {
    for (Offset at = graph.offsets[node]; at < graph.offsets[node + 1]; ++at)
      graph.strengths[at] =
          strength_of(norms[at], rules.lower ? std::sqrt(scales[node] * scales[graph.columns[at]]) : scales[node]);
  });
  return graph;
}

Index max_nodes(const PatternRules& rules) { return std::max(1, rules.max_unknowns / rules.block); }

bool is_long(const NodeGraph& graph, const PatternRules& rules, Index node) {
  constexpr Offset much = 16;
  return graph.offsets[node + 1] - graph.offsets[node] > much * max_nodes(rules);
}

/// Finds the nodes that a node's row of the inverse has. One for each thread.
class Search {
 public:
  /// In `found`, ascending.
  void find(const NodeGraph& graph, const PatternRules& rules, Index node, std::vector<Index>& found) {
    walk(graph, rules, node);
    found.clear();
    const auto drop = static_cast<float>(rules.drop);
    for (const Index other : touched_)
      if (other != node && (!rules.lower || other < node) && strength_[other] >= drop &&
          !(rules.short_rows_only && is_long(graph, rules, other)))
        found.push_back(other);
    const auto room = static_cast<std::size_t>(max_nodes(rules)) - 1;
    if (found.size() > room) {
      const auto stronger = [&](Index a, Index b) {
        if (strength_[a] != strength_[b]) return strength_[a] > strength_[b];
        const Index a_far = std::abs(a - node), b_far = std::abs(b - node);
        return a_far != b_far ? a_far < b_far : a < b;
      };
      std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(room), found.end(), stronger);
      found.resize(room);
    }
    found.push_back(node);
    std::sort(found.begin(), found.end());
    for (const Index other : touched_) strength_[other] = 0;
  }

 private:
  /// strength_[k] becomes that of the strongest path of at most `power` steps to each of touched_.
  void walk(const NodeGraph& graph, const PatternRules& rules, Index node) {
    if (strength_.empty()) strength_.assign(static_cast<std::size_t>(graph.nodes()), 0.0f);
    is_touched_.resize(strength_.size());
    touched_.assign(1, node);
    is_touched_[node] = 1;
    strength_[node] = 1;
    for (int step = 0; step < rules.power; ++step) {
      // The strengths as they were before this step: no path may become two steps longer in it.
      from_.clear();
      for (const Index other : touched_) from_.push_back({other, strength_[other]});
      for (const auto& [other, strength] : from_) {
        if (other != node && is_long(graph, rules, other)) continue;
        if (strength < static_cast<float>(rules.drop)) continue;  // nor will what comes after it be stronger
        for (Offset at = graph.offsets[other]; at < graph.offsets[other + 1]; ++at) {
          const Index reached = graph.columns[at];
          if (!is_touched_[reached]) {
            is_touched_[reached] = 1;
            touched_.push_back(reached);
          }
          strength_[reached] = std::max(strength_[reached], strength * graph.strengths[at]);
        }
      }
    }
    for (const Index other : touched_) is_touched_[other] = 0;
  }

  struct Reached {
    Index node;
    float strength;
  };
  std::vector<float> strength_;
  std::vector<unsigned char> is_touched_;
  std::vector<Index> touched_;
  std::vector<Reached> from_;
};

/// Rows of a node have the same columns: those of the nodes in their list.
Pattern expand(const std::vector<std::vector<Index>>& lists, const Array<Offset>& list_ends, Index nodes, int block) {
  const Offset wide = block;
  Pattern pattern{Array<Index>(static_cast<std::size_t>(nodes) + 1),
                  Array<Offset>(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(block) + 1),
                  {}};
  parallel_for(nodes, nodes_per_range, [&](Offset node) {
    pattern.starts[node] = static_cast<Index>(node * wide);
    for (Offset r = 0; r < wide; ++r) pattern.offsets[node * wide + r] = wide * list_ends[node];
  });
  pattern.starts[nodes] = nodes * block;
  prefix_sum(pattern.offsets.data(), wide * nodes);
  pattern.columns = Array<Index>(static_cast<std::size_t>(pattern.offsets.back()));
  parallel_ranges(nodes, nodes_per_range, [&](Offset begin, Offset end) {
    const Index* list = lists[begin / nodes_per_range].data();
    for (Offset node = begin; node < end; ++node) {
      const Offset length = list_ends[node];
      for (Offset r = 0; r < wide; ++r) {
        Index* to = pattern.columns.data() + pattern.offsets[node * wide + r];
        for (Offset k = 0; k < length; ++k)
          for (int c = 0; c < block; ++c) *to++ = list[k] * block + c;
      }
      list += length;
    }
  });
  return pattern;
}

}  // namespace

template <Value V>
Pattern find_pattern(const Csr<V>& matrix, const PatternRules& rules, const Progress& progress) {
  const NodeGraph graph = node_graph(matrix, rules);
  const Index nodes = graph.nodes();
  io::ProgressMeter meter(progress, nodes, 0, 0.2);
  std::vector<std::vector<Index>> lists(static_cast<std::size_t>((nodes + nodes_per_range - 1) / nodes_per_range));
  Array<Offset> lengths(static_cast<std::size_t>(nodes));
  TallyPool<Search> searches;
  parallel_ranges(nodes, nodes_per_range, [&](Offset begin, Offset end) {
    searches.use([&](Search& search) {
      std::vector<Index>& list = lists[begin / nodes_per_range];
      std::vector<Index> found;
      for (Offset node = begin; node < end; ++node) {
        search.find(graph, rules, static_cast<Index>(node), found);
        list.insert(list.end(), found.begin(), found.end());
        lengths[node] = static_cast<Offset>(found.size());
      }
    });
    meter.add(end - begin);
  });
  return expand(lists, lengths, nodes, rules.block);
}

Pattern diagonal_blocks(const std::vector<Index>& sizes) {
  const auto groups = static_cast<Index>(sizes.size());
  Pattern pattern{Array<Index>(sizes.size() + 1), {}, {}};
  std::copy(sizes.begin(), sizes.end(), pattern.starts.begin());
  prefix_sum(pattern.starts.data(), groups);
  pattern.offsets = Array<Offset>(static_cast<std::size_t>(pattern.starts.back()) + 1);
  parallel_for(groups, nodes_per_range, [&](Offset group) {
    for (Index row = pattern.starts[group]; row < pattern.starts[group + 1]; ++row)
      pattern.offsets[row] = sizes[static_cast<std::size_t>(group)];
  });
  prefix_sum(pattern.offsets.data(), pattern.rows());
  pattern.columns = Array<Index>(static_cast<std::size_t>(pattern.offsets.back()));
  parallel_for(groups, nodes_per_range, [&](Offset group) {
    const Index first = pattern.starts[group], size = pattern.starts[group + 1] - first;
    for (Index r = 0; r < size; ++r)
      std::iota(pattern.columns.data() + pattern.offsets[first + r],
                pattern.columns.data() + pattern.offsets[first + r] + size, first);
  });
  return pattern;
}

#define WEFT_INSTANTIATE(V) template Pattern find_pattern<V>(const Csr<V>&, const PatternRules&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::precondition
