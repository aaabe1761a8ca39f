#include "generate/topology.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "sparse/group_by_key.hpp"

namespace weft::generation {

namespace {

constexpr std::int64_t grain = 4096;

/// For each of `items` the lowest item with the same key. key(item) is an ascending list of point numbers: items are
/// put into a bucket by the first, and sorted there.
template <class Key>
Array<std::int64_t> first_with_same_key(std::int64_t items, std::int64_t points, const Key& key) {
  Array<Offset> starts(static_cast<std::size_t>(points) + 1);
  Array<std::int64_t> bucketed(static_cast<std::size_t>(items));
  const auto by_first_point = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset item = begin; item < end; ++item) sink(key(item)[0], item);
  };
  group_by_key(by_first_point, items, points, Fields(bucketed.data()), starts.data());
  Array<std::int64_t> first(static_cast<std::size_t>(items));
  parallel_ranges(points, 256, [&](std::int64_t from, std::int64_t to) {
    std::vector<std::pair<decltype(key(0)), std::int64_t>> bucket;
    for (std::int64_t point = from; point < to; ++point) {
      bucket.clear();
      for (Offset i = starts[point]; i < starts[point + 1]; ++i) bucket.emplace_back(key(bucketed[i]), bucketed[i]);
      std::sort(bucket.begin(), bucket.end());
      for (auto item = bucket.begin(), lowest = item; item != bucket.end(); ++item) {
        if (item->first != lowest->first) lowest = item;
        first[item->second] = lowest->second;
      }
    }
  });
  return first;
}

std::array<Index, 2> edge_key(const Mesh& mesh, std::int64_t edge) {
  const Tetrahedron& corners = mesh.tetrahedra[edge / 6];
  const auto [a, b] = tetrahedron_edges[edge % 6];
  return {std::min(corners[a], corners[b]), std::max(corners[a], corners[b])};
}

/// The corners of face `face` % 4 of element `face` / 4, ascending.
std::array<Index, 3> face_key(const Mesh& mesh, std::int64_t face) {
  const Tetrahedron& corners = mesh.tetrahedra[face / 4];
  std::array<Index, 3> key{};
  int length = 0;
  for (int corner = 0; corner < 4; ++corner)
    if (corner != face % 4) key[length++] = corners[corner];
  std::sort(key.begin(), key.end());
  return key;
}

/// Sets of elements that are merged one by one; a set is known by its lowest element.
class ElementSets {
 public:
  explicit ElementSets(std::size_t elements) : parent_(elements) {
    for (std::size_t element = 0; element < elements; ++element) parent_[element] = static_cast<Index>(element);
  }
  Index find(Index element) {
    while (parent_[element] != element) element = parent_[element] = parent_[parent_[element]];
    return element;
  }
  void merge(Index a, Index b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<Index> parent_;
};

/// What spring_faces learns about one part of the mesh.
struct Part {
  Point least = {INFINITY, INFINITY, INFINITY};
  Point most = {-INFINITY, -INFINITY, -INFINITY};
  bool has_surface = false;
  bool has_springs = false;
  std::int64_t lowest_face = -1;
  double lowest_height = INFINITY;

  int axis() const {
    int longest = 0;
    for (int candidate = 1; candidate < 3; ++candidate)
      if (most[candidate] - least[candidate] > most[longest] - least[longest]) longest = candidate;
    return longest;
  }
  double extent() const { return most[axis()] - least[axis()]; }
};

}  // namespace

Nodes corner_nodes(const Mesh& mesh) {
  Nodes nodes;
  nodes.count = static_cast<std::int64_t>(mesh.points.size());
  nodes.of_elements = Array<Index>(4 * mesh.tetrahedra.size());
  parallel_for(static_cast<std::int64_t>(mesh.tetrahedra.size()), grain, [&](std::int64_t element) {
    std::copy(mesh.tetrahedra[element].begin(), mesh.tetrahedra[element].end(),
              nodes.of_elements.begin() + 4 * element);
  });
  return nodes;
}

