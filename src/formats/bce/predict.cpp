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
// Fitted to 48 matrices on an EPYC.
constexpr PerWidth<Costs> cpu_costs{
    .f32 = {.stream = 1.05, .request = 0.27, .sector = 2.4, .slot = 0.86, .row = 1.5, .start = 1},
    .f64 = {.stream = 1.25, .request = 0.31, .sector = 2, .slot = 0.85, .row = 1.5, .start = 1},
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
  if (static_cast<double>(rows.longest_row) <= 1.25 * rows.mean_row)
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
  const bool cpu = outlook.device.is_cpu();
  if (cpu) {
    work.rows = rows.rows;
  } else {
    work.chain = longest_share(rows, tuning, device_threads);
    work.launches = rows.longest_row > tuning.longest_row ? 2 : 1;
  }
  fetch_by_rows(outlook, work);
  prediction.product_seconds = seconds_for(work, outlook.of(cpu ? cpu_costs : gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 150, .passes = 20} : SetupCosts{.launches = 107, .passes = 11, .row = 35}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::bce
