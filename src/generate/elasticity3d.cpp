#include <array>

#include "generate/build.hpp"
#include "generate/grid.hpp"
#include "generate/material.hpp"
#include "generate/random.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

namespace {

constexpr int corners = 8;  // corner c of a brick stands at x = c & 1, y = c >> 1 & 1, z = c >> 2
using Brick = std::array<std::array<Block, corners>, corners>;

/// The stiffness of a unit cube of modulus 1 with trilinear displacements. The shape functions are products of hat
/// functions in x, y and z, so each integral is a product of three exact one-dimensional ones; 2x2x2 Gauss points give
/// the same.
Brick brick_stiffness() {
  // Integrals over 0..1 of hat functions i and j (0 falls from 1 to 0, 1 rises), of either or both derived.
  const auto integral = [](bool derived_i, bool derived_j, int i, int j) {
    const double slope_i = i == 1 ? 1.0 : -1.0;
    const double slope_j = j == 1 ? 1.0 : -1.0;
    if (derived_i && derived_j) return slope_i * slope_j;
    if (derived_i) return slope_i / 2.0;
    if (derived_j) return slope_j / 2.0;
    return i == j ? 1.0 / 3.0 : 1.0 / 6.0;
  };
  Brick brick{};
  for (int a = 0; a < corners; ++a)
    for (int b = 0; b < corners; ++b) {
      Block gradients{};  // integral of d_i N_a d_j N_b
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double product = 1;
          for (int axis = 0; axis < 3; ++axis) product *= integral(axis == i, axis == j, a >> axis & 1, b >> axis & 1);
          gradients[i * 3 + j] = product;
        }
      brick[a][b] = elastic_block(gradients);
    }
  // Rounding must not make the matrix unsymmetric.
  for (int a = 0; a < corners; ++a)
    for (int b = 0; b <= a; ++b)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) brick[a][b][i * 3 + j] = brick[b][a][j * 3 + i];
  return brick;
}

/// The mass of a bilinear unit square between corners that differ in `dx` and `dy`.
double face_mass(int dx, int dy) { return (dx == 0 ? 1.0 / 3.0 : 1.0 / 6.0) * (dy == 0 ? 1.0 / 3.0 : 1.0 / 6.0); }

}  // namespace

template <Value V>
Csr<V> elasticity3d(Arguments& arguments, const Progress& progress) {
  const Grid grid = cubic_grid(arguments, 2);
  const double variation = static_cast<double>(arguments.named("variation", 50, 0, 99)) / 100.0;
  const Random random(arguments.seed());
  arguments.finish();
  const std::int64_t rows = arguments.product({grid.nx, grid.ny, grid.nz, 3});
  const Brick stiffness = brick_stiffness();

  const auto neighbours_along = [](std::int64_t place, std::int64_t size) {
    return Offset{1} + (place > 0 ? 1 : 0) + (place + 1 < size ? 1 : 0);
  };
  const auto count = [&](std::int64_t node) {
    const auto [x, y, z] = grid.place(node);
    return 3 * neighbours_along(x, grid.nx) * neighbours_along(y, grid.ny) * neighbours_along(z, grid.nz);
  };
  const auto fill = [&](std::int64_t node, Index* columns, V* values) {
    const auto [x, y, z] = grid.place(node);
    // The 3x3 blocks to the 27 neighbours, summed over the up to eight bricks around the node. Both nodes of a pair
    // meet the bricks in the same order, so the matrix is symmetric to the last bit.
    std::array<Block, 27> blocks{};
    for (int brick = 0; brick < corners; ++brick) {
      const std::int64_t ex = x - 1 + (brick & 1), ey = y - 1 + (brick >> 1 & 1), ez = z - 1 + (brick >> 2);
      if (ex < 0 || ey < 0 || ez < 0 || ex + 1 >= grid.nx || ey + 1 >= grid.ny || ez + 1 >= grid.nz) continue;
      const double modulus = 1.0 + variation * random.uniform(static_cast<std::uint64_t>(grid.node(ex, ey, ez)));
      const int own = corners - 1 - brick;
      for (int other = 0; other < corners; ++other) {
        const int dx = (other & 1) - (own & 1), dy = (other >> 1 & 1) - (own >> 1 & 1), dz = (other >> 2) - (own >> 2);
        Block& block = blocks[(dx + 1) + 3 * (dy + 1) + 9 * (dz + 1)];
        for (int i = 0; i < 9; ++i) block[i] += modulus * stiffness[own][other][i];
      }
      if (z != 0) continue;
      // The bottom face stands on springs of stiffness 1 an area.
      for (int other = 0; other < 4; ++other) {
        const int dx = (other & 1) - (own & 1), dy = (other >> 1 & 1) - (own >> 1 & 1);
        Block& block = blocks[(dx + 1) + 3 * (dy + 1) + 9];
        for (int i = 0; i < 9; i += 4) block[i] += face_mass(dx, dy);
      }
    }
    const Offset width = count(node);
    Offset position = 0;
    for (int neighbour = 0; neighbour < 27; ++neighbour) {
      const std::int64_t px = x + neighbour % 3 - 1, py = y + neighbour / 3 % 3 - 1, pz = z + neighbour / 9 - 1;
      if (!grid.holds(px, py, pz)) continue;
      const auto column = static_cast<Index>(3 * grid.node(px, py, pz));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          columns[i * width + position + j] = column + j;
          values[i * width + position + j] = static_cast<V>(blocks[neighbour][i * 3 + j]);
        }
      position += 3;
    }
  };
  const double expected = static_cast<double>(rows) * 81.0;
  return build_rows<V>({grid.nodes(), rows, expected, 3}, progress, count, fill);
}

#define WEFT_INSTANTIATE(V) template Csr<V> elasticity3d<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