Nodes corner_and_edge_nodes(const Mesh& mesh) {
  const auto elements = static_cast<std::int64_t>(mesh.tetrahedra.size());
  const auto points = static_cast<std::int64_t>(mesh.points.size());
  const Array<std::int64_t> first =
      first_with_same_key(6 * elements, points, [&](std::int64_t edge) { return edge_key(mesh, edge); });
  Array<std::int64_t> number(static_cast<std::size_t>(6 * elements) + 1);
  parallel_for(6 * elements, grain, [&](std::int64_t edge) { number[edge] = first[edge] == edge ? 1 : 0; });
  prefix_sum(number.data(), 6 * elements);
  Nodes nodes;
  nodes.count = points + number[6 * elements];
  if (nodes.count > std::numeric_limits<Index>::max())
    throw Error(ErrorCode::unsupported, "the mesh has more than 2^31-1 points and edges");
  nodes.per_element = 10;
  nodes.of_elements = Array<Index>(static_cast<std::size_t>(10 * elements));
  parallel_for(elements, grain, [&](std::int64_t element) {
    Index* own = nodes.of_elements.data() + 10 * element;
    for (int corner = 0; corner < 4; ++corner) own[corner] = mesh.tetrahedra[element][corner];
    for (int edge = 0; edge < 6; ++edge) own[4 + edge] = static_cast<Index>(points + number[first[6 * element + edge]]);
  });
  return nodes;
}

Adjacency elements_of_nodes(const Nodes& nodes, std::int64_t elements) {
  const std::int64_t pairs = elements * nodes.per_element;
  Adjacency adjacency{Array<Offset>(static_cast<std::size_t>(nodes.count) + 1),
                      Array<Index>(static_cast<std::size_t>(pairs))};
  const auto by_node = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset pair = begin; pair < end; ++pair)
      sink(nodes.of_elements[pair], static_cast<Index>(pair / nodes.per_element));
  };
  group_by_key(by_node, pairs, nodes.count, Fields(adjacency.elements.data()), adjacency.offsets.data());
  return adjacency;
}

/// 1. Find the faces that two elements share; merge those elements.  2. Measure each part.  3. Collect the low faces of
/// each part's surface, and remember its lowest face.  4. Give a part without low faces its lowest one.
std::vector<SpringFace> spring_faces(const Mesh& mesh) {
  const auto elements = static_cast<std::int64_t>(mesh.tetrahedra.size());
  const Array<std::int64_t> first = first_with_same_key(4 * elements, static_cast<std::int64_t>(mesh.points.size()),
                                                        [&](std::int64_t face) { return face_key(mesh, face); });
  std::vector<bool> shared(static_cast<std::size_t>(4 * elements), false);
  ElementSets sets(mesh.tetrahedra.size());
  for (std::int64_t face = 0; face < 4 * elements; ++face) {
    if (first[face] == face) continue;
    shared[face] = shared[first[face]] = true;
    sets.merge(static_cast<Index>(face / 4), static_cast<Index>(first[face] / 4));
  }

  std::vector<Part> parts;
  std::vector<std::size_t> part_of(mesh.tetrahedra.size());
  for (std::int64_t element = 0; element < elements; ++element) {
    const Index lowest = sets.find(static_cast<Index>(element));
    part_of[element] = lowest == element ? parts.size() : part_of[lowest];
    if (lowest == element) parts.emplace_back();
    Part& part = parts[part_of[element]];
    for (const Index corner : mesh.tetrahedra[element])
      for (int axis = 0; axis < 3; ++axis) {
        part.least[axis] = std::min(part.least[axis], mesh.points[corner][axis]);
        part.most[axis] = std::max(part.most[axis], mesh.points[corner][axis]);
      }
    for (int face = 0; face < 4; ++face) part.has_surface = part.has_surface || !shared[4 * element + face];
  }

  std::vector<SpringFace> result;
  const auto add = [&](const Part& part, std::int64_t face) {
    const auto [a, b, c] = face_key(mesh, face);
    result.push_back({static_cast<Index>(face / 4), static_cast<int>(face % 4),
                      area(mesh.points[a], mesh.points[b], mesh.points[c]) / part.extent()});
  };
  for (std::int64_t face = 0; face < 4 * elements; ++face) {
    Part& part = parts[part_of[face / 4]];
    // Only elements that stand in the file twice make a part without a surface.
    if (shared[face] && part.has_surface) continue;
    const int axis = part.axis();
    double height = -INFINITY;
    for (const Index corner : face_key(mesh, face)) height = std::max(height, mesh.points[corner][axis]);
    if (height < part.lowest_height) {
      part.lowest_height = height;
      part.lowest_face = face;
    }
    if (height > part.least[axis] + 0.05 * part.extent()) continue;
    part.has_springs = true;
    add(part, face);
  }
  for (const Part& part : parts)
    if (part.lowest_face >= 0 && !part.has_springs) add(part, part.lowest_face);
  return result;
}

}  // namespace weft::generation
