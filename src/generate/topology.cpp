#include "generate/topology.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"

namespace weft::generation {

namespace {

constexpr std::int64_t grain = 4096;

/// For each of `items` the lowest item with the same key. key(item) is an ascending list of point numbers: items are
/// put into a bucket by the first, in whatever order threads arrive, and sorted there, so the result is the same for
/// any number of threads.
template <class Key>
Array<std::int64_t> first_with_same_key(std::int64_t items, std::int64_t points, const Key& key) {
  Array<Offset> ends(static_cast<std::size_t>(points) + 1);
  parallel_for(points + 1, grain, [&](std::int64_t point) { ends[point] = 0; });
  parallel_for(items, grain,
               [&](std::int64_t item) { std::atomic_ref(ends[key(item)[0]]).fetch_add(1, std::memory_order_relaxed); });
  prefix_sum(ends.data(), points);
  Array<std::int64_t> bucketed(static_cast<std::size_t>(items));
  parallel_for(items, grain, [&](std::int64_t item) {
    // Each bucket's start moves to its end while it is filled.
    bucketed[std::atomic_ref(ends[key(item)[0]]).fetch_add(1, std::memory_order_relaxed)] = item;
  });
  Array<std::int64_t> first(static_cast<std::size_t>(items));
  parallel_ranges(points, 256, [&](std::int64_t from, std::int64_t to) {
    std::vector<std::pair<decltype(key(0)), std::int64_t>> bucket;
    for (std::int64_t point = from; point < to; ++point) {
      bucket.clear();
      for (Offset i = point == 0 ? 0 : ends[point - 1]; i < ends[point]; ++i)
        bucket.emplace_back(key(bucketed[i]), bucketed[i]);
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

double area(const Mesh& mesh, const std::array<Index, 3>& corners) {
  const Point& a = mesh.points[corners[0]];
  Point u, v;
  for (int axis = 0; axis < 3; ++axis) {
    u[axis] = mesh.points[corners[1]][axis] - a[axis];
    v[axis] = mesh.points[corners[2]][axis] - a[axis];
  }
  const Point normal = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  return std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) / 2.0;
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
  Array<Offset> ends(static_cast<std::size_t>(nodes.count) + 1);
  parallel_for(nodes.count + 1, grain, [&](std::int64_t node) { ends[node] = 0; });
  const std::int64_t pairs = elements * nodes.per_element;
  parallel_for(pairs, grain, [&](std::int64_t pair) {
    std::atomic_ref(ends[nodes.of_elements[pair]]).fetch_add(1, std::memory_order_relaxed);
  });
  prefix_sum(ends.data(), nodes.count);
  Adjacency adjacency;
  adjacency.elements = Array<Index>(static_cast<std::size_t>(pairs));
  parallel_for(pairs, grain, [&](std::int64_t pair) {
    const Offset place = std::atomic_ref(ends[nodes.of_elements[pair]]).fetch_add(1, std::memory_order_relaxed);
    adjacency.elements[place] = static_cast<Index>(pair / nodes.per_element);
  });
  adjacency.offsets = Array<Offset>(static_cast<std::size_t>(nodes.count) + 1);
  adjacency.offsets[0] = 0;
  parallel_for(nodes.count, grain, [&](std::int64_t node) {
    adjacency.offsets[node + 1] = ends[node];
    std::sort(adjacency.elements.begin() + (node == 0 ? 0 : ends[node - 1]), adjacency.elements.begin() + ends[node]);
  });
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

  std::vector<Part> parts(mesh.tetrahedra.size());
  for (std::int64_t element = 0; element < elements; ++element) {
    Part& part = parts[sets.find(static_cast<Index>(element))];
    for (const Index corner : mesh.tetrahedra[element])
      for (int axis = 0; axis < 3; ++axis) {
        part.least[axis] = std::min(part.least[axis], mesh.points[corner][axis]);
        part.most[axis] = std::max(part.most[axis], mesh.points[corner][axis]);
      }
    for (int face = 0; face < 4; ++face) part.has_surface = part.has_surface || !shared[4 * element + face];
  }

  std::vector<SpringFace> result;
  const auto add = [&](const Part& part, std::int64_t face) {
    result.push_back(
        {static_cast<Index>(face / 4), static_cast<int>(face % 4), area(mesh, face_key(mesh, face)) / part.extent()});
  };
  for (std::int64_t face = 0; face < 4 * elements; ++face) {
    Part& part = parts[sets.find(static_cast<Index>(face / 4))];
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
