#include "bench_session.hpp"

#include <fmt/format.h>
#include <weft/io.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "bench/harness/cache_bandwidth.hpp"
#include "bench/peers/names.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/summary.hpp"
#include "bench/report/tables.hpp"
#include "output.hpp"
#include "plan/bandwidth.hpp"
#include "progress.hpp"

namespace weft::app {
namespace {

using bench::paragraph;
using bench::tables_of;
using bench::with_noun;

std::string heading(const bench::Report& report) {
  std::string text = report.device_name;
  if (report.bandwidth > 0) text += fmt::format(", measured bandwidth {:.1f} GB/s", report.bandwidth / 1e9);
  return text + "\n";
}

}  // namespace

BenchSession::BenchSession(const BenchOptions& options)
    : options_(options), shows_tables_(options.json != "-" && options.csv != "-" && options.svg != "-") {
  report_.device = usable_device(options.device);
  report_.machine = bench::this_machine();
  report_.device_name = describe(report_.device).description;
  report_.command = command_line();
  report_.products = options.products.back();
  report_.cold = !options.no_cold && report_.device.kind() != Device::Kind::emulator;
  report_.seconds = options.seconds;
  report_.groups = options.groups;
  report_.seed = options.seed;
  if (report_.device.is_cpu())
    report_.device_name += fmt::format(", {}, {} kernels", with_noun(threads(), "thread"), to_string(isa()));
  if (options.formats == "all") {
    formats_ = bench::formats_for(report_.device);
    formats_.push_back("auto");
  } else {
    formats_ = bench::split_names(options.formats);
  }
  if (options.products.size() > 1) plan_for_each_number();
}

/// In the place of `auto`, one for each number of products.
void BenchSession::plan_for_each_number() {
  const auto place = std::ranges::find(formats_, "auto");
  if (place == formats_.end()) return;
  std::vector<std::string> names;
  for (const std::int64_t products : options_.products) names.push_back(bench::auto_for(products));
  formats_.insert(formats_.erase(place), names.begin(), names.end());
}

void BenchSession::run(const std::string& source) {
  if (options_.reading.type == "f32") return measure_matrix(source, load<float>(source, options_.reading));
  Csr<double> matrix = load<double>(source, options_.reading);
  measure_matrix(source, matrix);
  if (options_.reading.type != "both") return;
  const Csr<float> rounded = convert<float>(matrix);
  matrix = {};
  measure_matrix(source, rounded);
}

void BenchSession::run_or_tell(const std::string& source) {
  try {
    run(source);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io && error.code() != ErrorCode::parse && error.code() != ErrorCode::unsupported)
      throw;
    report_.notes.push_back(std::string("left out: ") + error.what());
    note(report_.notes.back());
  }
}

void BenchSession::print_summary() const {
  if (!shows_tables_ || report_.cases.empty()) return;
  std::string text;
  if (options_.peers != "none")
    for (const bench::Summary& summary : bench::summarize(report_)) text += paragraph(bench::headline(summary));
  if (const std::string line = bench::prediction_line(report_); !line.empty()) text += paragraph(line);
  if (!text.empty()) print("\n" + text);
}

template <Value V>
void BenchSession::measure_matrix(const std::string& source, const Csr<V>& matrix) {
  for (const int vectors : options_.vectors) measure_vectors(source, matrix, vectors);
}

template <Value V>
void BenchSession::measure_vectors(const std::string& source, const Csr<V>& matrix, int vectors) {
  const std::shared_ptr<const Partition> partition = options_.parts.read_partition(matrix.rows);
  const std::shared_ptr<const Coordinates> coordinates = options_.parts.read_coordinates(matrix.rows);
  if (report_.cases.empty()) {  // not before there is something to measure
    report_.bandwidth = measure_bandwidth(report_.device);
    report_.caches = bench::measure_cache_bandwidths(report_.device);
    if (shows_tables_) print(heading(report_));
  }
  bench::Case result;
  const std::size_t notes_before = report_.notes.size();
  {
    ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
    result = bench::run_case(source, matrix,
                             {.device = report_.device,
                              .formats = formats_,
                              .order = parse_ordering(options_.order),
                              .partition = partition,
                              .coordinates = coordinates,
                              .peers = options_.peers,
                              .vectors = vectors,
                              .layout = options_.layout == "row" ? Layout::row_major : Layout::column_major,
                              .products = options_.products.back(),
                              .seconds = options_.seconds,
                              .groups = options_.groups,
                              .cold = report_.cold,
                              .from_device = options_.from_device,
                              .patience = options_.patience,
                              .seed = options_.seed,
                              .bandwidth = report_.bandwidth,
                              .progress = bar.callback()},
                             report_.notes);
  }
  for (std::size_t i = notes_before; i < report_.notes.size(); ++i) note(report_.notes[i]);
  if (shows_tables_) print(tables_of(result, options_.peers != "none"));
  report_.cases.push_back(std::move(result));
}

}  // namespace weft::app
