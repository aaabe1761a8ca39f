#pragma once
#include <array>

#include "generate/material.hpp"
#include "generate/mesh.hpp"
#include "generate/topology.hpp"

namespace weft::generation {

/// The gradient of a shape function is a sum of (polynomial) x (gradient of barycentric coordinate `gradient`). With
/// L_c the barycentric coordinate of corner c the polynomials are:
/// - of a linear function: 1;
/// - of a quadratic corner function: 4 L_c - 1;
/// - of the middle of edge (a, b): 4 L_b for gradient a and 4 L_a for gradient b.
struct GradientTerm {
  int gradient;
  int coordinate;  ///< which L the polynomial has
  int constant;    ///< 0, or -1 for 4 L - 1
};

/// One product of two such terms, integrated: `factor` x volume x gradient `row` x gradient `column`.
struct ProductTerm {
  int row, column;
  double factor;
};

struct ProductTerms {
  int count = 0;
  std::array<ProductTerm, 4> terms{};
};

/// For each pair of shape functions the integral of the product of their gradients. The integrals of polynomials over a
/// tetrahedron are exact: L_a L_b gives 1/20 of the volume, L_a squared 1/10, L_a 1/4.
template <int PerElement>
constexpr auto gradient_products() {
  std::array<std::array<ProductTerms, PerElement>, PerElement> table{};
  if constexpr (PerElement == 4) {
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 4; ++q) table[p][q] = {1, {ProductTerm{p, q, 1.0}}};
  } else {
    std::array<std::array<GradientTerm, 2>, 10> terms{};
    for (int corner = 0; corner < 4; ++corner) terms[corner] = {GradientTerm{corner, corner, -1}, {}};
    for (int edge = 0; edge < 6; ++edge) {
      const auto [a, b] = tetrahedron_edges[edge];
      terms[4 + edge] = {GradientTerm{a, b, 0}, GradientTerm{b, a, 0}};
    }
    for (int p = 0; p < 10; ++p)
      for (int q = 0; q < 10; ++q)
        for (int i = 0; i < (p < 4 ? 1 : 2); ++i)
          for (int j = 0; j < (q < 4 ? 1 : 2); ++j) {
            const GradientTerm& s = terms[p][i];
            const GradientTerm& t = terms[q][j];
            // (4 L_s + c_s)(4 L_t + c_t) = 16 L_s L_t + 4 c_t L_s + 4 c_s L_t + c_s c_t, in fifths.
            const int fifths =
                (s.coordinate == t.coordinate ? 8 : 4) + 5 * t.constant + 5 * s.constant + 5 * s.constant * t.constant;
            ProductTerms& products = table[p][q];
            products.terms[products.count++] = {s.gradient, t.gradient, fifths / 5.0};
          }
  }
  return table;
}

/// The stiffness between nodes `row` and `column` of an element: a number for Poisson's equation, 3x3 for elasticity.
/// stiffness(p, q) is the transpose of stiffness(q, p) to the last bit.
template <int Unknowns, int PerElement>
std::array<double, Unknowns * Unknowns> stiffness(const Geometry& shape, int row, int column) {
  static constexpr auto table = gradient_products<PerElement>();
  // Sums have another order for (q, p), so only p <= q is computed.
  const bool swapped = row > column;
  const ProductTerms& products = swapped ? table[column][row] : table[row][column];
  if constexpr (Unknowns == 1) {
    double sum = 0;
    for (int term = 0; term < products.count; ++term) {
      const Point& g = shape.gradients[products.terms[term].row];
      const Point& h = shape.gradients[products.terms[term].column];
      sum += products.terms[term].factor * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2]);
    }
    return {sum * shape.volume};
  } else {
    Block gradients{};
    for (int term = 0; term < products.count; ++term) {
      const Point& g = shape.gradients[products.terms[term].row];
      const Point& h = shape.gradients[products.terms[term].column];
      for (int i = 0; i < 3; ++i) {
        const double scaled = products.terms[term].factor * g[i];
        for (int j = 0; j < 3; ++j) gradients[i * 3 + j] += scaled * h[j];
      }
    }
    for (double& product : gradients) product *= shape.volume;
    if (row == column)  // symmetric but for rounding
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < i; ++j) gradients[i * 3 + j] = gradients[j * 3 + i];
    const Block block = elastic_block(gradients);
    if (!swapped) return block;
    return {block[0], block[3], block[6], block[1], block[4], block[7], block[2], block[5], block[8]};
  }
}

/// The element's nodes on the face without corner `without`: three corners, then for quadratic elements the middles of
/// the edges opposite to them.
template <int PerElement>
constexpr std::array<int, PerElement == 4 ? 3 : 6> nodes_on_face(int without) {
  std::array<int, PerElement == 4 ? 3 : 6> result{};
  int length = 0;
  for (int corner = 0; corner < 4; ++corner)
    if (corner != without) result[length++] = corner;
  if constexpr (PerElement == 10)
    for (int opposite = 0; opposite < 3; ++opposite)
      for (int edge = 0; edge < 6; ++edge) {
        const auto [a, b] = tetrahedron_edges[edge];
        if (a == result[(opposite + 1) % 3] && b == result[(opposite + 2) % 3]) result[3 + opposite] = 4 + edge;
        if (b == result[(opposite + 1) % 3] && a == result[(opposite + 2) % 3]) result[3 + opposite] = 4 + edge;
      }
  return result;
}

/// The integral of the product of two shape functions over a triangle of area 1, nodes numbered as nodes_on_face does.
template <int FaceNodes>
constexpr double face_mass(int row, int column) {
  if constexpr (FaceNodes == 3) {
    return row == column ? 1.0 / 6.0 : 1.0 / 12.0;
  } else {
    const bool row_is_corner = row < 3, column_is_corner = column < 3;
    if (row_is_corner && column_is_corner) return (row == column ? 6.0 : -1.0) / 180.0;
    if (!row_is_corner && !column_is_corner) return (row == column ? 32.0 : 16.0) / 180.0;
    return (row + 3 == column || column + 3 == row ? -4.0 : 0.0) / 180.0;
  }
}

}  // namespace weft::generation
