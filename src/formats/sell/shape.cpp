// Which C, sigma and t suit a matrix.
#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "formats/sell/sell.hpp"
#include "formats/sell/tuning.hpp"

namespace weft::sell {
namespace {

constexpr Index stretch = 16384;  // rows looked at together, and the largest window
// Windows are tried in these orders.
constexpr Index gpu_windows[] = {1, 256, 1024, 4096, stretch};
constexpr Index cpu_windows[] = {1, 256, 512, 1024, 2048, 4096, 8192, stretch};
constexpr double sorting_costs = 0.02;  // as much as so many more entries: the order itself, and y and x out of order
constexpr double worth_a_larger_window = 0.01;  // of the entries, saved by a larger window
constexpr Offset max_stretches = 8;             // looked at in a large matrix

/// Entries with padding that rows of these lengths would take as they are.
Offset stored_unsorted(const std::vector<Index>& lengths, Index slice_rows) {
  const auto rows = static_cast<Index>(lengths.size());
  Offset entries = 0;
  for (Index begin = 0; begin < rows; begin += slice_rows) {
    const auto first = lengths.begin() + begin;
    entries += slice_rows * static_cast<Offset>(*std::max_element(first, first + std::min(slice_rows, rows - begin)));
  }
  return entries;
}

/// The same sorted in ever larger windows: one number for each of `windows`.
std::vector<Offset> stored_by_window(std::vector<Index> lengths, Index slice_rows, std::span<const Index> windows) {
  const auto rows = static_cast<Index>(lengths.size());
  std::vector<Index> sorted(lengths.size()), starts;
  std::vector<Offset> stored;
  for (const Index window : windows) {
    if (window > 1) {
      for (Index begin = 0; begin < rows; begin += window)
        sort_by_length(
            std::min(window, rows - begin), [&](Index i) { return lengths[static_cast<std::size_t>(begin + i)]; },
            std::identity(), sorted.data() + begin, starts);
      lengths.swap(sorted);
    }
    stored.push_back(stored_unsorted(lengths, slice_rows));
  }
  return stored;
}

/// Some of the rows: their offsets, and one more.
struct Stretch {
  const Offset* offsets = nullptr;
  Index rows = 0;
  Array<Offset> fetched = {};  // what `offsets` are, if they were on a device
};

/// All rows of a small matrix, and max_stretches parts of a large one.
std::vector<Stretch> stretches_of(const RowsToCut& matrix) {
  const Offset all = (matrix.rows + Offset(stretch) - 1) / stretch;
  const Offset count = std::min(all, max_stretches);
  std::vector<Stretch> stretches;
  for (Offset i = 0; i < count; ++i) {
    const auto first = static_cast<Index>(i * all / count * stretch);
    Stretch next{matrix.offsets + first, std::min(stretch, matrix.rows - first)};
    if (!matrix.device.is_cpu()) {
      next.fetched = Array<Offset>(static_cast<std::size_t>(next.rows) + 1);
      detail::copy_to_host(matrix.device, next.fetched.data(), next.offsets, next.fetched.bytes(), {});
      next.offsets = next.fetched.data();
    }
    stretches.push_back(std::move(next));
  }
  return stretches;
}

/// The lengths of those rows of a stretch that are not longer than `longest`.
std::vector<Index> lengths_of(const Stretch& rows, Offset longest) {
  std::vector<Index> lengths;
  lengths.reserve(static_cast<std::size_t>(rows.rows));
  for (Index i = 0; i < rows.rows; ++i)
    if (const Offset length = rows.offsets[i + 1] - rows.offsets[i]; length <= longest)
      lengths.push_back(static_cast<Index>(length));
  return lengths;
}

}  // namespace

std::span<const Index> windows_for(Device device, Index rows) {
  if (!device.is_cpu()) return gpu_windows;
  constexpr Index enough_windows = 8;
  std::size_t count = 2;
  while (count < std::size(cpu_windows) && cpu_windows[count] <= rows / enough_windows) ++count;
  return std::span(cpu_windows).first(count);
}

Window choose_window(const RowsToCut& matrix, Index slice_rows, std::span<const Index> windows, Offset longest) {
  const std::vector<Stretch> stretches = stretches_of(matrix);
  std::vector<std::vector<Index>> lengths(stretches.size());
  Offset unsorted = 0, entries = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    lengths[i] = lengths_of(stretches[i], longest);
    unsorted += stored_unsorted(lengths[i], slice_rows);
    for (const Index length : lengths[i]) entries += length;
  }
  const auto places_per_entry = [&](Offset places) {
    return entries == 0 ? 1.0 : static_cast<double>(places) / static_cast<double>(entries);
  };
  // Where even no padding at all would not pay for sorting, nothing is sorted to see.
  if (places_per_entry(unsorted) <= 1 + sorting_costs + worth_a_larger_window) return {1, places_per_entry(unsorted)};
  std::vector<std::vector<Offset>> stored(stretches.size());
  parallel_for(static_cast<std::int64_t>(stretches.size()), 1, [&](std::int64_t i) {
    const auto which = static_cast<std::size_t>(i);
    stored[which] = stored_by_window(std::move(lengths[which]), slice_rows, windows);
  });
  std::vector<double> total(windows.size(), 0);
  for (std::size_t w = 0; w < total.size(); ++w) {
    Offset places = 0;
    for (const std::vector<Offset>& some : stored) places += some[w];
    total[w] = places_per_entry(places) + (windows[w] > 1 ? sorting_costs : 0);
  }
  const double enough = *std::ranges::min_element(total) + worth_a_larger_window;
  for (std::size_t w = 0; w < total.size(); ++w)
    if (total[w] <= enough) return {windows[w], total[w] - (windows[w] > 1 ? sorting_costs : 0)};
  return {windows.back(), total.back()};
}

