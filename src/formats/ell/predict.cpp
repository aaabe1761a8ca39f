// What ell expects of itself.
#include "formats/ell/ell.hpp"
#include "formats/ell/tuning.hpp"

namespace weft::ell {
namespace {

// Fitted on an H200 (bench/NOTES.md).
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.request = 0.27, .sector = 1, .row = 0.7, .chain = 0.67, .start = 0.8},
    .f64 = {.request = 0.4, .sector = 0.82, .row = 0.65, .chain = 0.9, .start = 0.78},
};
// Fitted to 24 matrices on an EPYC.
constexpr PerWidth<Costs> cpu_costs{
    .f32 = {.stream = 1.39, .request = 0.64, .sector = 4.7, .slot = 0.54, .row = 0.29, .turn = 7.6, .start = 1},
    .f64 = {.stream = 1.46, .request = 0.82, .sector = 3.5, .slot = 0.71, .turn = 5.5, .start = 1}};
constexpr double max_padding = 0.5;

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  Prediction prediction;
  const double places = static_cast<double>(rows.longest_row) * rows.rows;
  if (places > (1 + max_padding) * outlook.entries()) {
    prediction.against = "rows are too uneven: padding would take more than half as much again";
    return {prediction};
  }
  const bool cpu = outlook.device.is_cpu();
  BuildOptions options{.device = outlook.device};
  const Shape shape = choose_shape(rows, outlook.value_bytes, options, std::nullopt);
  const double stored = places * static_cast<double>(outlook.value_bytes + sizeof(Index));
  Work work;
  // Where lengths are known, padding is not read.
  const double read = shape.variant == Variant::plain ? stored : outlook.csr_bytes();
  work.bytes = read + outlook.vector_bytes();
  work.slots = places;
  work.rows = rows.rows;
  if (cpu) work.turns = turns_of(rows);
  work.chain = cpu ? 0 : static_cast<double>(rows.longest_row) / shape.threads;
  fetch_by_rows(outlook, work);
  prediction.product_seconds = seconds_for(work, outlook.of(cpu ? cpu_costs : gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 100, .passes = 25} : SetupCosts{.launches = 45, .passes = 12}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::ell
