#include "bro.hpp"

#include <weft/order.hpp>
#include <weft/structure.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/harness/workspace.hpp"
#include "bench/report/writer.hpp"
#include "core/timer.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/ell/ell.hpp"
#include "formats/hyb/hyb.hpp"

namespace weft::bench {

const std::vector<PaperMatrix>& bro_matrices() {
  static const std::vector<PaperMatrix> all = {
      {"cage12", 1, 78.0, 81.1, {}},
      {"cant", 1, 85.9, 92.7, {}},
      {"consph", 1, 85.3, 91.7, {}},
      {"e40r5000", 1, 92.5, 95.4, {}},
      {"epb3", 1, 83.2, 83.2, {}},
      {"lhr71", 1, 92.1, 95.7, {}},
      {"mc2depi", 1, 50.7, 50.7, {}, "gen:epidemic2d:2050:257"},
      {"pdb1HYS", 1, 89.2, 90.8, {}},
      {"qcd5_4", 1, 87.7, 88.9, {}, "gen:lattice4d:8"},
      {"rim", 1, 92.7, 96.0, {}},
      {"rma10", 1, 90.8, 94.9, {}},
      {"shipsec1", 1, 92.9, 94.8, {}},
      {"stomach", 1, 70.7, 82.3, {}},
      {"torso3", 1, 75.9, 83.6, {}},
      {"venkat01", 1, 90.2, 92.3, {}},
      {"xenon2", 1, 74.0, 87.3, {}},
      {"bcsstk32", 2, 60.4, {}, 96.6},
      {"cop20k_A", 2, 46.7, {}, 82.3},
      {"ct20stif", 2, 55.9, {}, 90.7},
      {"gupta2", 2, 43.8, {}, 50.0},
      {"hvdc2", 2, 45.5, {}, 86.9},
      {"mac_econ_fwd500", 2, 51.6, {}, 81.1},
      {"ohne2", 2, 49.5, {}, 96.5},
      {"pwtk", 2, 78.7, {}, 99.4},
      {"rail4284", 2, 45.2, {}, 0.85},
      {"rajat30", 2, 34.5, {}, 68.1},
      {"scircuit", 2, 36.6, {}, 78.2},
      {"sme3Da", 2, 55.6, {}, 83.6},
      {"twotone", 2, 48.8, {}, 61.8},
      {"webbase-1M", 2, 13.4, {}, 64.2},
  };
  return all;
}

const PaperMatrix* find_bro_matrix(const std::string& source) {
  const std::string stem = stem_of(source);
  for (const PaperMatrix& matrix : bro_matrices())
    if (source == matrix.source || stem == matrix.name) return &matrix;
  return nullptr;
}

std::vector<std::string> bro_sources(const std::vector<std::string>& given) {
  std::vector<std::string> names, generated;
  for (const PaperMatrix& matrix : bro_matrices()) {
    names.emplace_back(matrix.name);
    if (*matrix.source) generated.emplace_back(matrix.source);
  }
  return given.empty() ? generated : expand_folders(given, names, "Table 2");
}

template <Value V>
BroSavings bro_savings(const Csr<V>& matrix) {
  constexpr double index_bytes = sizeof(Index);
  BroSavings savings;
  savings.ell = 100 * bro_ell::savings_of(matrix, {}).eta();
  const auto rows_saved = [](const Csr<V>& entries) {
    const bro_coo::Storage<V> coo = bro_coo::encode(entries, bro_coo::choose_shape(entries.nonzeros(), {}));
    return bro_coo::space_savings(coo.shape, coo.symbols.bytes());
  };
  savings.coo = 100 * rows_saved(matrix);
  const RowLengths lengths = analyze_rows(matrix);
  const Index k = hyb::split_width(lengths);
  const Csr<V> rest = hyb::rest_after(matrix, k);
  const auto rest_entries = static_cast<double>(rest.nonzeros());
  const bro_ell::Savings first = bro_ell::savings_of(matrix, {.max_columns = k});
  // coo has a row and a column for each entry; bro-coo packs the rows.
  const double packed =
      static_cast<double>(first.compressed_bytes) + index_bytes * rest_entries * (2 - rows_saved(rest));
  const double plain = static_cast<double>(first.ellpack_bytes) + 2 * index_bytes * rest_entries;
  savings.hyb = plain > 0 ? 100 * (1 - packed / plain) : 0;
  savings.ell_share = matrix.nonzeros() > 0 ? 100 * (1 - rest_entries / static_cast<double>(matrix.nonzeros())) : 0;
  return savings;
}

namespace {

template <Value V>
BroOrdering run_ordering(const Csr<V>& matrix, Ordering ordering, const RunOptions& options) {
  BroOrdering result;
  result.name = to_string(ordering);
  try {
    const Stopwatch watch;
    const Csr<V> permuted = permute(matrix, order(matrix, ordering));
    result.seconds = watch.seconds();
    result.eta = 100 * bro_ell::savings_of(permuted, {}).eta();
    RunOptions only = options;
    only.formats = {"bro-ell"};
    std::vector<std::string> notes;
    result.bro_ell = run_case(result.name, permuted, only, notes).measurements.front();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    result.failure = error.what();
  }
  return result;
}

}  // namespace

template <Value V>
BroCase run_bro_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options) {
  BroCase result;
  result.paper = find_bro_matrix(source);
  result.savings = bro_savings(matrix);
  RunOptions all = options;
  all.formats = {"ell", "ell:r", "bro-ell", "coo", "bro-coo", "hyb", "bro-hyb"};
  std::vector<std::string> notes;
  result.formats = run_case(source, matrix, all, notes);
  // As in the paper, only matrices that bro-ell can hold are put in order for it.
  if (!result.find("bro-ell")) return result;
  for (const Ordering ordering : {Ordering::bar, Ordering::rcm, Ordering::amd})
    result.orderings.push_back(run_ordering(matrix, ordering, options));
  return result;
}

