#include <atomic>

#include "generate/build.hpp"
#include "generate/random.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

namespace {

struct Edge {
  Index from, to;
};

/// Walks from the whole matrix down to one entry, choosing a quarter at each of `scale` levels with the probabilities
/// 0.57, 0.19, 0.19 and 0.05 (Chakrabarti, Zhan, Faloutsos, SDM 2004; the numbers are Graph500's).
Edge rmat_edge(const Random& random, std::int64_t edge, int scale) {
  constexpr auto threshold = [](double probability) { return static_cast<std::uint32_t>(probability * 0x1p32); };
  constexpr std::uint32_t upper_left = threshold(0.57), upper = threshold(0.76), left = threshold(0.95);
  const Random draws = random.stream(static_cast<std::uint64_t>(edge));
  Edge result{0, 0};
  std::uint64_t word = 0;
  for (int level = 0; level < scale; ++level) {
    // One word serves two levels.
    word = level % 2 == 0 ? draws.bits(static_cast<std::uint64_t>(level)) : word >> 32;
    const auto draw = static_cast<std::uint32_t>(word);
    // Sums of comparisons, since no branch predictor guesses these right.
    const Index down = draw >= upper;
    const Index right = Index{draw >= upper_left} - Index{draw >= upper} + Index{draw >= left};
    result.from = 2 * result.from + down;
    result.to = 2 * result.to + right;
  }
  return result;
}

}  // namespace

/// 1. Count the sampled edges of each row.  2. Drop each edge's column into its row, in whatever order threads arrive.
/// 3. Sort each row and keep one of equal columns: now nothing depends on that order.  4. Move to arrays of the final
/// size; values come from the entry's place.
template <Value V>
Csr<V> rmat(Arguments& arguments, const Progress& progress) {
  const std::int64_t scale = arguments.number("SCALE", 0, 30);
  const std::int64_t per_row = arguments.named("edges", 16, 1, INT32_MAX);
  const Random random(arguments.seed());
  arguments.finish();
  const std::int64_t n = std::int64_t{1} << scale;
  const std::int64_t edges = n * per_row;
  // The sampled edges stay until the matrix, from which equal ones are gone, is filled.
  const double merged = std::min(static_cast<double>(edges), static_cast<double>(n) * static_cast<double>(n));
  require_memory(2.0 * static_cast<double>(n) * sizeof(Offset) + static_cast<double>(edges) * sizeof(Index) +
                 merged * (sizeof(Index) + sizeof(V)));
  constexpr std::int64_t grain = 1 << 14;
  const Random edge_draws = random.stream(0);
  const Random value_draws = random.stream(1);

  Array<Offset> ends(static_cast<std::size_t>(n) + 1);
  parallel_for(n + 1, grain, [&](std::int64_t row) { ends[row] = 0; });
  io::ProgressMeter counting(progress, edges, 0, 0.3);
  parallel_ranges(edges, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t edge = begin; edge < end; ++edge) {
      const Edge place = rmat_edge(edge_draws, edge, static_cast<int>(scale));
      std::atomic_ref(ends[place.from]).fetch_add(1, std::memory_order_relaxed);
    }
    counting.add(end - begin);
  });
  prefix_sum(ends.data(), n);
  Array<Index> sampled(static_cast<std::size_t>(edges));
  io::ProgressMeter placing(progress, edges, 0.3, 0.6);
  parallel_ranges(edges, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t edge = begin; edge < end; ++edge) {
      const Edge place = rmat_edge(edge_draws, edge, static_cast<int>(scale));
      // Each row's start moves to its end while it is filled.
      sampled[std::atomic_ref(ends[place.from]).fetch_add(1, std::memory_order_relaxed)] = place.to;
    }
    placing.add(end - begin);
  });

  const auto row_of_samples = [&](std::int64_t row) {
    const Offset begin = row == 0 ? 0 : ends[row - 1];
    return std::span<Index>(sampled.data() + begin, static_cast<std::size_t>(ends[row] - begin));
  };
  const auto count = [&](std::int64_t row) {
    const std::span<Index> samples = row_of_samples(row);
    std::sort(samples.begin(), samples.end());
    Offset distinct = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) distinct += i == 0 || samples[i] != samples[i - 1] ? 1 : 0;
    return distinct;
  };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    const Random row_values = value_draws.stream(static_cast<std::uint64_t>(row));
    const std::span<Index> samples = row_of_samples(row);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i > 0 && samples[i] == samples[i - 1]) continue;
      *columns++ = samples[i];
      *values++ = static_cast<V>(row_values.uniform(static_cast<std::uint64_t>(samples[i])));
    }
  };
  const auto last_part = [&](double share) { return progress(0.6 + 0.4 * share); };
  return build_rows<V>({n, n, merged}, progress ? Progress(last_part) : Progress(), count, fill);
}

#define WEFT_INSTANTIATE(V) template Csr<V> rmat<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
