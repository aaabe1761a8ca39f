#include <array>
#include <bit>
#include <vector>

#include "generate/build.hpp"
#include "generate/random.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

namespace {

constexpr std::int64_t most_hubs = 64;

/// The pattern of a circuit: each node is wired to a few others, mostly near ones; a few hubs (supply nets, clocks) are
/// wired to a large part of all nodes, in their row and in their column.
class Circuit {
 public:
  Circuit(std::int64_t n, std::int64_t hubs, const Random& random) : n_(n), wires_(random.stream(0)) {
    const Random hub_wires = random.stream(1);
    // The hubs' lengths fall evenly from half of all nodes, at most a million, to a fifth of that.
    const std::int64_t longest = std::min<std::int64_t>(n / 2, 1'000'000);
    for (std::int64_t hub = 0; hub < hubs; ++hub) {
      const std::int64_t drop = hubs == 1 ? 0 : hub * (longest - longest / 5) / (hubs - 1);
      hubs_.push_back(
          {(2 * hub + 1) * n / (2 * hubs), longest - drop, hub_wires.stream(static_cast<std::uint64_t>(hub))});
    }
  }

  double expected_entries() const {
    double sum = 5.0 * static_cast<double>(n_);
    for (const Hub& hub : hubs_) sum += 2.0 * static_cast<double>(hub.length);
    return sum;
  }

  /// Calls visit(column) for each column of the row, ascending.
  template <class Visit>
  void visit_row(std::int64_t row, Visit&& visit) const {
    for (const Hub& hub : hubs_) {
      if (hub.node != row) continue;
      for (std::int64_t column = 0; column < n_; ++column)
        if (column == row || wired(hub, column)) visit(static_cast<Index>(column));
      return;
    }
    std::array<Index, most_near + most_hubs + 1> columns;
    std::size_t length = 0;
    columns[length++] = static_cast<Index>(row);
    RandomSequence draws(wires_.stream(static_cast<std::uint64_t>(row)));
    const std::int64_t wanted = 2 + draws.below(most_near - 1);
    for (std::int64_t wire = 0; wire < wanted; ++wire) {
      const bool far = draws.below(8) == 0;
      const std::int64_t distance = 1 + draws.below(16);
      const std::int64_t near = draws.below(2) == 0 ? row - distance : row + distance;
      const std::int64_t other = far ? draws.below(n_) : near;
      if (other >= 0 && other < n_) columns[length++] = static_cast<Index>(other);
    }
    for (const Hub& hub : hubs_)
      if (wired(hub, row)) columns[length++] = static_cast<Index>(hub.node);
    std::sort(columns.data(), columns.data() + length);
    const Index* end = std::unique(columns.data(), columns.data() + length);
    for (const Index* column = columns.data(); column != end; ++column) visit(*column);
  }

 private:
  static constexpr std::int64_t most_near = 6;
  struct Hub {
    std::int64_t node;
    std::int64_t length;
    Random wires;
  };
  bool wired(const Hub& hub, std::int64_t node) const {
    return hub.wires.below(n_, static_cast<std::uint64_t>(node)) < hub.length;
  }

  std::int64_t n_;
  Random wires_;
  std::vector<Hub> hubs_;
};

/// A matrix of random rows: length(row) distinct columns anywhere, each with value(the row's random numbers, column).
template <Value V, class Length, class Entry>
Csr<V> scattered_rows(std::int64_t rows, std::int64_t cols, double expected, const Random& random,
                      const Progress& progress, Length&& length, Entry&& value) {
  const Random column_draws = random.stream(0);
  const Random value_draws = random.stream(1);
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    const Offset count = length(row);
    sample_distinct(RandomSequence(column_draws.stream(static_cast<std::uint64_t>(row))), count, cols, columns);
    const Random row_values = value_draws.stream(static_cast<std::uint64_t>(row));
    for (Offset i = 0; i < count; ++i)
      values[i] = static_cast<V>(value(row_values, static_cast<std::uint64_t>(columns[i])));
  };
  return build_rows<V>({rows, cols, expected}, progress, length, fill);
}

double uniform_value(const Random& draws, std::uint64_t column) { return draws.uniform(column); }

}  // namespace

template <Value V>
Csr<V> uniform(Arguments& arguments, const Progress& progress) {
  const std::int64_t rows = arguments.size("ROWS");
  const std::int64_t cols = arguments.named_size("cols", rows);
  const std::int64_t per_row = arguments.number("PER_ROW", 0, cols);
  const Random random(arguments.seed());
  arguments.finish();
  const auto length = [&](std::int64_t) { return Offset{per_row}; };
  const double expected = static_cast<double>(rows) * static_cast<double>(per_row);
  return scattered_rows<V>(rows, cols, expected, random, progress, length, uniform_value);
}

