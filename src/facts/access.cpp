#include "facts/access.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/parallel.hpp"

namespace weft::sampling {

Samples samples_of(Index rows, Offset entries, Effort effort) {
  Samples samples;
  const bool quick = effort == Effort::quick;
  const Offset entry_windows = (entries + window_entries - 1) / window_entries;
  const Offset max_entry_windows =
      quick ? std::clamp<Offset>(entry_windows / quick_share, 1, max_windows) : Offset(max_windows);
  samples.entry_windows = std::min(entry_windows, max_entry_windows);
  if (samples.entry_windows > 0) samples.entry_stride = entry_windows / samples.entry_windows * window_entries;
  const auto row_windows = static_cast<Index>((Offset(rows) + window_rows - 1) / window_rows);
  const Offset entries_per_window = std::max<Offset>(1, entries / std::max<Index>(row_windows, 1));
  const Offset row_entries = quick ? std::min(max_row_entries, entries / quick_share) : max_row_entries;
  const Offset affordable = std::clamp<Offset>(row_entries / entries_per_window, quick ? 1 : 4, max_windows);
  samples.row_windows = std::min<Index>(row_windows, static_cast<Index>(affordable));
  if (samples.row_windows > 0) samples.row_stride = row_windows / samples.row_windows * window_rows;
  if (quick) {
    // The first rows of a matrix are often unlike the others.
    samples.first_entry = (samples.entry_stride - window_entries) / 2;
    samples.first_row = (samples.row_stride - window_rows) / 2;
    samples.first_entry = std::max<Offset>(0, samples.first_entry);
    samples.first_row = std::max(0, samples.first_row / 32 * 32);
  }
  return samples;
}

namespace {

/// How many different things were marked when so many of all places are.
double distinct(Offset marks) {
  constexpr double places = 1 << mark_bits;
  const double free = std::max(1.0, places - static_cast<double>(marks));
  return places * std::log(places / free);
}

struct Shares {
  double requests = 0, sectors = 0;
};

Shares shares_of(const std::vector<Window>& windows) {
  double entries = 0, requests = 0, sectors = 0;
  for (const Window& window : windows) {
    entries += static_cast<double>(window.entries);
    requests += static_cast<double>(window.requests);
    sectors += std::min(distinct(window.marks), static_cast<double>(window.entries));
  }
  if (entries == 0) return {};
  return {requests / entries, sectors / entries};
}

/// One window's marks, on the host.
class Marks {
 public:
  void mark(Index sector) {
    const unsigned place = mark_of(sector);
    words_[place / 64] |= std::uint64_t(1) << place % 64;
  }
  Offset count() const {
    Offset marks = 0;
    for (const std::uint64_t word : words_) marks += std::popcount(word);
    return marks;
  }

