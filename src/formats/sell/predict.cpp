// What sell expects of itself.
#include <algorithm>

#include "formats/sell/sell.hpp"
#include "formats/sell/tuning.hpp"

namespace weft::sell {
namespace {

// Fitted on an H200 (bench/NOTES.md).
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.request = 0.66, .sector = 0.52, .slot = 0.07, .chain = 0.83, .start = 0.84},
    .f64 = {.request = 0.65, .sector = 0.62, .chain = 0.91, .start = 0.84},
};
// Fitted to 48 matrices on an EPYC.
constexpr PerWidth<Costs> cpu_costs{
    .f32 = {.stream = 0.9, .request = 0.2, .sector = 2.4, .slot = 0.76, .row = 1.5, .start = 1},
    .f64 = {.stream = 1.2, .request = 0.25, .sector = 1.7, .slot = 0.8, .row = 2.1, .start = 1}};
// Set by hand, not fitted.
constexpr double run_share = 0.2;              // what an entry in a run takes of one that is gathered ...
constexpr double row_of_runs_share = 0.4;      // ... and a row of them of another
constexpr double max_unsorted_padding = 0.03;  // more, and rows are sorted

}  // namespace

SlicePrediction predict_slices(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  const double entries = outlook.entries();
  SlicePrediction slices;
  const bool cpu = outlook.device.is_cpu();
  const Index slice_rows = cpu ? outlook.of(cpu_slice_rows) : gpu_slice_rows;
  if (!cpu) {
    const auto tuning = Tuning::on(outlook.device);
    slices.threads = threads_for(rows.rows, rows.mean_row, tuning);
  }
  // One long row costs a slice of its length.
  const double sorted = sorted_places(rows, slice_rows);
  constexpr double max_padding = 1.0;
  if (sorted > (1 + max_padding) * entries + 1e5) {
    slices.against = "the slices of its longest rows would be mostly padding";
    return slices;
  }
  slices.places = sorted;
  if (!cpu && static_cast<double>(outlook.access().slots[0]) <= (1 + max_unsorted_padding) * entries)
    slices.places = static_cast<double>(outlook.access().slots[0]);
  else
    slices.sorted = static_cast<double>(rows.longest_row) > rows.mean_row * (1 + max_unsorted_padding);
  slices.longest = static_cast<double>(rows.longest_row) / slices.threads;
  return slices;
}

std::vector<Prediction> predict(const Outlook& outlook) {
  const SlicePrediction slices = predict_slices(outlook);
  Prediction prediction;
  prediction.against = slices.against;
  if (!prediction.against.empty()) return {prediction};
  const double narrow = outlook.access().narrow_slices;
  // Entries in runs have no columns and are not gathered; rows are then not sorted.
  const double gathered = 1 - outlook.access().in_runs;
  const double order_bytes = slices.sorted && gathered > 0.5 ? 4.0 * outlook.rows().rows : 0;
  const double stored = slices.places * (static_cast<double>(outlook.value_bytes) + gathered * (4 - 2 * narrow)) +
                        order_bytes + outlook.rows().rows / 2.0;
  Work work;
  work.bytes = stored + outlook.vector_bytes();
  work.slots = slices.places;
  work.chain = slices.longest;
  fetch_by_rows(outlook, work);
  const bool cpu = outlook.device.is_cpu();
  if (cpu) {
    work.chain = 0;
    work.rows = outlook.rows().rows * (gathered + row_of_runs_share * (1 - gathered));
    work.slots *= gathered + run_share * (1 - gathered);
    work.requests *= gathered;
    work.sectors *= gathered;
  }
  prediction.product_seconds = seconds_for(work, outlook.of(cpu ? cpu_costs : gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 100, .passes = 12} : SetupCosts{.launches = 100, .passes = 5, .row = 27}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::sell
