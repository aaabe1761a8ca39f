// What ehyb expects of itself.
#include <algorithm>
#include <cmath>

#include "facts/blocks.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {
namespace {

// Fitted on an H200 (bench/NOTES.md).
constexpr PerWidth<Costs> gpu_costs{
    .f32 = {.stream = 1.1, .row = 1.9, .chain = 0.2, .start = 1.02},
    .f64 = {.stream = 1.1, .slot = 0.21, .row = 2, .chain = 0.24, .start = 1.05},
};
constexpr PerWidth<Costs> cpu_costs{.f32 = {.slot = 1, .start = 1}, .f64 = {.slot = 1, .start = 1}};
constexpr double padding = 1.03;

/// Launches and passes over the nodes' graph that finding the parts takes on a GPU.
constexpr SetupCosts partition_costs{.launches = 2200, .passes = 150};

std::string reason_against(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  constexpr Offset long_row = 4096;
  constexpr double uneven = 50;
  constexpr std::int64_t min_products = 200;
  if (outlook.products < min_products) return "so few products do not pay for a partition";
  if (rows.rows != rows.cols) return "rows and columns are not the same nodes";
  constexpr double min_mean = 4;
  if (rows.mean_row < min_mean) return "its rows are too short to have much of x in common";
  if (rows.longest_row > long_row && static_cast<double>(rows.longest_row) > uneven * rows.mean_row)
    return "a few rows reach across the matrix, so that its parts have too little in common to cache";
  constexpr Index enough_rows = 1 << 15;
  if (!outlook.device.is_cpu() && rows.rows < enough_rows) return "its rows are too few for parts that keep a GPU busy";
  return "";
}

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  Prediction prediction;
  prediction.against = reason_against(outlook);
  if (!prediction.against.empty()) return {prediction};
  const RowLengths& rows = outlook.rows();
  const bool cpu = outlook.device.is_cpu();
  const int block = outlook.blocks().size;
  const Limits limits = outlook.value_bytes == 4 ? limits_of<float>(outlook.device) : limits_of<double>(outlook.device);
  const Index nodes = rows.rows / block;
  const Shape shape = choose_shape(nodes, block, outlook.value_bytes, limits, {.device = outlook.device});
  const Index own = std::max(1, nodes / std::max(1, shape.parts));
  const BallFacts ball = outlook.balls(block, own);
  if (ball.spreads) {
    prediction.against = "its rows have neighbours all over the matrix, whatever the parts";
    return {prediction};
  }
  // Neighbours are a surface.
  const double guests = ball.nodes > 0 ? ball.neighbours * std::cbrt(std::pow(own / ball.nodes, 2)) : 0;
  const double room = std::max(1.0, static_cast<double>(shape.room - own));
  if (guests > 1.5 * room) {
    prediction.against = "a part's neighbours are more than fit beside it";
    return {prediction};
  }
  const double in_block = static_cast<double>(block) * block;
  const double places = padding * outlook.entries() / outlook.blocks().fill;
  const double listed = static_cast<double>(shape.parts) * std::min(guests, room) + static_cast<double>(nodes);
  const double stored = places * (static_cast<double>(outlook.value_bytes) + 2 / in_block) + 4 * listed + 4.0 * nodes;
  Work work;
  work.bytes = stored + outlook.vector_bytes() +
               static_cast<double>(shape.parts) * guests * static_cast<double>(outlook.value_bytes) * block;
  work.slots = places / block;
  work.rows = nodes;
  work.chain = cpu ? 0 : static_cast<double>(rows.longest_row) / block;
  prediction.product_seconds = seconds_for(work, outlook.of(cpu ? cpu_costs : gpu_costs), outlook);
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 50, .passes = 60} : SetupCosts{.launches = 300, .passes = 30}, outlook);
  if (!outlook.parts_are_known()) {
    const double search = cpu ? 60 * outlook.csr_bytes() / outlook.table.memory_bandwidth
                              : setup_seconds_for(partition_costs, outlook) / in_block;
    prediction.setup_seconds += cpu ? search : std::max(search, partition_costs.launches * outlook.table.launch);
  }
  prediction.bytes = static_cast<std::size_t>(stored);
  return {prediction};
}

}  // namespace weft::ehyb
