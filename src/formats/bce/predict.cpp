// What bce expects of itself.
#include <algorithm>

#include "formats/bce/bce.hpp"
#include "formats/bce/tuning.hpp"

namespace weft::bce {
namespace {

// Fitted on an H200 (bench/NOTES.md).
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.request = 0.6, .sector = 0.61, .slot = 0.62, .chain = 0.92, .start = 0.88},
    .f64 = {.request = 0.57, .sector = 0.81, .slot = 1.21, .chain = 1.18, .start = 0.89},
};

/// Entries of the longest row, or piece of one, that a thread has.
double longest_share(const RowLengths& rows, const Tuning& tuning, double device_threads) {
  const double share = std::clamp(static_cast<double>(rows.nonzeros) / device_threads,
                                  static_cast<double>(tuning.min_entries_per_thread),
                                  static_cast<double>(tuning.max_entries_per_thread));
  const auto longest = static_cast<double>(std::min<Offset>(rows.longest_row, tuning.longest_row));
  double threads = 1;
  while (threads < 32 && longest / threads > share) threads *= 2;
  return longest / threads;
}

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  Prediction prediction;
  if (outlook.device.is_cpu())
    prediction.against = "on a CPU csr is as fast without moving rows";
  else if (static_cast<double>(rows.longest_row) <= 1.25 * rows.mean_row)
    prediction.against = "rows are even enough for sell, whose columns take fewer bytes";
  if (!prediction.against.empty()) return {prediction};
  constexpr double padding = 1.02;
  constexpr double device_threads = 132 * 2048.0;
  const auto tuning = Tuning::on(outlook.device);
  const double places = padding * outlook.entries();
  const double stored = places * static_cast<double>(outlook.value_bytes + sizeof(Index)) + 4.0 * rows.rows;
  Work work;
  work.bytes = stored + outlook.vector_bytes();
  work.slots = places;
  work.chain = longest_share(rows, tuning, device_threads);
  work.launches = rows.longest_row > tuning.longest_row ? 2 : 1;
  fetch_by_rows(outlook, work);
  prediction.product_seconds = seconds_for(work, outlook.of(gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for({.launches = 120, .passes = 13}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::bce
