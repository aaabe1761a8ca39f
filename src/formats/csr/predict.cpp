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

// Fitted to 206 cases on an H200 (bench/NOTES.md).
constexpr VariantCosts merges[] = {
    {"merge-block",
     {.f32 = {.request = 0.59, .sector = 0.47, .slot = 0.66, .row = 0.5, .start = 1.05},
      .f64 = {.request = 0.6, .sector = 0.59, .row = 0.54, .start = 1.17}}},
    {"merge-wide",
     {.f32 = {.stream = 1.1, .request = 0.22, .sector = 0.75, .row = 1.18, .start = 2.5},
      .f64 = {.stream = 1.29, .request = 0.27, .sector = 0.66, .row = 0.96, .start = 2.5}}},
    {"merge-narrow",
     {.f32 = {.stream = 1.6, .request = 0.19, .sector = 0.85, .slot = 0.45, .row = 0.38, .start = 2.7},
      .f64 = {.stream = 1.6, .sector = 0.94, .slot = 0.52, .row = 0.31, .start = 3.2}}},
};
constexpr VariantCosts vectors[] = {
    {"scalar",
     {.f32 = {.request = 2.13, .slot = 1.48, .chain = 0.31, .start = 0.1},
      .f64 = {.stream = 1.6, .request = 2.42, .slot = 2.72, .chain = 0.64, .start = 0.1}}},
    {"vector2",
     {.f32 = {.request = 0.15, .sector = 1.64, .slot = 1.57, .chain = 0.32, .start = 0.1},
      .f64 = {.stream = 1.14, .request = 2.43, .sector = 0.22, .chain = 0.62, .start = 0.1}}},
    {"vector4",
     {.f32 = {.sector = 1.24, .slot = 1.12, .row = 2.75, .chain = 0.39, .start = 0.38},
      .f64 = {.sector = 1.37, .slot = 1.83, .chain = 0.83, .start = 0.42}}},
    {"vector8",
     {.f32 = {.request = 0.25, .sector = 0.66, .slot = 0.72, .row = 6.1, .chain = 0.43, .start = 0.32},
      .f64 = {.request = 0.2, .sector = 0.71, .slot = 1.31, .row = 4.05, .chain = 0.93, .start = 0.46}}},
    {"vector16",
     {.f32 = {.request = 0.42, .sector = 0.33, .slot = 0.64, .row = 11.7, .chain = 0.45, .start = 0.37},
      .f64 = {.request = 0.18, .sector = 0.57, .slot = 1.15, .row = 8.6, .chain = 1.05, .start = 0.45}}},
    {"vector32",
     {.f32 = {.request = 0.49, .slot = 0.84, .row = 22.2, .chain = 0.46, .start = 0.38},
      .f64 = {.request = 0.47, .slot = 0.86, .row = 18.6, .chain = 1.01, .start = 0.41}}},
};
constexpr PerWidth<Costs> stream_costs{
    .f32 = {.request = 0.35, .sector = 0.59, .slot = 0.52, .row = 0.83, .chain = 0.51, .start = 0.7},
    .f64 = {.request = 0.39, .sector = 0.55, .slot = 0.47, .row = 1.11, .chain = 0.69, .start = 0.67}};
constexpr PerWidth<Costs> speculative_costs{
    .f32 = {.stream = 1.24, .sector = 0.82, .slot = 0.96, .row = 1.66, .start = 1.59},
    .f64 = {.stream = 1.49, .request = 0.37, .sector = 0.25, .slot = 0.96, .row = 1.08, .start = 1.93}};
constexpr double one_kernel_start = 0.9;  // of merge-block where it adds its carries itself
constexpr PerWidth<Costs> cpu_costs{.f32 = {.request = 0.2, .sector = 0.2, .slot = 1, .start = 1},
                                    .f64 = {.request = 0.2, .sector = 0.2, .slot = 1, .start = 1}};

class Predictor {
 public:
  explicit Predictor(const Outlook& outlook) : outlook_(outlook) {
    work_.bytes = outlook.csr_bytes() + outlook.vector_bytes();
    work_.slots = outlook.entries();
    work_.rows = outlook.rows().rows;
    fetch_by_entries(outlook, work_);
  }

  std::vector<Prediction> on_gpu() {
    const auto& rows = outlook_.rows();
    const double shares = (static_cast<double>(rows.rows) + outlook_.entries()) /
                          (static_cast<double>(::weft::simt::block_threads) * merge_block_items);
    for (const VariantCosts& merge : merges) {
      Costs costs = outlook_.of(merge.costs);
      const bool one_kernel = merge.name == "merge-block" && shares <= max_shares_of_one_kernel;
      if (one_kernel) costs.start = one_kernel_start;
      add(merge.name, costs, 0, one_kernel ? 1 : 2);
    }
    double lanes = 1;
    for (int k = 0; k < lane_choices; ++k, lanes *= 2) {
      work_.slots = static_cast<double>(outlook_.access().slots[static_cast<std::size_t>(k)]);
      add(vectors[k].name, outlook_.of(vectors[k].costs), static_cast<double>(rows.longest_row) / lanes, 1);
    }
    work_.slots = outlook_.entries();
    if (rows.longest_row <= Tuning::on(outlook_.device).stream_longest)
      add("stream", outlook_.of(stream_costs), static_cast<double>(rows.longest_row), 1);
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
