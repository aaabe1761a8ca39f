#include "generate/load.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "generate/element.hpp"
#include "generate/topology.hpp"

namespace weft::generation {
namespace {

/// Gauss's rule with four points on 0..1: exact for polynomials up to degree 7.
struct LinePoint {
  double place, weight;
};
std::array<LinePoint, 4> gauss_points() {
  const double inner = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2)),
               outer = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2));
  const double heavy = (18 + std::sqrt(30.0)) / 72, light = (18 - std::sqrt(30.0)) / 72;
  return {{{(1 - outer) / 2, light}, {(1 - inner) / 2, heavy}, {(1 + inner) / 2, heavy}, {(1 + outer) / 2, light}}};
}

/// A point of a rule on a tetrahedron (or, with three coordinates, a triangle) of size 1.
template <int Corners>
struct RulePoint {
  std::array<double, Corners> coordinates;  // barycentric
  double weight;
};

/// The cube's rule, collapsed to a tetrahedron.
std::vector<RulePoint<4>> tetrahedron_rule() {
  std::vector<RulePoint<4>> rule;
  for (const LinePoint& a : gauss_points())
    for (const LinePoint& b : gauss_points())
      for (const LinePoint& c : gauss_points()) {
        const double left = 1 - a.place, rest = left * (1 - b.place);
        const double second = left * b.place, third = rest * c.place;
        rule.push_back(
            {{1 - a.place - second - third, a.place, second, third}, 6 * a.weight * b.weight * c.weight * left * rest});
      }
  return rule;
}

/// The square's rule, collapsed to a triangle.
std::vector<RulePoint<3>> triangle_rule() {
  std::vector<RulePoint<3>> rule;
  for (const LinePoint& a : gauss_points())
    for (const LinePoint& b : gauss_points()) {
      const double left = 1 - a.place, second = left * b.place;
      rule.push_back({{1 - a.place - second, a.place, second}, 2 * a.weight * b.weight * left});
    }
  return rule;
}

template <std::size_t Corners>
Point place_of(const std::array<double, Corners>& coordinates, const std::array<Point, Corners>& corners) {
  Point place{};
  for (std::size_t c = 0; c < Corners; ++c)
    for (std::size_t d = 0; d < 3; ++d) place[d] += coordinates[c] * corners[c][d];
  return place;
}

/// The gradient of shape function `node` where the barycentric coordinates are these; see GradientTerm.
Point shape_gradient(const Geometry& shape, const std::array<double, 4>& coordinates, int node, bool quadratic) {
  const auto scaled = [](const Point& g, double factor) { return Point{factor * g[0], factor * g[1], factor * g[2]}; };
  if (!quadratic) return shape.gradients[node];
  if (node < 4) return scaled(shape.gradients[node], 4 * coordinates[node] - 1);
  const auto [a, b] = tetrahedron_edges[node - 4];
  const Point first = scaled(shape.gradients[a], 4 * coordinates[b]),
              second = scaled(shape.gradients[b], 4 * coordinates[a]);
  return {first[0] + second[0], first[1] + second[1], first[2] + second[2]};
}

/// Of a triangle's shape functions, numbered as nodes_on_face does.
double face_shape(const std::array<double, 3>& coordinates, int node, bool quadratic) {
  if (!quadratic) return coordinates[node];
  if (node < 3) return coordinates[node] * (2 * coordinates[node] - 1);
  return 4 * coordinates[(node - 2) % 3] * coordinates[(node - 1) % 3];
}

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// What is multiplied by a shape function's gradient: the field's gradient, or for elasticity the rows of its stress.
std::array<Point, 3> flux_of(const Field& field, const Point& place, int unknowns) {
  if (unknowns == 1) return {field.gradient(place, 0)};
  std::array<Point, 3> derivatives;
  for (int i = 0; i < 3; ++i) derivatives[i] = field.gradient(place, i);
  const double spread = lame_lambda * (derivatives[0][0] + derivatives[1][1] + derivatives[2][2]);
  std::array<Point, 3> stress;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      stress[i][j] = lame_mu * (derivatives[i][j] + derivatives[j][i]) + (i == j ? spread : 0);
  return stress;
}

class Load {
 public:
  Load(const Mesh& mesh, Equation equation, Order order, const Field& field)
      : mesh_(mesh),
        field_(field),
        nodes_(order == Order::p1 ? corner_nodes(mesh) : corner_and_edge_nodes(mesh)),
        unknowns_(equation == Equation::poisson ? 1 : 3) {}

