// Which C, sigma and t suit a matrix.
#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "formats/sell/sell.hpp"
#include "formats/sell/tuning.hpp"

namespace weft::sell {
namespace {

constexpr Index stretch = 16384;                            // rows looked at together, and the largest window
constexpr Index windows[] = {1, 256, 1024, 4096, stretch};  // tried in this order
constexpr double sorting_costs = 0.02;  // as much as so many more entries: the order itself, and y and x out of order
constexpr double worth_a_larger_window = 0.01;  // of the entries, saved by a larger window
constexpr Offset most_stretches = 16;           // looked at in a large matrix

/// Sorts lengths in descending order; they are counted if the longest is not out of proportion.
void sort_descending(std::vector<Index>& lengths, std::size_t begin, std::size_t end, std::vector<Index>& counts) {
  const auto first = lengths.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(end);
  const Index longest = *std::max_element(first, last);
  if (static_cast<std::size_t>(longest) > 4 * (end - begin)) return std::sort(first, last, std::greater<>());
  counts.assign(static_cast<std::size_t>(longest) + 1, 0);
  for (auto length = first; length != last; ++length) ++counts[static_cast<std::size_t>(*length)];
  auto to = first;
  for (Index length = longest; length >= 0; --length) {
    const Index count = counts[static_cast<std::size_t>(length)];
    std::fill_n(to, count, length);
    to += count;
  }
}

/// Entries with padding that some rows would take, sorted in ever larger windows: one number for each of `windows`.
std::vector<Offset> stored_by_window(const Offset* offsets, Index rows, Index slice_rows) {
  std::vector<Index> lengths(static_cast<std::size_t>(rows)), counts;
  for (Index i = 0; i < rows; ++i)
    lengths[static_cast<std::size_t>(i)] = static_cast<Index>(offsets[i + 1] - offsets[i]);
  std::vector<Offset> stored;
  for (const Index window : windows) {
    if (window > 1)
      for (Index begin = 0; begin < rows; begin += window)
        sort_descending(lengths, static_cast<std::size_t>(begin),
                        static_cast<std::size_t>(std::min(rows, begin + window)), counts);
    Offset entries = 0;
    for (Index begin = 0; begin < rows; begin += slice_rows) {
      const auto first = lengths.begin() + begin;
      entries += slice_rows * static_cast<Offset>(*std::max_element(first, first + std::min(slice_rows, rows - begin)));
    }
    stored.push_back(entries);
  }
  return stored;
}

/// The smallest window that leaves hardly more padding than the best, judged by some stretches of rows.
Index choose_window(const Array<Offset>& offsets, Index rows, Index slice_rows) {
  const Offset stretches = (rows + Offset(stretch) - 1) / stretch;
  const Offset looked_at = std::min(stretches, most_stretches);
  std::vector<std::vector<Offset>> stored(static_cast<std::size_t>(looked_at));
  std::vector<Offset> own(static_cast<std::size_t>(looked_at));
  parallel_for(looked_at, 1, [&](std::int64_t i) {
    const auto first = static_cast<Index>(i * stretches / looked_at * stretch);
    const Index count = std::min(stretch, rows - first);
    stored[static_cast<std::size_t>(i)] = stored_by_window(offsets.data() + first, count, slice_rows);
    own[static_cast<std::size_t>(i)] = offsets[first + count] - offsets[first];
  });
  std::vector<Offset> total(std::size(windows), 0);
  Offset entries = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    for (std::size_t w = 0; w < total.size(); ++w) total[w] += stored[i][w];
    entries += own[i];
  }
  for (std::size_t w = 1; w < total.size(); ++w)
    total[w] += static_cast<Offset>(sorting_costs * static_cast<double>(entries));
  const double enough =
      static_cast<double>(*std::ranges::min_element(total)) + worth_a_larger_window * static_cast<double>(entries);
  for (std::size_t w = 0; w < total.size(); ++w)
    if (static_cast<double>(total[w]) <= enough) return windows[w];
  return stretch;
}

}  // namespace

Shape choose_shape(const Array<Offset>& offsets, Index rows, const BuildOptions& options, std::size_t value_bytes) {
  const bool cpu = options.device.is_cpu();
  Shape shape;
  shape.slice_rows = static_cast<Index>(options.parameter("c", cpu ? (value_bytes == 4 ? 16 : 8) : 32));
  if (!cpu) {
    // Threads a row only where there are too few rows to keep a GPU busy.
    const auto tuning = options.tuning_as<Tuning>();
    const double mean = rows == 0 ? 0 : static_cast<double>(offsets[rows]) / rows;
    while (shape.threads < 32 && Offset(rows) * shape.threads < tuning.enough_threads &&
           mean >= 2 * tuning.entries_per_thread * shape.threads)
      shape.threads *= 2;
    shape.threads = static_cast<int>(options.parameter("t", shape.threads));
  }
  shape.window = options.has("sigma") ? static_cast<Index>(options.parameter("sigma", 1))
                 : rows == 0          ? 1
                                      : choose_window(offsets, rows, shape.slice_rows);
  shape.window = std::min(shape.window, std::max<Index>(rows, 1));
  shape.group = cpu ? 1 : shape.threads > 1 ? shape.threads : 4;
  shape.may_widen = !cpu && shape.threads == 1 && shape.slice_rows == 32;
  return shape;
}

bool worth_widening(const Shape& shape, const Census& census, Index slices) {
  if (!shape.may_widen || slices == 0) return false;
  if (census.short_slices != 0 && census.short_slices != slices) return false;
  const auto widened = static_cast<double>(slices) * static_cast<double>(census.widest) * shape.slice_rows;
  return widened <= 1.03 * static_cast<double>(census.entries);
}

std::string describe(const Shape& shape, Index short_slices, Index slices, bool equally_wide) {
  std::string text = "C = " + std::to_string(shape.slice_rows) + ", sigma = " + std::to_string(shape.window) +
                     ", t = " + std::to_string(shape.threads);
  if (short_slices == slices)
    text += ", 16-bit columns";
  else if (short_slices == 0)
    text += ", 32-bit columns";
  else
    text += ", 16-bit columns in " + std::to_string(short_slices) + " of " + std::to_string(slices) + " slices";
  if (equally_wide) text += ", equally wide";
  return text;
}

}  // namespace weft::sell
