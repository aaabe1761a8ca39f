// BAR: rows that compress well together into one slice. The paper's greedy tries every slice for every row; here a row
// is tried only in the slices of its chunk, 64 at most, so that the time is linear.
#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"
#include "core/progress_meter.hpp"
#include "order/bar.hpp"
#include "order/methods.hpp"
#include "order/regroup.hpp"

namespace weft::ordering {
namespace {

/// A chunk is cut short before it holds more entries than this, unless it is a single slice.
constexpr Offset chunk_entries = 1 << 22;

struct Candidate {
  Array<Index> rows;
  Offset cost = 0;
  int place = 0;  // among those weighed: of equals the first is taken
};

bool better(const Candidate& a, const Candidate& b) { return a.cost != b.cost ? a.cost < b.cost : a.place < b.place; }

/// Where the chunks of an order begin, a multiple of the slice each, and the number of rows at the end.
std::vector<Offset> chunks_of(const Pattern& pattern, const Array<Index>& rows, Offset slice_rows) {
  std::vector<Offset> begins{0};
  Offset entries = 0;
  const auto count = static_cast<Offset>(rows.size());
  for (Offset slice = 0; slice < count; slice += slice_rows) {
    Offset more = 0;
    for (Offset i = slice; i < std::min(count, slice + slice_rows); ++i) more += pattern.length(rows[i]);
    if (slice - begins.back() >= chunk_slices * slice_rows ||
        (slice > begins.back() && entries + more > chunk_entries)) {
      begins.push_back(slice);
      entries = 0;
    }
    entries += more;
  }
  begins.push_back(count);
  return begins;
}

}  // namespace

// 1. Four orders are weighed: as it stands, by length, and both with rows side by side that begin in the same line of
// x.
// 2. The two best are cut into chunks of some slices, and the greedy runs in each of them, where it helps.
// 3. The best of all is taken; the order as it stands when nothing is better.
Array<Index> bro_aware(const Pattern& pattern, const BarModel& model, Index line_elements, const Progress& progress) {
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto first_line = [&](Index row) {
    return pattern.length(row) == 0 ? 0 : pattern.columns[pattern.offsets[row]] / line_elements;
  };
  const Offset lines = std::max<Offset>(1, (Offset(pattern.cols) + line_elements - 1) / line_elements);
  const Offset work = pattern.nonzeros() + pattern.rows;
  io::ProgressMeter meter(progress, 4 * work + 2 * 4 * work);

  Array<Index> natural(rows);
  std::iota(natural.begin(), natural.end(), 0);
  const Array<Index> by_line = regroup(natural, lines, first_line);
  std::vector<Candidate> candidates;
  for (const Array<Index>& order : {natural, by_length(pattern), by_line, by_length(pattern, by_line)}) {
    candidates.push_back({order, objective(pattern, order, model, line_elements), static_cast<int>(candidates.size())});
    meter.add(work);
  }
  const Candidate as_it_stands = candidates.front();
  std::ranges::sort(candidates, better);
  candidates.resize(2);

  for (Candidate& candidate : candidates) {
    candidate.rows = candidate.rows.clone();
    const std::vector<Offset> begins = chunks_of(pattern, candidate.rows, model.slice_rows);
    parallel_ranges(static_cast<std::int64_t>(begins.size()) - 1, 1, [&](std::int64_t chunk, std::int64_t) {
      const std::span<Index> part(candidate.rows.data() + begins[chunk],
                                  static_cast<std::size_t>(begins[chunk + 1] - begins[chunk]));
      improve_chunk(pattern, part, model, line_elements);
      Offset entries = 0;
      for (const Index row : part) entries += pattern.length(row) + 1;
      meter.add(4 * entries);
    });
    candidate.cost = objective(pattern, candidate.rows, model, line_elements);
  }
  const Candidate& best = *std::ranges::min_element(candidates, better);
  return best.cost < as_it_stands.cost ? best.rows : as_it_stands.rows;
}

}  // namespace weft::ordering
