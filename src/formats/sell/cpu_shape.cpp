// Which C, sigma and hubs suit a matrix on a CPU, or whether it has runs instead.
#include <algorithm>
#include <functional>
#include <vector>

#include "facts/runs.hpp"
#include "formats/sell/cpu_storage.hpp"

namespace weft::sell {
namespace {

/// A run is a load of x where a gather is one per entry; a slice that has both pays for changing between them. So runs
/// are looked for if more of the entries than this are in some.
constexpr double enough_in_runs = 0.7;
constexpr Index rows_per_hub = 64;  ///< at most one row of so many is a hub
/// Hubs are set apart if that saves so much of what is stored without: their order scatters y.
constexpr double worth_hubs = 0.04;
/// The same for slices of fewer rows, of which there are more.
constexpr double worth_fewer_rows = 0.05;

struct Hubs {
  Index length = 0;            ///< longer rows are hubs; 0: there are none
  std::vector<Index> lengths;  ///< theirs, longest first
  Offset entries = 0;
};

Hubs find_hubs(const RowsToCut& matrix) {
  constexpr Index max_counted = 4096;
  std::vector<Index> rows_of_length(max_counted + 1, 0);
  for (Index row = 0; row < matrix.rows; ++row)
    ++rows_of_length[static_cast<std::size_t>(
        std::min<Offset>(matrix.offsets[row + 1] - matrix.offsets[row], max_counted))];
  Hubs hubs;
  Index longer = rows_of_length[max_counted];
  for (hubs.length = max_counted - 1; hubs.length > 0; --hubs.length) {
    const Index these = rows_of_length[static_cast<std::size_t>(hubs.length)];
    if (longer + these > matrix.rows / rows_per_hub) break;
    longer += these;
  }
  for (Index row = 0; row < matrix.rows; ++row)
    if (const Offset length = matrix.offsets[row + 1] - matrix.offsets[row]; length > hubs.length) {
      hubs.lengths.push_back(static_cast<Index>(length));
      hubs.entries += length;
    }
  std::ranges::sort(hubs.lengths, std::greater());
  if (hubs.lengths.empty()) hubs.length = 0;
  return hubs;
}

/// A way to sort rows, and the places that they take.
struct Sorting {
  Index window = 1, hubs = 0;
  double places = 0;
};

Sorting choose_sorting(const RowsToCut& matrix, const Hubs& hubs, Index slice_rows) {
  const auto windows = windows_for(matrix.device, matrix.rows);
  const Window plain = choose_window(matrix, slice_rows, windows);
  const Sorting without{plain.rows, 0, plain.places_per_entry * static_cast<double>(matrix.entries)};
  if (plain.rows == 1 || hubs.length == 0) return without;
  const Window rest = choose_window(matrix, slice_rows, windows, hubs.length);
  double places = rest.places_per_entry * static_cast<double>(matrix.entries - hubs.entries);
  for (std::size_t first = 0; first < hubs.lengths.size(); first += static_cast<std::size_t>(slice_rows))
    places += static_cast<double>(hubs.lengths[first]) * slice_rows;
  if (places > (1 - worth_hubs) * without.places) return without;
  return {rest.rows, hubs.length, places};
}

}  // namespace

template <Value V>
Shape choose_cpu_shape(const MatrixSource<V>& source, const BuildOptions& options) {
  const RowsToCut rows = rows_to_cut(source, options.device);
  Shape shape = choose_shape<V>(rows, options);
  const bool is_given = options.has("sigma") || options.has("hubs");
  shape.hubs = static_cast<Index>(options.parameter("hubs", 0));
  if (may_have_runs(shape.slice_rows) && shape.hubs == 0 && (shape.window == 1 || !options.has("sigma"))) {
    shape.runs = options.has("runs") ? options.parameter("runs", 0) != 0
                                     : facts::share_in_runs(source.host(), shape.slice_rows) > enough_in_runs;
    if (shape.runs) {  // sorted rows have none
      shape.window = 1;
      return shape;
    }
  }
  if (is_given || shape.window == 1) return shape;
  const Hubs hubs = find_hubs(rows);
  Sorting sorting = choose_sorting(rows, hubs, shape.slice_rows);
  constexpr Index fewer_rows = 8;
  if (shape.slice_rows > fewer_rows && !options.has("c")) {
    const Sorting finer = choose_sorting(rows, hubs, fewer_rows);
    if (finer.places < (1 - worth_fewer_rows) * sorting.places) {
      shape.slice_rows = fewer_rows;
      sorting = finer;
    }
  }
  shape.window = std::min(sorting.window, std::max<Index>(1, rows.rows));
  shape.hubs = sorting.hubs;
  return shape;
}

#define WEFT_INSTANTIATE(V) template Shape choose_cpu_shape<V>(const MatrixSource<V>&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::sell