  /// Elements by themselves, then summed one after the other: the same for any number of threads.
  Array<double> run() const {
    const auto elements = static_cast<std::int64_t>(mesh_.tetrahedra.size());
    const std::size_t per_element = static_cast<std::size_t>(nodes_.per_element) * unknowns_;
    Array<double> parts(static_cast<std::size_t>(elements) * per_element, 0.0);
    const std::vector<RulePoint<4>> rule = tetrahedron_rule();
    parallel_for(elements, 16, [&](std::int64_t element) {
      add_element(element, rule, {parts.data() + static_cast<std::size_t>(element) * per_element, per_element});
    });
    Array<double> load(static_cast<std::size_t>(nodes_.count) * unknowns_, 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i)
      load[static_cast<std::size_t>(nodes_.of_elements[i / unknowns_]) * unknowns_ + i % unknowns_] += parts[i];
    add_springs(load);
    return load;
  }

 private:
  bool quadratic() const { return nodes_.per_element == 10; }

  void add_element(std::int64_t element, const std::vector<RulePoint<4>>& rule, std::span<double> sums) const {
    const Tetrahedron& corners = mesh_.tetrahedra[static_cast<std::size_t>(element)];
    const Geometry shape = geometry(mesh_, corners);
    std::array<Point, 4> places;
    for (std::size_t c = 0; c < 4; ++c) places[c] = mesh_.points[static_cast<std::size_t>(corners[c])];
    for (const RulePoint<4>& point : rule) {
      const auto flux = flux_of(field_, place_of(point.coordinates, places), unknowns_);
      for (int node = 0; node < nodes_.per_element; ++node) {
        const Point gradient = shape_gradient(shape, point.coordinates, node, quadratic());
        for (int i = 0; i < unknowns_; ++i)
          sums[static_cast<std::size_t>(node * unknowns_ + i)] += point.weight * shape.volume * dot(gradient, flux[i]);
      }
    }
  }

  void add_springs(Array<double>& load) const {
    const std::vector<RulePoint<3>> rule = triangle_rule();
    for (const SpringFace& face : spring_faces(mesh_)) {
      const Tetrahedron& corners = mesh_.tetrahedra[static_cast<std::size_t>(face.element)];
      const auto local = nodes_on_face<10>(face.without);  // its first three are the corners
      std::array<Point, 3> places;
      for (std::size_t c = 0; c < 3; ++c) places[c] = mesh_.points[static_cast<std::size_t>(corners[local[c]])];
      for (const RulePoint<3>& point : rule) {
        const Point place = place_of(point.coordinates, places);
        for (int node = 0; node < (quadratic() ? 6 : 3); ++node) {
          const double weight = point.weight * face.weight * face_shape(point.coordinates, node, quadratic());
          const Index at =
              nodes_.of_elements[static_cast<std::size_t>(face.element) * nodes_.per_element + local[node]];
          for (int i = 0; i < unknowns_; ++i)
            load[static_cast<std::size_t>(at) * unknowns_ + i] += weight * field_.value(place, i);
        }
      }
    }
  }

  const Mesh& mesh_;
  const Field& field_;
  Nodes nodes_;
  int unknowns_;
};

}  // namespace

Field smooth_field(const Mesh& mesh) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Point low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};
  for (const Point& point : mesh.points)
    for (std::size_t d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], point[d]);
      high[d] = std::max(high[d], point[d]);
    }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  constexpr double pi = std::numbers::pi;
  const auto scaled = [low, extent](const Point& point, std::size_t d) { return (point[d] - low[d]) / extent; };
  return {[scaled](const Point& point, int unknown) {
            const double z = scaled(point, 2);
            return std::cos(pi * scaled(point, 0) + unknown) + (1 + unknown) * std::sin(pi * scaled(point, 1)) + z * z;
          },
          [scaled, extent](const Point& point, int unknown) {
            return Point{-pi * std::sin(pi * scaled(point, 0) + unknown) / extent,
                         (1 + unknown) * pi * std::cos(pi * scaled(point, 1)) / extent, 2 * scaled(point, 2) / extent};
          }};
}

Array<double> load_of(const Mesh& mesh, Equation equation, Order order, const Field& field) {
  return Load(mesh, equation, order, field).run();
}

Array<double> values_at_nodes(const Mesh& mesh, Equation equation, Order order, const Field& field) {
  const Coordinates nodes = coordinates_of(mesh, order);
  const std::size_t unknowns = equation == Equation::poisson ? 1 : 3;
  Array<double> values(nodes.points.size() / 3 * unknowns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double* const place = nodes.points.data() + i / unknowns * 3;
    values[i] = field.value({place[0], place[1], place[2]}, static_cast<int>(i % unknowns));
  }
  return values;
}

ManufacturedProblem manufacture(std::string_view text) {
  const FemProblem problem = read_problem(text);
  const Field field = smooth_field(problem.mesh);
  return {load_of(problem.mesh, problem.equation, problem.order, field),
          values_at_nodes(problem.mesh, problem.equation, problem.order, field)};
}

}  // namespace weft::generation
