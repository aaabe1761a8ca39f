#pragma once
#include <functional>
#include <string_view>

#include "generate/fem.hpp"
#include "generate/mesh.hpp"

// Right sides whose answer is known before anything is solved: manufactured solutions for the finite-element matrices.
namespace weft::generation {

/// A function of the place for each unknown of a node, and its derivatives.
struct Field {
  std::function<double(const Point&, int unknown)> value;
  std::function<Point(const Point&, int unknown)> gradient;
};

/// Smooth, and different for each unknown; its waves are about as long as the mesh.
Field smooth_field(const Mesh& mesh);

/// The right side b for which `field` solves the equation of `assemble` with its springs: b_i is what the equation's
/// bilinear form gives for the field and shape function i, by quadrature. By Green's formula that is the field's volume
/// load and its load on the surface. The x with A x = b is then the field up to the error of the elements.
Array<double> load_of(const Mesh& mesh, Equation equation, Order order, const Field& field);

/// The field at the nodes, in the order of the matrix's rows.
Array<double> values_at_nodes(const Mesh& mesh, Equation equation, Order order, const Field& field);

struct ManufacturedProblem {
  Array<double> load;
  Array<double> answer;  ///< at the nodes
};

/// For the matrix of "fem:TEXT", with smooth_field. Throws as `fem` does.
ManufacturedProblem manufacture(std::string_view text);

}  // namespace weft::generation
