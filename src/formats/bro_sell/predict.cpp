// What bro-sell expects of itself.
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/sell/sell.hpp"

namespace weft::bro_sell {
namespace {

// Fitted on an H200 (bench/NOTES.md). In blocks a thread fetches x for b * b entries at once.
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.request = 0.44, .sector = 0.68, .row = 0.9, .chain = 0.55, .start = 0.8},
    .f64 = {.request = 0.49, .sector = 0.75, .row = 0.3, .chain = 0.72, .start = 0.8},
};
// Of blocks, on an EPYC; on a CPU a block of 2 takes as long as its four entries.
constexpr PerWidth<Costs> cpu_costs{.f32 = {.stream = 0.95, .slot = 1.2, .start = 15},
                                    .f64 = {.stream = 0.95, .slot = 1.4, .start = 15}};
constexpr int min_cpu_block = 3;
// What a block in a run takes of one that is gathered: by instructions, and not fitted (bench/NOTES.md). Rows of
// entries tell how many blocks are.
constexpr double run_share = 0.4;

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  const sell::SlicePrediction slices = sell::predict_slices(outlook);
  Prediction prediction;
  prediction.against = slices.against;
  const bool cpu = outlook.device.is_cpu();
  const std::int64_t min_products = cpu ? 200 : 50;
  if (outlook.products < min_products) prediction.against = "so few products do not pay for packing";
  if (prediction.against.empty() && cpu && outlook.blocks().size < min_cpu_block)
    prediction.against = "without blocks of 3 or more, unpacking takes a CPU longer than the bytes";
  if (!prediction.against.empty()) return {prediction};
  const BlockFacts& blocks = outlook.blocks();
  const double block = blocks.size, in_block = block * block;
  const double places = slices.places / blocks.fill;
  const double order_bytes = slices.sorted ? 4.0 * outlook.rows().rows / block : 0;
  const double stored =
      places * (static_cast<double>(outlook.value_bytes) + outlook.access().packed_bits / 8 / in_block) + order_bytes;
  Work work;
  work.bytes = stored + outlook.vector_bytes();
  work.slots = places / block;
  if (cpu) work.slots *= 1 - (1 - run_share) * outlook.access().in_runs;
  work.rows = outlook.rows().rows;
  work.chain = cpu ? 0 : slices.longest / block;
  fetch_by_rows(outlook, work);
  work.requests /= in_block;
  prediction.product_seconds = seconds_for(work, outlook.of(cpu ? cpu_costs : gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 100, .passes = 20} : SetupCosts{.launches = 200, .passes = 10, .row = 13}, outlook);
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::bro_sell
