#include "sellp.hpp"

#include <nlohmann/json.hpp>

namespace weft::bench {

const std::vector<SellpPaperMatrix>& sellp_matrices() {
  static const std::vector<SellpPaperMatrix> all = {
      {"audikw_1", 943'645, 77'651'847, {4.55e-02, 8.94e-02, 3.56e-02, 7.02e-03, 7.08e-03, 8.79e-03}},
      {"bone010", 986'703, 47'851'783, {2.45e-02, 5.10e-02, 5.50e-03, 4.28e-03, 6.15e-03, 3.80e-03}},
      {"boneS10", 914'898, 40'878'708, {1.32e-02, 4.16e-02, 5.45e-03, 3.93e-03, 5.21e-03, 3.43e-03}},
      {"bmw3_2", 227'362, 11'288'630, {4.70e-03, 1.19e-02, 6.62e-03, 9.93e-04, 1.50e-03, 9.86e-04}},
      {"bmwcra_1", 148'770, 10'641'602, {4.60e-03, 1.19e-02, 4.63e-03, 9.01e-04, 9.53e-04, 8.79e-04}},
      {"cage10", 11'397, 150'645, {4.72e-05, 7.45e-05, 3.72e-05, 3.35e-05, 3.45e-05, 6.44e-05}},
      {"cant", 62'451, 4'007'383, {1.48e-03, 4.61e-03, 4.56e-04, 3.44e-04, 5.51e-04, 3.94e-04}},
      {"crankseg_2", 63'838, 14'148'858, {5.25e-03, 1.60e-02, 2.23e-02, 1.12e-03, 1.23e-03, 1.48e-03}},
      {"Cube_Coup_dt0", 2'164'760, 124'406'070, {4.87e-02, 1.39e-01, 1.22e-02, 9.77e-03, 1.68e-02, 9.18e-03}},
      {"dielFilterV2real", 1'157'456, 48'538'952, {2.06e-02, 4.45e-02, 1.05e-02, 6.14e-03, 6.46e-03, 5.99e-03}},
      {"F1", 343'791, 26'837'113, {1.31e-02, 3.08e-02, 1.63e-02, 2.73e-03, 2.77e-03, 3.18e-03}},
      {"Fault_639", 638'802, 27'245'944, {1.08e-02, 2.92e-02, 1.51e-02, 2.53e-03, 3.48e-03, 2.12e-03}},
      {"Hook_1498", 1'498'023, 59'374'451, {2.41e-02, 5.71e-02, 1.25e-02, 6.60e-03, 7.52e-03, 6.46e-03}},
      {"inline_1", 503'712, 36'816'170, {1.41e-02, 4.15e-02, 3.01e-02, 3.49e-03, 3.55e-03, 3.85e-03}},
      {"ldoor", 952'203, 42'493'817, {1.78e-02, 4.43e-02, 6.75e-03, 4.11e-03, 5.71e-03, 4.39e-03}},
      {"m_t1", 97'578, 9'753'570, {3.67e-03, 1.03e-02, 2.10e-03, 8.27e-04, 8.64e-04, 1.02e-03}},
      {"ML_Geer", 1'504'002, 110'686'677, {4.23e-02, 1.29e-01, 9.62e-03, 8.60e-03, 9.62e-03, 8.19e-03}},
      {"pwtk", 217'918, 11'524'432, {4.47e-03, 1.30e-02, 3.37e-03, 9.31e-04, 1.53e-03, 8.94e-04}},
      {"shipsec1", 140'874, 3'568'176, {1.15e-03, 2.49e-03, 8.74e-04, 4.74e-04, 4.52e-04, 4.48e-04}},
      {"Trefethen_20000", 20'000, 554'466, {1.15e-04, 5.12e-04, 5.29e-05, 6.47e-05, 8.12e-05, 6.71e-05}},
  };
  return all;
}

const SellpPaperMatrix* find_sellp_matrix(const std::string& source) {
  const std::string stem = stem_of(source);
  for (const SellpPaperMatrix& matrix : sellp_matrices())
    if (stem == matrix.name) return &matrix;
  return nullptr;
}

std::vector<std::string> sellp_sources(const std::vector<std::string>& given, Device device) {
  std::vector<std::string> names;
  for (const SellpPaperMatrix& matrix : sellp_matrices()) names.emplace_back(matrix.name);
  if (!given.empty()) return expand_folders(given, names, "Table I");
  // Structures and flows with rows of many lengths, and few small and sparse ones, as the table has them.
  if (device.kind() == Device::Kind::gpu)
    return {"gen:elasticity3d:64", "gen:elasticity3d:96",  "gen:stencil27:120",
            "gen:poisson3d:160",   "gen:uniform:20000:28", "gen:circuit:2000000"};
  if (device.kind() == Device::Kind::emulator)
    return {"gen:elasticity3d:5", "gen:stencil27:8", "gen:uniform:500:13", "gen:circuit:1000"};
  return {"gen:elasticity3d:20",  "gen:elasticity3d:32",  "gen:stencil27:48",
          "gen:uniform:11397:13", "gen:uniform:20000:28", "gen:circuit:200000"};
}

const char* paper_title(SellpKernel kernel) {
  constexpr std::array<const char*, 8> titles = {"MKL-CSR", "CSR",   "ELLPACK",      "SELL-P",
                                                 "sell",    "ELLRT", "CUSPARSE-CSR", "CUSPARSE-HYB"};
  return titles[static_cast<std::size_t>(kernel)];
}

std::string sellp_name(SellpKernel kernel, Device device) {
  const bool gpu = device.kind() == Device::Kind::gpu;
  switch (kernel) {
    case SellpKernel::cpu:
      return "";
    case SellpKernel::csr:
      return device.is_cpu() ? "csr" : "csr:scalar";  // the straight-forward one
    case SellpKernel::ell:
      return "ell";
    case SellpKernel::sellp:
      return "sell:c=8:sigma=1:t=8";
    case SellpKernel::chosen:
      return "sell";
    case SellpKernel::ellrt:
      return "ell:rt";
    case SellpKernel::cusparse:
      return gpu ? "cusparse:csr-default" : "";
    case SellpKernel::hyb:
      return "hyb";  // which cuSPARSE has no more
  }
  return "";
}

std::optional<double> SellpPaperMatrix::time(SellpKernel kernel) const {
  switch (kernel) {
    case SellpKernel::cpu:
      return seconds[0];
    case SellpKernel::csr:
      return seconds[1];
    case SellpKernel::ell:
      return seconds[2];
    case SellpKernel::sellp:
      return seconds[3];
    case SellpKernel::cusparse:
      return seconds[4];
    case SellpKernel::hyb:
      return seconds[5];
    default:
      return {};
  }
}

std::int64_t sliced_padding(std::span<const Offset> offsets, Index b, Index t) {
  if (offsets.size() < 2 || b < 1) return 0;
  const auto rows = static_cast<Offset>(offsets.size()) - 1;
  std::int64_t stored = 0;
  for (Offset first = 0; first < rows; first += b) {
    Offset widest = 0;
    for (Offset row = first; row < std::min<Offset>(rows, first + b); ++row)
      widest = std::max(widest, offsets[row + 1] - offsets[row]);
    stored += b * ((widest + t - 1) / t * t);
  }
  return stored - (offsets[rows] - offsets[0]);
}

const Measurement* SellpCase::kernel(SellpKernel which) const {
  return which == SellpKernel::cpu ? fastest_on_cpu() : find(sellp_name(which, device));
}

std::optional<double> SellpCase::time(SellpKernel which) const {
  const Measurement* m = kernel(which);
  return m ? std::optional(m->timing.median) : std::nullopt;
}

template <Value V>
SellpCase run_sellp_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                         std::vector<std::string>& notes) {
  std::vector<std::string> names;
  for (const SellpKernel kernel : sellp_kernels)
    if (std::string name = sellp_name(kernel, options.device); !name.empty()) names.push_back(std::move(name));
  if (options.device.is_cpu()) names.emplace_back(cpu_libraries);
  SellpCase result{run_paper_case(source, matrix, names, true, options, notes)};
  result.device = options.device;
  result.paper = find_sellp_matrix(source);
  if (result.paper) result.paper_name = result.paper->name;
  const std::span<const Offset> offsets(matrix.offsets.data(), matrix.offsets.size());
  result.ell_padding = sliced_padding(offsets, std::max<Index>(matrix.rows, 1), 1);
  result.sell_padding = sliced_padding(offsets, 8, 1);
  result.sellp_padding = sliced_padding(offsets, 8, 8);
  return result;
}

std::optional<Speedup> sellp_speedup(const std::vector<SellpCase>& cases, ValueType type, SellpKernel form,
                                     SellpKernel rival) {
  const auto seconds_of = [type](SellpKernel kernel) {
    return [=](const SellpCase& one) { return one.formats.type == type ? one.time(kernel) : std::nullopt; };
  };
  return speedup_over(cases, seconds_of(rival), seconds_of(form));
}

std::optional<Speedup> paper_sellp_speedup(SellpKernel rival) {
  return speedup_over(
      sellp_matrices(), [&](const SellpPaperMatrix& one) { return one.time(rival); },
      [](const SellpPaperMatrix& one) { return one.time(SellpKernel::sellp); });
}

using Json = nlohmann::ordered_json;

Json to_json(const SellpCase& one) {
  Json json = to_json(static_cast<const PaperCase&>(one));
  json["padding"] = {{"ellpack", one.ell_padding}, {"sell_8", one.sell_padding}, {"sell_p_8_8", one.sellp_padding}};
  json["kernels"] = Json::object();
  for (const SellpKernel kernel : sellp_kernels) {
    const Measurement* m = one.kernel(kernel);
    json["kernels"][paper_title(kernel)] = {
        {"measured_as", m ? Json(m->name) : Json(nullptr)},
        {"seconds", or_null(one.time(kernel))},
        {"paper_seconds", or_null(one.paper ? one.paper->time(kernel) : std::nullopt)}};
  }
  json["paper"] = nullptr;
  if (one.paper) json["paper"] = {{"rows", one.paper->rows}, {"nonzeros", one.paper->nonzeros}, {"device", "K40c"}};
  return json;
}

Json summary_json(const std::vector<SellpCase>& cases) {
  Json rows = Json::array();
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    for (const SellpKernel form : {SellpKernel::sellp, SellpKernel::chosen})
      for (const SellpKernel rival : sellp_kernels) {
        const auto speedup = form == rival ? std::nullopt : sellp_speedup(cases, type, form, rival);
        if (!speedup) continue;
        Json row = {{"type", to_string(type)}, {"kernel", paper_title(form)}, {"against", paper_title(rival)}};
        row.update(to_json(*speedup));
        const auto paper = form == SellpKernel::sellp ? paper_sellp_speedup(rival) : std::nullopt;
        row["paper"] = paper ? to_json(*paper) : Json(nullptr);
        rows.push_back(std::move(row));
      }
  return rows;
}

#define WEFT_INSTANTIATE(V)                                                                          \
  template SellpCase run_sellp_case<V>(const std::string&, const Csr<V>&, const RunOptions& options, \
                                       std::vector<std::string>& notes);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
