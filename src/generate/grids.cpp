#include <vector>

#include "generate/build.hpp"
#include "generate/grid.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

namespace {

struct Step {
  int dx, dy, dz;
};

/// The steps to a point's neighbours and to itself, in the order of their node numbers, up to `reach` unit moves away;
/// only those that some point of the grid can take, so that their number tells how long rows can be.
std::vector<Step> steps(const Grid& grid, int reach) {
  std::vector<Step> result;
  for (int dz = -1; dz <= 1; ++dz)
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (std::abs(dx) + std::abs(dy) + std::abs(dz) <= reach && std::abs(dx) < grid.nx && std::abs(dy) < grid.ny &&
            std::abs(dz) < grid.nz)
          result.push_back({dx, dy, dz});
  return result;
}

/// `centre` on the diagonal and -1 for every neighbour inside the grid.
template <Value V>
Csr<V> stencil(const Grid& grid, int reach, V centre, const Progress& progress) {
  const std::vector<Step> neighbours = steps(grid, reach);
  const auto count = [&](std::int64_t node) {
    const auto [x, y, z] = grid.place(node);
    Offset length = 0;
    for (const Step& step : neighbours) length += grid.holds(x + step.dx, y + step.dy, z + step.dz) ? 1 : 0;
    return length;
  };
  const auto fill = [&](std::int64_t node, Index* columns, V* values) {
    const auto [x, y, z] = grid.place(node);
    for (const Step& step : neighbours) {
      if (!grid.holds(x + step.dx, y + step.dy, z + step.dz)) continue;
      const auto column = static_cast<Index>(grid.node(x + step.dx, y + step.dy, z + step.dz));
      *columns++ = column;
      *values++ = column == node ? centre : V(-1);
    }
  };
  const double expected = static_cast<double>(grid.nodes()) * static_cast<double>(neighbours.size());
  return build_rows<V>({grid.nodes(), grid.nodes(), expected}, progress, count, fill);
}

}  // namespace

template <Value V>
Csr<V> poisson2d(Arguments& arguments, const Progress& progress) {
  const std::int64_t nx = arguments.size("N");
  const std::int64_t ny = arguments.has_next() ? arguments.size("NY") : nx;
  arguments.finish();
  arguments.product({nx, ny});
  return stencil<V>({nx, ny, 1}, 1, V(4), progress);
}

template <Value V>
Csr<V> poisson3d(Arguments& arguments, const Progress& progress) {
  const Grid grid = cubic_grid(arguments);
  arguments.finish();
  arguments.product({grid.nx, grid.ny, grid.nz});
  return stencil<V>(grid, 1, V(6), progress);
}

template <Value V>
Csr<V> stencil27(Arguments& arguments, const Progress& progress) {
  const Grid grid = cubic_grid(arguments);
  arguments.finish();
  arguments.product({grid.nx, grid.ny, grid.nz});
  return stencil<V>(grid, 3, V(26), progress);
}

#define WEFT_INSTANTIATE(V)                                  \
  template Csr<V> poisson2d<V>(Arguments&, const Progress&); \
  template Csr<V> poisson3d<V>(Arguments&, const Progress&); \
  template Csr<V> stencil27<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
