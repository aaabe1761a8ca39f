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
// Fitted to 48 matrices on an EPYC.
constexpr PerWidth<Costs> cpu_costs{.f32 = {.stream = 0.9, .slot = 1.6, .row = 2.1, .turn = 7.2, .start = 6},
                                    .f64 = {.stream = 1.1, .slot = 2.1, .row = 2.9, .turn = 3.1, .start = 5}};
constexpr PerWidth<Costs> cpu_block_costs{.f32 = {.stream = 0.9, .slot = 1.6, .row = 3.7, .start = 15},
                                          .f64 = {.stream = 0.9, .slot = 1, .row = 5.3, .start = 15}};
// What an entry, or block, takes whose x is loaded with that of its neighbours: by instructions, and not fitted. Parts
// cut some of the matrix's runs (bench/NOTES.md).
constexpr double run_share = 0.6;
constexpr double padding = 1.03;
/// Larger parts are judged by balls of this size: growing larger ones takes milliseconds.
constexpr Index max_ball_nodes = 8192;

/// Launches, and random reads per node and edge of the graph, that finding the parts takes on a GPU.
constexpr double search_launches = 1800, search_node = 1600, search_edge = 40;
constexpr double cpu_partition_passes = 250;
/// The same where the nodes are halved by coordinates: mostly bringing these, so by nodes.
constexpr double halving_launches = 450, halving_seconds_per_node = 7e-9;

std::string reason_against(const Outlook& outlook) {
  const RowLengths& rows = outlook.rows();
  constexpr Offset long_row = 4096;
  constexpr double uneven = 50;
  constexpr std::int64_t min_products = 200;
  if (outlook.products < min_products) return "so few products do not pay for a partition";
  if (outlook.reordered()) return "its parts are an order already";
  if (rows.rows != rows.cols) return "rows and columns are not the same nodes";
  constexpr double min_mean = 4;
  if (rows.mean_row < min_mean) return "its rows are too short to have much of x in common";
  if (rows.longest_row > long_row && static_cast<double>(rows.longest_row) > uneven * rows.mean_row)
    return "a few rows reach across the matrix, so that its parts have too little in common to cache";
  constexpr Index enough_rows = 1 << 15;
  if (!outlook.device.is_cpu() && rows.rows < enough_rows) return "its rows are too few for parts that keep a GPU busy";
  return "";
}

double seconds_to_find_parts(const Outlook& outlook, Index nodes, double entries_per_block) {
  const bool cpu = outlook.device.is_cpu();
  switch (outlook.known_parts()) {
    case KnownParts::partition:
      return 0;
    case KnownParts::coordinates:
      return cpu ? 0 : halving_launches * outlook.table.launch + halving_seconds_per_node * nodes;
    case KnownParts::none:
      break;
  }
  if (cpu) return setup_seconds_for({.passes = cpu_partition_passes}, outlook) / entries_per_block;
  return search_launches * outlook.table.launch +
         outlook.table.sector * (search_node * nodes + search_edge * outlook.entries() / entries_per_block);
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
  const double in_block = static_cast<double>(block) * block;
  const double places = padding * outlook.entries() / outlook.blocks().fill;
  // What a product takes and what is stored where a part has so many guests.
  const auto predict_with = [&](double guests, double room) {
    const double listed = static_cast<double>(shape.parts) * std::min(guests, room) + static_cast<double>(nodes);
    const double stored = places * (static_cast<double>(outlook.value_bytes) + 2 / in_block) + 4 * listed + 4.0 * nodes;
    Work work;
    work.bytes = stored + outlook.vector_bytes() +
                 static_cast<double>(shape.parts) * guests * static_cast<double>(outlook.value_bytes) * block;
    work.slots = places / block;
    work.rows = nodes;
    if (cpu) work.turns = turns_of(rows) / block;
    if (cpu) work.slots *= 1 - (1 - run_share) * outlook.access().in_runs;
    work.chain = cpu ? 0 : static_cast<double>(rows.longest_row) / block;
    const PerWidth<Costs>& costs = !cpu ? gpu_costs : block >= 3 ? cpu_block_costs : cpu_costs;
    prediction.product_seconds = seconds_for(work, outlook.of(costs), outlook);
    prediction.bytes = static_cast<std::size_t>(stored);
  };
  prediction.setup_seconds = setup_seconds_for(
      cpu ? SetupCosts{.launches = 200, .passes = 45} : SetupCosts{.launches = 220, .passes = 12, .row = 380}, outlook);
  if (shape.parts > 1) prediction.setup_seconds += seconds_to_find_parts(outlook, nodes, in_block);
  predict_with(0, 0);
  if (shape.parts <= 1) return {prediction};
  // Growing balls takes longer than the other facts.
  if (outlook.total(prediction) > outlook.to_beat)
    return {{.against = "it takes too long even if its parts had no guests"}};
  const BallFacts ball = outlook.balls(block, cpu ? own : std::min(own, max_ball_nodes));
  if (ball.spreads) return {{.against = "its rows have neighbours all over the matrix, whatever the parts"}};
  // Neighbours are a surface.
  const double guests = ball.nodes > 0 ? ball.neighbours * std::cbrt(std::pow(own / ball.nodes, 2)) : 0;
  const double room = std::max(1.0, static_cast<double>(shape.room - own));
  if (guests > 1.5 * room) return {{.against = "a part's neighbours are more than fit beside it"}};
  predict_with(guests, room);
  return {prediction};
}

}  // namespace weft::ehyb
