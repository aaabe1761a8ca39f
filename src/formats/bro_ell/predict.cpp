// What bro-ell expects of itself.
#include "formats/bro_ell/bro_ell.hpp"

namespace weft::bro_ell {
namespace {

// Fitted on an H200 (bench/NOTES.md).
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.request = 0.35, .sector = 0.75, .row = 0.74, .chain = 0.81, .start = 0.85},
    .f64 = {.request = 0.26, .sector = 0.81, .row = 0.75, .chain = 0.83, .start = 0.86},
};
constexpr double max_padding = 0.5;
constexpr double packed_better = 0.8;  // its widths are any number of bits, those of bro-sell rounded up

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  Prediction prediction;
  const double places = static_cast<double>(rows.longest_row) * rows.rows;
  if (outlook.device.is_cpu())
    prediction.against = "unpacking takes a CPU longer than the bytes";
  else if (places > (1 + max_padding) * outlook.entries())
    prediction.against = "rows are too uneven: padding would take more than half as much again";
  if (!prediction.against.empty()) return {prediction};
  const double stored =
      places * (static_cast<double>(outlook.value_bytes) + packed_better * outlook.access().packed_bits / 8);
  Work work;
  work.bytes = stored + outlook.vector_bytes();
  work.slots = places;
  work.rows = rows.rows;
  work.chain = static_cast<double>(rows.longest_row);
  fetch_by_rows(outlook, work);
  prediction.product_seconds = seconds_for(work, outlook.of(gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for({.launches = 75, .passes = 10}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::bro_ell
