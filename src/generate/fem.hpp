#pragma once
#include <weft/csr.hpp>
#include <weft/partition.hpp>
#include <weft/runtime.hpp>

#include <string_view>

#include "generate/mesh.hpp"

namespace weft::generation {

enum class Equation { poisson, elasticity };
enum class Order { p1, p2 };

/// What follows "fem:", for help texts. The mesh's name may hold colons.
inline constexpr const char* fem_arguments = "MESH.msh:poisson|elasticity:p1|p2";

/// What "fem:TEXT" names. Throws Error(invalid_argument) for a text that is not as fem_arguments says, and what
/// read_gmsh throws.
struct FemProblem {
  Mesh mesh;
  Equation equation;
  Order order;
};
FemProblem read_problem(std::string_view text);

/// Makes the matrix of "fem:TEXT", TEXT as fem_arguments says.
template <Value V>
Csr<V> fem(std::string_view text, const Progress& progress);

/// Where the nodes of the same matrix are.
Coordinates fem_coordinates(std::string_view text);
Coordinates coordinates_of(const Mesh& mesh, Order order);

/// Assembles the stiffness matrix of a mesh: one unknown a node (Poisson) or three (elasticity: modulus 1, Poisson's
/// ratio 0.3), linear or quadratic shape functions, exact integrals. Unknowns follow the mesh's nodes; quadratic
/// elements add a node in the middle of each edge, after those, in the order the elements name the edges. Each
/// connected part stands on springs (see spring_faces), which makes the matrix positive definite; `springs` = false
/// leaves them out.
template <Value V>
Csr<V> assemble(const Mesh& mesh, Equation equation, Order order, const Progress& progress = {}, bool springs = true);

}  // namespace weft::generation
