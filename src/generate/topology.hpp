#pragma once
#include <weft/array.hpp>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "generate/mesh.hpp"

namespace weft::generation {

/// The corners at the ends of a tetrahedron's edges. In a ten-node tetrahedron, node 4 + e is the middle of edge e.
inline constexpr std::array<std::pair<int, int>, 6> tetrahedron_edges = {
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// The nodes of each element: those of the mesh alone, or also the middles of the edges.
struct Nodes {
  std::int64_t count = 0;
  int per_element = 4;
  Array<Index> of_elements;  ///< per_element for each element
};
Nodes corner_nodes(const Mesh& mesh);

/// Numbers the edges' middles after the points, in the order the elements name the edges first. Throws
/// Error(unsupported) when there are more than 2^31-1 nodes.
Nodes corner_and_edge_nodes(const Mesh& mesh);

/// For each node the elements that have it, ascending: elements[offsets[node]..offsets[node+1]).
struct Adjacency {
  Array<Offset> offsets;
  Array<Index> elements;
};
Adjacency elements_of_nodes(const Nodes& nodes, std::int64_t elements);

/// A triangle on springs: face `corner` of element `element` is the one without corner `corner`. `weight` is its area
/// times the springs' stiffness an area.
struct SpringFace {
  Index element;
  int without;
  double weight;
};

/// The triangles that hold the mesh in place. For each part of the mesh whose elements hang together by faces: the
/// faces of its surface within the lowest 5 % of its longest extent, or the lowest face if there is none. A part then
/// cannot float, whatever the mesh. The springs' stiffness an area is 1 over that extent, so a mesh in millimetres and
/// one in metres give similar matrices.
std::vector<SpringFace> spring_faces(const Mesh& mesh);

}  // namespace weft::generation
