#pragma once
#include <algorithm>
#include <cstdint>

#include "generate/arguments.hpp"

namespace weft::generation {

/// Nodes of a box, numbered x first, then y, then z.
struct Grid {
  std::int64_t nx, ny, nz;

  struct Place {
    std::int64_t x, y, z;
  };
  std::int64_t nodes() const { return nx * ny * nz; }
  Place place(std::int64_t node) const { return {node % nx, node / nx % ny, node / (nx * ny)}; }
  std::int64_t node(std::int64_t x, std::int64_t y, std::int64_t z) const { return x + nx * (y + ny * z); }
  bool holds(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
  }
};

/// Reads N[:NY:NZ]; one number stands for all three.
inline Grid cubic_grid(Arguments& arguments, std::int64_t least = 1) {
  Grid grid{};
  grid.nx = grid.ny = grid.nz = arguments.size("N", least);
  if (arguments.has_next()) {
    grid.ny = arguments.size("NY", least);
    grid.nz = arguments.size("NZ", least);
  }
  return grid;
}

}  // namespace weft::generation
