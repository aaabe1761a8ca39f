// Matrices with the pattern of two in the University of Florida collection that the BRO paper measures: mc2depi and
// qcd5_4. docs/generators.md says what is known of the originals.
#include <algorithm>
#include <array>

#include "generate/build.hpp"
#include "generate/grid.hpp"
#include "generate/random.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

namespace {

/// States of an epidemic in lines of alternately WIDTH and WIDTH - 1, each line set off by half a place from the one
/// before. From a state one can go two lines back and, to the left or to the right, one line on.
struct Lines {
  std::int64_t count, width;

  std::int64_t start(std::int64_t line) const { return line / 2 * (2 * width - 1) + line % 2 * width; }
  std::int64_t length(std::int64_t line) const { return width - line % 2; }
  std::int64_t states() const { return start(count); }

  struct Steps {
    std::array<std::int64_t, 4> to{};  // in ascending order
    int count = 0;
  };
  Steps steps(std::int64_t state) const {
    const std::int64_t pair = state / (2 * width - 1), rest = state % (2 * width - 1);
    const std::int64_t line = 2 * pair + (rest >= width ? 1 : 0), place = rest - line % 2 * width;
    Steps steps;
    const auto add = [&](std::int64_t to) { steps.to[static_cast<std::size_t>(steps.count++)] = to; };
    if (line >= 2) add(state - (2 * width - 1));
    add(state);
    if (line + 1 == count) return steps;
    // A longer line's neighbours lie half a place to both sides, so its ends have only one.
    const std::int64_t left = line % 2 == 0 ? place - 1 : place;
    if (left >= 0) add(start(line + 1) + left);
    if (left + 1 < length(line + 1)) add(start(line + 1) + left + 1);
    return steps;
  }
};

}  // namespace

template <Value V>
Csr<V> epidemic2d(Arguments& arguments, const Progress& progress) {
  const std::int64_t count = arguments.size("LINES");
  const std::int64_t width = arguments.size("WIDTH", 2);
  arguments.finish();
  arguments.product({count, width});
  const Lines lines{count, width};
  const std::int64_t states = lines.states();
  const auto length = [&](std::int64_t state) { return Offset{lines.steps(state).count}; };
  const auto fill = [&](std::int64_t state, Index* columns, V* values) {
    const Lines::Steps steps = lines.steps(state);
    // Whole numbers that add up to 0 in every row: the rates of a Markov chain.
    std::int64_t sum = 0;
    V* diagonal = values;
    for (int k = 0; k < steps.count; ++k) {
      const std::int64_t to = steps.to[static_cast<std::size_t>(k)];
      columns[k] = static_cast<Index>(to);
      if (to == state) {
        diagonal = values + k;
        continue;
      }
      const std::int64_t rate = 1 + (to < state ? state : to) % 2000;
      values[k] = static_cast<V>(rate);
      sum += rate;
    }
    *diagonal = static_cast<V>(-sum);
  };
  return build_rows<V>({states, states, 4.0 * static_cast<double>(states)}, progress, length, fill);
}

namespace {

constexpr std::int64_t spins = 4, colours = 3, unknowns = spins * colours;
constexpr std::int64_t couplings = 13;  // of a spin with those of the neighbours: two each in space, one in time

struct Coupling {
  std::int64_t site, spin;
};

/// The spins of neighbouring sites that a spin depends on, by the Dirac matrices in their usual form: in space one
/// sees, at both neighbours of each direction, the same spin and one of the other pair; in time, where the matrix is
/// diagonal, the same spin at one of the two neighbours.
std::array<Coupling, couplings> couplings_of(const Grid& space, std::int64_t times, std::int64_t site,
                                             std::int64_t spin) {
  const std::int64_t volume = space.nodes(), time = site / volume;
  const auto [x, y, z] = space.place(site % volume);
  std::array<Coupling, couplings> all{};
  std::size_t n = 0;
  const auto both = [&](std::int64_t neighbour, std::int64_t other_spin) {
    all[n++] = {neighbour + time * volume, spin};
    all[n++] = {neighbour + time * volume, other_spin};
  };
  for (const std::int64_t step : {std::int64_t(1), std::int64_t(-1)}) {
    both(space.node((x + step + space.nx) % space.nx, y, z), 3 - spin);
    both(space.node(x, (y + step + space.ny) % space.ny, z), 3 - spin);
    both(space.node(x, y, (z + step + space.nz) % space.nz), (spin + 2) % 4);
  }
  const std::int64_t step = spin < 2 ? 1 : -1;
  all[n] = {site % volume + (time + step + times) % times * volume, spin};
  std::ranges::sort(all, {}, [](const Coupling& coupling) { return coupling.site * spins + coupling.spin; });
  return all;
}

}  // namespace

template <Value V>
Csr<V> lattice4d(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N", 3);
  const std::int64_t times = arguments.has_next() ? arguments.size("NT", 3) : n;
  const Random random(arguments.seed());
  arguments.finish();
  const std::int64_t rows = arguments.product({n, n, n, times, unknowns});
  const Grid space{n, n, n};
  const auto length = [](std::int64_t) { return Offset{couplings * colours}; };
  // A group is a spin of a site: its three colours depend on the same unknowns.
  const auto fill = [&](std::int64_t group, Index* columns, V* values) {
    const auto all = couplings_of(space, times, group / spins, group % spins);
    for (std::int64_t colour = 0; colour < colours; ++colour) {
      const Random row = random.stream(static_cast<std::uint64_t>(group * colours + colour));
      for (const Coupling& coupling : all)
        for (std::int64_t other = 0; other < colours; ++other) {
          const std::int64_t column = coupling.site * unknowns + coupling.spin * colours + other;
          *columns++ = static_cast<Index>(column);
          *values++ = static_cast<V>(row.uniform(static_cast<std::uint64_t>(column)));
        }
    }
  };
  const double expected = static_cast<double>(rows) * couplings * colours;
  return build_rows<V>({rows / colours, rows, expected, colours}, progress, length, fill);
}

#define WEFT_INSTANTIATE(V)                                   \
  template Csr<V> epidemic2d<V>(Arguments&, const Progress&); \
  template Csr<V> lattice4d<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