 private:
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(std::size_t(1) << (mark_bits - 6));
};

Window look_at_entries(const Index* columns, Offset begin, Offset end, int sector_elements) {
  Window window;
  Marks marks;
  window.entries = end - begin;
  for (Offset i = begin; i < end; ++i) {
    const Index sector = columns[i] / sector_elements;
    marks.mark(sector);
    window.requests += (i - begin) % 32 == 0 || columns[i - 1] / sector_elements != sector;
  }
  window.marks = marks.count();
  return window;
}

/// 32 rows from `first` on.
void look_at_slice(Index rows, const Offset* offsets, const Index* columns, int sector_elements, Index first,
                   Marks& marks, Window& window) {
  const Index last = std::min<Offset>(rows, Offset(first) + 32) < rows ? first + 32 : rows;
  Offset width = 0;
  Index smallest = 0x7fffffff, largest = 0;
  for (Index row = first; row < last; ++row) {
    const Offset begin = offsets[row], end = offsets[row + 1];
    width = std::max(width, end - begin);
    if (begin == end) continue;
    smallest = std::min(smallest, columns[begin]);
    largest = std::max(largest, columns[end - 1]);
  }
  ++window.slices;
  window.narrow += Offset(largest) - smallest < 1 << 16;
  width = std::min(width, max_steps);
  Offset range = 0;
  for (Offset step = 0; step < width; ++step) {
    Offset least = 0x7fffffff, most = -0x7fffffff;
    Index before = -1;  // the sector of the row above
    for (Index row = first; row < last; ++row) {
      const Offset at = offsets[row] + step;
      if (at >= offsets[row + 1]) {
        before = -1;
        continue;
      }
      const Index column = columns[at], sector = column / sector_elements;
      marks.mark(sector);
      ++window.entries;
      window.requests += sector != before;
      before = sector;
      const Offset distance = column - Offset(step == 0 ? row : columns[at - 1]);
      least = std::min(least, distance);
      most = std::max(most, distance);
    }
    range = std::max(range, most - least);
    if (step % 4 == 3 || step == width - 1) {
      window.places += 4 * 32;
      window.bits += 4 * 32 * Offset(packed_width(range)) + 4 * 32;
      range = 0;
    }
  }
}

std::array<Offset, lane_choices> count_slots(Index rows, const Offset* offsets) {
  std::array<std::atomic<Offset>, lane_choices> all{};
  parallel_ranges((Offset(rows) + 31) / 32, 1 << 10, [&](Offset begin, Offset end) {
    std::array<Offset, lane_choices> sums{};
    for (Offset warp = begin; warp < end; ++warp) {
      Offset longest[32] = {};
      for (int lane = 0; lane < 32 && warp * 32 + lane < rows; ++lane)
        longest[lane] = offsets[warp * 32 + lane + 1] - offsets[warp * 32 + lane];
      for (int k = lane_choices - 1; k >= 0; --k) {
        const int teams = 32 >> (lane_choices - 1 - k);  // of 2^k lanes that are left to look at
        const Offset lanes = Offset(1) << k;
        for (int team = 0; team < teams; ++team) sums[k] += (longest[team] + lanes - 1) / lanes * 32;
        for (int team = 0; team < teams / 2; ++team) longest[team] = std::max(longest[2 * team], longest[2 * team + 1]);
      }
    }
    for (int k = 0; k < lane_choices; ++k) all[k] += sums[k];
  });
  std::array<Offset, lane_choices> result{};
  for (int k = 0; k < lane_choices; ++k) result[k] = all[k];
  return result;
}

Ball grow_ball(Index rows, const Offset* offsets, const Index* columns, const BallRequest& request, Index first) {
  const Index nodes = rows / request.block;
  std::vector<bool> seen(static_cast<std::size_t>(nodes));
  std::vector<Index> queue{first};
  seen[first] = true;
  Offset head = 0;
  const auto expand_ring = [&](Offset limit) {
    const auto end = static_cast<Offset>(queue.size());
    for (; head < end && static_cast<Offset>(queue.size()) <= limit; ++head) {
      const Offset row = Offset(queue[head]) * request.block;
      for (Offset i = offsets[row]; i < offsets[row + 1]; ++i) {
        const Index neighbour = columns[i] / request.block;
        if (neighbour >= nodes || seen[neighbour]) continue;
        seen[neighbour] = true;
        queue.push_back(neighbour);
      }
    }
    return static_cast<Offset>(queue.size()) - end;
  };
  while (static_cast<Offset>(queue.size()) < request.nodes && expand_ring(request.limit()) > 0) {
  }
  Ball ball;
  ball.nodes = static_cast<Offset>(queue.size());
  if (ball.nodes <= request.limit()) ball.neighbours = expand_ring(ball.nodes + request.limit());
  return ball;
}

}  // namespace

AccessFacts summarize(const Tally& tally, Offset entries) {
  AccessFacts facts;
  facts.slots = tally.slots;
  const Shares by_entries = shares_of(tally.by_entries), by_rows = shares_of(tally.by_rows);
  facts.entry_requests = by_entries.requests;
  facts.entry_sectors = by_entries.sectors;
  facts.row_requests = by_rows.requests;
  facts.row_sectors = by_rows.sectors;
  double places = 0, bits = 0, slices = 0, narrow = 0;
  for (const Window& window : tally.by_rows) {
    places += static_cast<double>(window.places);
    bits += static_cast<double>(window.bits);
    slices += static_cast<double>(window.slices);
    narrow += static_cast<double>(window.narrow);
    if (window.slices > 0)
      facts.densest_rows =
          std::max(facts.densest_rows, static_cast<double>(window.entries) / (32 * static_cast<double>(window.slices)));
  }
  facts.packed_bits = entries > 0 && places > 0 ? bits / places : 0;
  facts.narrow_slices = slices > 0 ? narrow / slices : 1;
  return facts;
}

BallFacts summarize(const std::array<Ball, balls>& found, const BallRequest& request) {
  BallFacts facts;
  // What is beyond the limit depends on where the search ended.
  const auto told = [&](Offset count) { return static_cast<double>(std::min(count, request.limit() + 1)); };
  for (const Ball& ball : found) {
    facts.nodes += told(ball.nodes) / balls;
    facts.neighbours += told(ball.neighbours) / balls;
    facts.spreads |= ball.nodes > request.limit() || ball.neighbours > request.limit();
  }
  return facts;
}

Tally look_at(Index rows, const Offset* offsets, const Index* columns, int sector_elements, Effort effort) {
  const Offset entries = offsets[rows];
  const Samples samples = samples_of(rows, entries, effort);
  Tally tally;
  if (effort == Effort::full) tally.slots = count_slots(rows, offsets);
  tally.by_entries.resize(static_cast<std::size_t>(samples.entry_windows));
  tally.by_rows.resize(static_cast<std::size_t>(samples.row_windows));
  parallel_for(samples.entry_windows + samples.row_windows, 1, [&](Offset i) {
    if (i < samples.entry_windows) {
      const Offset begin = samples.first_entry + i * samples.entry_stride,
                   end = std::min(entries, begin + window_entries);
      tally.by_entries[i] = look_at_entries(columns, begin, end, sector_elements);
      return;
    }
    const Offset window = i - samples.entry_windows, begin = samples.first_row + window * samples.row_stride;
    const Offset end = std::min<Offset>(rows, begin + window_rows);
    Marks marks;
    // Long rows show within fewer of them how their columns lie.
    const Offset enough = effort == Effort::quick ? window_entries : max_row_entries;
    for (Offset first = begin; first < end && tally.by_rows[window].entries < enough; first += 32)
      look_at_slice(rows, offsets, columns, sector_elements, static_cast<Index>(first), marks, tally.by_rows[window]);
    tally.by_rows[window].marks = marks.count();
  });
  return tally;
}

std::array<Ball, balls> grow_balls(Index rows, const Offset* offsets, const Index* columns,
                                   const BallRequest& request) {
  std::array<Ball, balls> found{};
  const Index nodes = rows / request.block;
  if (nodes == 0) return found;
  parallel_for(balls, 1, [&](Offset i) {
    found[i] = grow_ball(rows, offsets, columns, request, seed(nodes, static_cast<int>(i)));
  });
  return found;
}

}  // namespace weft::sampling
