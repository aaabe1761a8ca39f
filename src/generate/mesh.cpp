#include "generate/mesh.hpp"

#include <cmath>

namespace weft::generation {

namespace {

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

double determinant(const Point& a, const Point& b, const Point& c, const Point& d) {
  return dot(minus(b, a), cross(minus(c, a), minus(d, a)));
}

double area(const Point& a, const Point& b, const Point& c) {
  const Point normal = cross(minus(b, a), minus(c, a));
  return std::sqrt(dot(normal, normal)) / 2.0;
}

Geometry geometry(const Mesh& mesh, const Tetrahedron& corners) {
  const Point& origin = mesh.points[corners[0]];
  const Point u = minus(mesh.points[corners[1]], origin);
  const Point v = minus(mesh.points[corners[2]], origin);
  const Point w = minus(mesh.points[corners[3]], origin);
  const std::array<Point, 3> areas = {cross(v, w), cross(w, u), cross(u, v)};
  const double six_volumes = dot(u, areas[0]);
  Geometry result;
  // Dividing by the signed determinant makes the gradients right for either orientation.
  for (int axis = 0; axis < 3; ++axis) {
    for (int corner = 1; corner < 4; ++corner) result.gradients[corner][axis] = areas[corner - 1][axis] / six_volumes;
    result.gradients[0][axis] = -(result.gradients[1][axis] + result.gradients[2][axis] + result.gradients[3][axis]);
  }
  result.volume = std::abs(six_volumes) / 6.0;
  return result;
}

}  // namespace weft::generation
