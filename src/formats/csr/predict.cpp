// What csr's variants expect of themselves.
#include "formats/csr/csr.hpp"
#include "formats/csr/tuning.hpp"
#include "formats/csr/variants.hpp"
#include "simt/tuning.hpp"

namespace weft::csr {
namespace {

struct VariantCosts {
  std::string_view name;
  PerWidth<Costs> costs;
};

// Fitted to 394 cases on an H200 (bench/NOTES.md).
constexpr VariantCosts merges[] = {
    {"merge-block",
     {.f32 = {.request = 0.61, .sector = 0.53, .slot = 1.31, .row = 0.51, .start = 1.28},
      .f64 = {.request = 0.62, .sector = 0.57, .slot = 0.76, .row = 0.52, .start = 1.41}}},
    {"merge-wide",
     {.f32 = {.stream = 1.06, .request = 0.16, .sector = 0.89, .row = 1.64, .start = 2.8},
      .f64 = {.stream = 1.24, .request = 0.31, .sector = 0.65, .slot = 0.63, .row = 1.18, .start = 2.76}}},
    {"merge-narrow",
     {.f32 = {.stream = 1.6, .request = 0.19, .sector = 0.89, .slot = 0.76, .row = 0.5, .start = 3.02},
      .f64 = {.stream = 1.6, .sector = 0.92, .slot = 1.23, .row = 0.37, .start = 3.56}}},
};
constexpr PerWidth<Costs> one_kernel_costs{// merge-block where it adds its carries itself
                                           .f32 = {.request = 0.8, .sector = 2.74, .row = 0.51, .start = 1.35},
                                           .f64 = {.request = 0.8, .sector = 2.22, .row = 0.04, .start = 1.42}};
constexpr VariantCosts vectors[] = {
    {"scalar",
     {.f32 = {.stream = 1.25, .request = 2.05, .slot = 2.47, .chain = 0.41, .start = 0.38},
      .f64 = {.stream = 1.6, .request = 2.45, .sector = 0.22, .slot = 3.68, .chain = 0.86, .start = 0.3}}},
    {"vector2",
     {.f32 = {.stream = 1.6, .request = 0.13, .sector = 1.42, .slot = 1.88, .row = 0.82, .chain = 0.41, .start = 0.94},
      .f64 = {.request = 1.88, .sector = 0.23, .slot = 2.86, .chain = 0.82, .start = 0.42}}},
    {"vector4",
     {.f32 = {.sector = 1.25, .slot = 2.17, .row = 2.68, .chain = 0.51, .start = 0.74},
      .f64 = {.stream = 1.3, .sector = 1.4, .slot = 3.02, .chain = 1.1, .start = 0.89}}},
    {"vector8",
     {.f32 = {.request = 0.12, .sector = 0.85, .slot = 1.76, .row = 5.69, .chain = 0.56, .start = 0.73},
      .f64 = {.sector = 0.94, .slot = 3.03, .row = 3.43, .chain = 1.37, .start = 0.82}}},
    {"vector16",
     {.f32 = {.request = 0.42, .sector = 0.21, .slot = 1.62, .row = 11.1, .chain = 0.58, .start = 0.72},
      .f64 = {.sector = 0.77, .slot = 2.89, .row = 6.87, .chain = 1.56, .start = 0.81}}},
    {"vector32",
     {.f32 = {.request = 0.45, .sector = 0.08, .slot = 1.97, .row = 21.4, .chain = 0.6, .start = 0.72},
      .f64 = {.request = 0.58, .slot = 2.01, .row = 17.3, .chain = 1.67, .start = 0.73}}},
};
constexpr PerWidth<Costs> stream_costs{
    .f32 = {.request = 0.31, .sector = 0.75, .slot = 1.16, .row = 0.85, .chain = 1.4, .start = 0.85},
    .f64 = {.request = 0.24, .sector = 0.86, .slot = 1.73, .row = 0.53, .chain = 1.7, .start = 0.93}};
constexpr PerWidth<Costs> speculative_costs{
    .f32 = {.stream = 1.26, .request = 0.27, .sector = 0.63, .slot = 1.55, .row = 1.65, .start = 1.91},
    .f64 = {.stream = 1.33, .request = 0.52, .sector = 0.16, .slot = 2.18, .row = 1.57, .start = 2.16}};
// Not fitted yet: merge-block's without its carries.
constexpr PerWidth<Costs> long_costs{.f32 = {.request = 0.6, .sector = 0.5, .slot = 0.3, .start = 1.1},
                                     .f64 = {.request = 0.6, .sector = 0.5, .slot = 0.3, .start = 1.1}};
constexpr double min_long_mean = 128;  // entries per row for csr:long
// Fitted to 48 matrices on an EPYC.
constexpr PerWidth<Costs> cpu_costs{
    .f32 = {.stream = 0.9, .request = 0.29, .sector = 1.9, .slot = 0.72, .row = 0.64, .turn = 0.84, .start = 1},
    .f64 = {.stream = 0.94, .request = 0.31, .sector = 1.8, .slot = 0.81, .row = 0.37, .turn = 0.9, .start = 1}};

class Predictor {
 public:
  explicit Predictor(const Outlook& outlook) : outlook_(outlook) {
    work_.bytes = outlook.csr_bytes() + outlook.vector_bytes();
    work_.slots = outlook.entries();
    work_.rows = outlook.rows().rows;
    if (outlook.device.is_cpu()) work_.turns = turns_of(outlook.rows());
    fetch_by_entries(outlook, work_);
  }