namespace {

/// Every row reads the same few elements of x, which stay in the cache.
template <Value V>
Csr<V> dense_matrix(Device device) {
  Csr<V> matrix;
  matrix.rows = device.kind() == Device::Kind::emulator ? 512 : device.is_cpu() ? 1 << 16 : 1 << 20;
  matrix.cols = device.kind() == Device::Kind::emulator ? 8 : 64;
  const auto entries = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols);
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(matrix.rows) + 1);
  for (Index row = 0; row <= matrix.rows; ++row) matrix.offsets[row] = static_cast<Offset>(row) * matrix.cols;
  matrix.columns = Array<Index>(entries);
  for (std::size_t k = 0; k < entries; ++k)
    matrix.columns[k] = static_cast<Index>(k % static_cast<std::size_t>(matrix.cols));
  matrix.values = random_vector<V>(entries, 1);
  return matrix;
}

}  // namespace

template <Value V>
BroSweep run_bro_sweep(const RunOptions& options) {
  const Csr<V> matrix = dense_matrix<V>(options.device);
  BroSweep sweep{.type = value_type<V>, .rows = matrix.rows, .cols = matrix.cols};
  Workspace<V> workspace(options.device, random_vector<V>(static_cast<std::size_t>(matrix.cols), options.seed),
                         static_cast<std::size_t>(matrix.rows));
  const MeasureOptions how{.seconds = options.seconds, .groups = options.groups, .progress = options.progress};
  const MatrixSource<V> source(matrix);
  const auto plain = ell::format().build.get<V>()(source, {.device = options.device, .variant = "plain"});
  // Each takes turns with ell, which so is measured again and again; the middle of its times counts.
  std::vector<Timing> ells;
  for (const int bits : {1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 31}) {
    const auto packed = bro_ell::build_shape(source, {.min_bits = bits}, {.device = options.device});
    const Product both[] = {[&] { workspace.apply(*plain); }, [&] { workspace.apply(*packed); }};
    const std::vector<Timing> timings = measure(options.device, both, how);
    ells.push_back(timings[0]);
    sweep.points.push_back({bits, 100 * bro_ell::savings_of(matrix, {.min_bits = bits}).eta(), timings[1]});
  }
  std::ranges::sort(ells, {}, &Timing::median);
  sweep.ell = ells[ells.size() / 2];
  return sweep;
}

bool BroCase::correct() const {
  return std::ranges::all_of(formats.measurements, &Measurement::correct) &&
         std::ranges::all_of(orderings, [](const BroOrdering& ordering) { return ordering.bro_ell.correct; });
}

double BroSweep::gflops(const Timing& timing) const {
  return timing.median > 0 ? 2e-9 * static_cast<double>(rows) * static_cast<double>(cols) / timing.median : 0;
}

using Json = nlohmann::ordered_json;

Json to_json(const BroCase& one) {
  Json json = to_json(one.formats);
  json["savings_percent"] = {{"bro_ell", one.savings.ell},
                             {"bro_coo_rows", one.savings.coo},
                             {"bro_hyb", one.savings.hyb},
                             {"ell_share", one.savings.ell_share}};
  json["paper"] = nullptr;
  if (one.paper)
    json["paper"] = {{"name", one.paper->name},
                     {"test_set", one.paper->set},
                     {"eta_percent", one.paper->eta},
                     {"eta_bar_percent", or_null(one.paper->eta_bar)},
                     {"ell_share_percent", or_null(one.paper->ell_share)}};
  json["orderings"] = Json::array();
  for (const BroOrdering& ordering : one.orderings) {
    Json entry = {{"name", ordering.name}};
    entry["failure"] = ordering.failure.empty() ? Json(nullptr) : Json(ordering.failure);
    if (ordering.failure.empty()) {
      entry["seconds"] = ordering.seconds;
      entry["eta_percent"] = ordering.eta;
      entry["bro_ell"] = to_json(ordering.bro_ell);
    }
    json["orderings"].push_back(std::move(entry));
  }
  return json;
}

Json to_json(const BroSweep& sweep) {
  Json points = Json::array();
  for (const BroSweepPoint& point : sweep.points)
    points.push_back({{"bits", point.bits},
                      {"eta_percent", point.eta},
                      {"median_seconds", point.timing.median},
                      {"gflops", sweep.gflops(point.timing)}});
  return {{"type", to_string(sweep.type)},
          {"rows", sweep.rows},
          {"cols", sweep.cols},
          {"ell_median_seconds", sweep.ell.median},
          {"ell_gflops", sweep.gflops(sweep.ell)},
          {"points", std::move(points)}};
}

#define WEFT_INSTANTIATE(V)                                                                       \
  template BroSavings bro_savings<V>(const Csr<V>&);                                              \
  template BroCase run_bro_case<V>(const std::string&, const Csr<V>&, const RunOptions& options); \
  template BroSweep run_bro_sweep<V>(const RunOptions& options);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
