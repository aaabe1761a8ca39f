#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/runtime.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::bench {

/// The parameters of csr:speculative in the paper's letters: W entries a lane and tile, S tiles a bunch, B bunches a
/// group.
struct Shape {
  int width = 0;    ///< W
  int tiles = 0;    ///< S
  int bunches = 0;  ///< B
  bool operator==(const Shape&) const = default;
};

/// One of the three: its letter, what it counts, and where a Shape holds it.
struct Parameter {
  char letter;
  const char* meaning;
  int Shape::* member;
};
inline constexpr Parameter parameters[] = {{'W', "entries a lane and tile", &Shape::width},
                                           {'S', "tiles a bunch", &Shape::tiles},
                                           {'B', "bunches a group", &Shape::bunches}};

/// The values to try, ascending.
struct Grid {
  std::vector<int> widths = {2, 4, 6, 8};
  std::vector<int> tiles = {1, 2, 4, 8, 12, 16, 24, 31};
  std::vector<int> bunches = {1, 2, 4, 5, 8};

  const std::vector<int>& values(const Parameter& parameter) const;
  void include(Shape shape);              ///< adds its values where they are missing
  std::vector<Shape> all() const;         ///< every combination
  std::vector<Shape> cross(Shape) const;  ///< those that differ from this one in one parameter at most
};

/// How fast one setting is.
struct Trial {
  Shape shape;
  std::vector<double> gflops = {};  ///< a matrix
  bool correct = true;              ///< false: a product was further from the reference than rounding allows
  double max_error = 0;             ///< see Verdict

  double mean() const;  ///< harmonic, over the matrices: the GFLOP/s of an equal amount of work on each of them
};

/// What a search found.
struct Search {
  Shape kept;  ///< where it started
  Shape best;  ///< the fastest of all that were tried and gave correct products
  int rounds = 0;
  std::vector<Trial> trials;  ///< in the order in which they were first measured, each setting once

  const Trial* find(Shape shape) const;                                        ///< null when it was not tried
  std::vector<const Trial*> curve(const Grid&, const Parameter& along) const;  ///< the others as in `best`
  double shortfall() const;  ///< by which share of the best the settings kept are slower; 0 when they are the best
};

/// Measures settings against each other: a trial for each, in their order.
using Contestants = std::function<std::vector<Trial>(std::span<const Shape> shapes)>;

/// Goes from `kept`, which the grid includes, to the best of its cross, and on until a cross holds nothing better; or,
/// if `jointly`, measures the whole grid first. The settings kept compete in each round, and what is measured is
/// related to them: a machine that has slowed down since does not favour what came earlier. A setting that seems the
/// best is measured again with its cross and gets the average, so that luck does not decide.
Search search(Shape kept, const Grid& grid, bool jointly, const Contestants& measure);

template <Value V>
struct NamedMatrix {
  std::string source;
  Csr<V> matrix;
};

struct TuneOptions {
  Device device;
  Grid grid;             ///< includes what kept_shape gives
  bool jointly = false;  ///< measure every combination
  double seconds = 0.02;
  int groups = 5;
  std::uint64_t seed = 1;
  /// Asked for each matrix and round; may be null.
  std::function<Progress(int round, const std::string& source)> progress;
};

/// The settings compiled in for a device.
Shape kept_shape(Device device, ValueType type);

/// Searches for the parameters of csr:speculative that are fastest on these matrices. All settings of a round are built
/// and checked, and then take turns in being timed (see `measure`), as many at once as fit a third of the device's
/// memory. Throws Error(invalid_argument) for a matrix without entries, and what building and multiplying throw.
template <Value V>
Search tune(const std::vector<NamedMatrix<V>>& matrices, const TuneOptions& options);

}  // namespace weft::bench