  std::vector<Prediction> on_gpu() {
    const auto& rows = outlook_.rows();
    const double shares = (static_cast<double>(rows.rows) + outlook_.entries()) /
                          (static_cast<double>(::weft::simt::block_threads) * merge_block_items);
    for (const VariantCosts& merge : merges) {
      const bool one_kernel = merge.name == "merge-block" && shares <= max_shares_of_one_kernel;
      add(merge.name, outlook_.of(one_kernel ? one_kernel_costs : merge.costs), 0, one_kernel ? 1 : 2);
    }
    double lanes = 1;
    for (int k = 0; k < lane_choices; ++k, lanes *= 2) {
      work_.slots = static_cast<double>(outlook_.access().slots[static_cast<std::size_t>(k)]);
      add(vectors[k].name, outlook_.of(vectors[k].costs), static_cast<double>(rows.longest_row) / lanes, 1);
    }
    work_.slots = outlook_.entries();
    if (rows.mean_row >= min_long_mean) {
      constexpr double piece = long_threads * long_entries_per_thread;
      work_.slots = outlook_.entries() + piece * static_cast<double>(rows.rows);
      add("long", outlook_.of(long_costs), 0, 1);
      work_.slots = outlook_.entries();
    }
    // A block goes through the entries of its rows tile by tile.
    if (rows.longest_row <= Tuning::on(outlook_.device).stream_longest)
      add("stream", outlook_.of(stream_costs), outlook_.access().densest_rows, 1);
    if (rows.empty_rows == 0) add("speculative", outlook_.of(speculative_costs), 0, 2);
    return std::move(found_);
  }

  std::vector<Prediction> on_cpu() {
    add("", outlook_.of(cpu_costs), 0, 1);
    return std::move(found_);
  }

 private:
  void add(std::string_view variant, const Costs& costs, double chain, int launches) {
    work_.chain = chain;
    work_.launches = launches;
    Prediction prediction;
    prediction.variant = variant;
    prediction.product_seconds = seconds_for(work_, costs, outlook_);
    prediction.setup_seconds = setup_seconds_for({.launches = 8}, outlook_);
    prediction.bytes = static_cast<std::size_t>(outlook_.csr_bytes());
    found_.push_back(std::move(prediction));
  }

  const Outlook& outlook_;
  Work work_;
  std::vector<Prediction> found_;
};

}  // namespace

std::vector<Prediction> predict(const Outlook& outlook) {
  Predictor predictor(outlook);
  return outlook.device.is_cpu() ? predictor.on_cpu() : predictor.on_gpu();
}

}  // namespace weft::csr