int threads_for(Index rows, double mean_row, const Tuning& tuning) {
  int threads = 1;
  while (threads < 32 && Offset(rows) * threads < tuning.enough_threads &&
         mean_row >= 2 * tuning.entries_per_thread * threads)
    threads *= 2;
  return threads;
}

template <Value V>
Shape choose_shape(const RowsToCut& matrix, const BuildOptions& options) {
  const bool cpu = options.device.is_cpu();
  const Index rows = matrix.rows;
  Shape shape;
  shape.slice_rows = static_cast<Index>(options.parameter("c", cpu ? cpu_slice_rows.of<V>() : gpu_slice_rows));
  if (!cpu) {
    const double mean = rows == 0 ? 0 : static_cast<double>(matrix.entries) / rows;
    shape.threads = static_cast<int>(options.parameter("t", threads_for(rows, mean, options.tuning_as<Tuning>())));
  }
  shape.window = options.has("sigma") ? static_cast<Index>(options.parameter("sigma", 1))
                 : rows == 0          ? 1
                                      : choose_window(matrix, shape.slice_rows, windows_for(options.device, rows)).rows;
  shape.window = std::min(shape.window, std::max<Index>(rows, 1));
  shape.group = cpu ? 1 : shape.threads > 1 ? shape.threads : 4;
  shape.may_widen = !cpu && shape.threads == 1 && shape.slice_rows == gpu_slice_rows;
  return shape;
}

bool worth_widening(const Shape& shape, const Census& census, Index slices) {
  if (!shape.may_widen || slices == 0) return false;
  if (census.short_slices != 0 && census.short_slices != slices) return false;
  const auto widened = static_cast<double>(slices) * static_cast<double>(census.widest) * shape.slice_rows;
  return widened <= 1.03 * static_cast<double>(census.entries);
}

std::map<std::string, std::int64_t> numbers_of(const Shape& shape) {
  return {{"c", shape.slice_rows}, {"sigma", shape.window}, {"t", shape.threads}};
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

#define WEFT_INSTANTIATE(V) template Shape choose_shape<V>(const RowsToCut&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::sell
