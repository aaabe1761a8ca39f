#include "formats/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

/// Seconds to read so many bytes again and again. What nearly fills the cache is partly evicted.
double read_seconds(double bytes, const DeviceTable& table) {
  const double from_cache = bytes / table.cache_bandwidth, from_memory = bytes / table.memory_bandwidth;
  const double fits = 0.73 * table.cache_bytes, does_not = 1.07 * table.cache_bytes;
  const double share = std::clamp((bytes - fits) / (does_not - fits), 0.0, 1.0);
  return from_cache + share * (from_memory - from_cache);
}

/// How much longer a sector of x takes that the cache may not hold.
double distance(const Outlook& outlook) {
  const double x_bytes = static_cast<double>(outlook.rows().cols) * static_cast<double>(outlook.value_bytes);
  return 1 + 2 * std::clamp(x_bytes / outlook.table.cache_bytes - 0.4, 0.0, 1.0);
}

}  // namespace

double seconds_for(const Work& work, const Costs& costs, const Outlook& outlook) {
  const DeviceTable& table = outlook.table;
  const double stream = costs.stream * read_seconds(work.bytes, table);
  const double fetch = table.sector * (costs.request * work.requests + costs.sector * work.sectors * distance(outlook) +
                                       costs.row * work.rows + costs.turn * work.turns);
  const double slots = table.hit * costs.slot * work.slots;
  const double all = costs.start * table.launch + std::sqrt(stream * stream + fetch * fetch + slots * slots);
  const double longest = 0.5 * table.launch + costs.chain * table.latency * work.chain;
  return std::max({work.launches * table.launch, all, longest});
}

double setup_seconds_for(const SetupCosts& costs, const Outlook& outlook) {
  const DeviceTable& table = outlook.table;
  return costs.launches * table.launch + costs.passes * outlook.csr_bytes() / table.memory_bandwidth +
         costs.row * table.sector * outlook.rows().rows;
}

double turns_of(const RowLengths& rows) {
  double alike = 0;
  for (const LengthCount& count : rows.row_lengths) alike += static_cast<double>(count.rows) * count.rows;
  return rows.rows == 0 ? 0 : rows.rows - alike / rows.rows;
}

double sorted_places(const RowLengths& rows, Index slice_rows) {
  // From the longest row down: each slice is as wide as the first of its rows.
  double places = 0;
  Offset left = 0;  // of the present slice
  for (auto count = rows.row_lengths.rbegin(); count != rows.row_lengths.rend(); ++count) {
    const Offset others = std::max<Offset>(0, count->rows - left);
    const Offset slices = (others + slice_rows - 1) / slice_rows;
    places += static_cast<double>(slices) * slice_rows * static_cast<double>(count->length);
    left = left + slices * slice_rows - count->rows;
  }
  return places;
}

}  // namespace weft
