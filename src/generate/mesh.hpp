#pragma once
#include <weft/types.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace weft::generation {

using Point = std::array<double, 3>;
using Tetrahedron = std::array<Index, 4>;

/// A mesh of tetrahedra. Every point is a corner of some tetrahedron, every tetrahedron has a volume that is not zero;
/// its corners may be in either orientation.
struct Mesh {
  std::vector<Point> points;
  std::vector<Tetrahedron> tetrahedra;
};

/// The gradients of a tetrahedron's four barycentric coordinates, and its volume.
struct Geometry {
  std::array<Point, 4> gradients;
  double volume;
};

/// Six times the volume; negative when the corners are inverted.
double determinant(const Point& a, const Point& b, const Point& c, const Point& d);
double area(const Point& a, const Point& b, const Point& c);
Geometry geometry(const Mesh& mesh, const Tetrahedron& corners);

/// Reads the tetrahedra of a Gmsh file, version 2.2 or 4.1, text; `name` is what errors call the file. Nodes keep the
/// file's order; those that no tetrahedron uses are dropped, and so are all other elements. Ten-node tetrahedra count
/// by their corners. Throws Error(parse) that starts with "name:line:" for a bad file, Error(unsupported) for binary
/// files and other versions. Takes memory in proportion to the text, whatever counts the text claims.
Mesh parse_gmsh(std::string_view text, const std::string& name);

/// Reads a Gmsh file, plain or compressed (.gz, .xz). Throws what parse_gmsh throws and Error(io).
Mesh read_gmsh(const std::string& path);

}  // namespace weft::generation