template <Value V>
Csr<V> circuit(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N");
  const std::int64_t hubs = arguments.named("hubs", 5, 0, most_hubs);
  const Random random(arguments.seed());
  arguments.finish();
  const Circuit pattern(n, std::min(hubs, n / 4), random);
  const Random value_draws = random.stream(2);
  const auto count = [&](std::int64_t row) {
    Offset length = 0;
    pattern.visit_row(row, [&](Index) { ++length; });
    return length;
  };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    // Conductances: negative off the diagonal, which outweighs them by one.
    const Random conductance = value_draws.stream(static_cast<std::uint64_t>(row));
    V* diagonal = nullptr;
    double sum = 1;
    pattern.visit_row(row, [&](Index column) {
      const double value = conductance.fraction(static_cast<std::uint64_t>(column));
      if (column == row)
        diagonal = values;
      else
        sum += value;
      *columns++ = column;
      *values++ = static_cast<V>(-value);
    });
    *diagonal = static_cast<V>(sum);
  };
  return build_rows<V>({n, n, pattern.expected_entries()}, progress, count, fill);
}

template <Value V>
Csr<V> lp(Arguments& arguments, const Progress& progress) {
  const std::int64_t rows = arguments.size("ROWS");
  const std::int64_t cols = arguments.size("COLS");
  const std::int64_t shortest = std::min(cols, arguments.named("shortest", 32, 1, INT32_MAX));
  const Random random(arguments.seed());
  arguments.finish();
  const std::int64_t longest = std::max(shortest, cols / 20);
  const Random length_draws = random.stream(2);
  // A row twice as long is half as likely, as in a Pareto distribution of exponent 1.
  const auto length = [&](std::int64_t row) {
    const std::uint64_t word = length_draws.bits(static_cast<std::uint64_t>(row));
    std::int64_t octave = shortest;
    for (int doublings = std::countl_one(word); doublings > 0 && octave < longest; --doublings) octave *= 2;
    const std::int64_t within = length_draws.stream(1).below(octave, static_cast<std::uint64_t>(row));
    return Offset{std::min(longest, octave + within)};
  };
  // Coefficients of linear programs: mostly 1 and -1.
  const auto value = [](const Random& draws, std::uint64_t column) {
    const double number = draws.uniform(column);
    if (number > 0.5) return number;
    return number > -0.25 ? 1.0 : -1.0;
  };
  const double octaves = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(longest / shortest)));
  const double expected = static_cast<double>(rows) * static_cast<double>(shortest) * 0.75 * octaves;
  return scattered_rows<V>(rows, cols, expected, random, progress, length, value);
}

template <Value V>
Csr<V> tall(Arguments& arguments, const Progress& progress) {
  const std::int64_t rows = arguments.has_next() ? arguments.size("ROWS") : 10'000'000;
  const std::int64_t cols = arguments.named_size("cols", std::clamp<std::int64_t>(rows / 100, 1, 100'000));
  const std::int64_t long_rows = arguments.named("long", 5, 0, 1'000'000);
  const Random random(arguments.seed());
  arguments.finish();
  const Random length_draws = random.stream(2);
  const std::int64_t between = long_rows == 0 ? rows + 1 : std::max<std::int64_t>(1, rows / long_rows);
  const auto length = [&](std::int64_t row) {
    const bool is_long = row % between == between / 2 && row / between < long_rows;
    const std::int64_t wanted = is_long ? 10'000 : 1 + length_draws.below(3, static_cast<std::uint64_t>(row));
    return Offset{std::min(cols, wanted)};
  };
  return scattered_rows<V>(rows, cols, 2.0 * static_cast<double>(rows), random, progress, length, uniform_value);
}

template <Value V>
Csr<V> empty_rows(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N");
  const Random random(arguments.seed());
  arguments.finish();
  const Random place_draws = random.stream(2);
  const Random length_draws = random.stream(3);
  // Stretches of 48 rows, a third of each a run of rows with entries that leaves out the first and the last row.
  constexpr std::int64_t stretch = 48;
  const auto length = [&](std::int64_t row) {
    const std::int64_t begin = row / stretch * stretch;
    const std::int64_t rows_here = std::min(stretch, n - begin);
    const std::int64_t filled = rows_here / 3;
    if (filled == 0) return Offset{0};
    const std::int64_t first =
        begin + 1 + place_draws.below(rows_here - filled - 1, static_cast<std::uint64_t>(row / stretch));
    if (row < first || row >= first + filled) return Offset{0};
    return Offset{std::min(n, 1 + length_draws.below(8, static_cast<std::uint64_t>(row)))};
  };
  return scattered_rows<V>(n, n, 1.5 * static_cast<double>(n), random, progress, length, uniform_value);
}

#define WEFT_INSTANTIATE(V)                                \
  template Csr<V> uniform<V>(Arguments&, const Progress&); \
  template Csr<V> circuit<V>(Arguments&, const Progress&); \
  template Csr<V> lp<V>(Arguments&, const Progress&);      \
  template Csr<V> tall<V>(Arguments&, const Progress&);    \
  template Csr<V> empty_rows<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
