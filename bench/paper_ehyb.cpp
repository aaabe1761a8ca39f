#include "paper_ehyb.hpp"

#include <weft/error.hpp>
#include <weft/formats.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

namespace weft::bench {

const std::vector<std::string>& ehyb_matrices() {
  static const std::vector<std::string> all = {"poisson3Db",
                                               "atmosmodj",
                                               "vas_stokes_1M",
                                               "CurlCurl_1",
                                               "CurlCurl_2",
                                               "inline_1",
                                               "windtunnel_evap3d",
                                               "m_t1",
                                               "PFlow_742",
                                               "cfd2",
                                               "shipsec5",
                                               "RM07R",
                                               "Goodwin_095",
                                               "x104",
                                               "nv2",
                                               "FEM_3D_thermal2",
                                               "atmosmodl",
                                               "Emilia_923",
                                               "oilpan",
                                               "atmosmodm",
                                               "ldoor",
                                               "Dubcova3",
                                               "crankseg_1",
                                               "dielFilterV2real",
                                               "parabolic_fem",
                                               "bmwcra_1",
                                               "tmt_unsym",
                                               "s3dkt3m2",
                                               "pwtk",
                                               "boneS10",
                                               "Long_Coup_dt0",
                                               "engine",
                                               "Freescale1",
                                               "Long_Coup_dt6",
                                               "apache2",
                                               "msdoor",
                                               "dielFilterV3real",
                                               "s3dkq4m2",
                                               "rajat31",
                                               "nlpkkt120",
                                               "StocF-1465",
                                               "ML_Geer",
                                               "F2",
                                               "gsm_106857",
                                               "Flan_1565",
                                               "Goodwin_127",
                                               "ship_003",
                                               "BenElechi1",
                                               "Hook_1498",
                                               "laminar_duct3D",
                                               "memchip",
                                               "Geo_1438",
                                               "cant",
                                               "CurlCurl_3",
                                               "Serena",
                                               "offshore",
                                               "crankseg_2",
                                               "vas_stokes_2M",
                                               "t3dh",
                                               "TSOPF_RS_b2383_c1",
                                               "bone010",
                                               "af_4_k101",
                                               "audikw_1",
                                               "t2em",
                                               "af_shell8",
                                               "af_shell9",
                                               "af_shell10",
                                               "consph",
                                               "Transport",
                                               "Cube_Coup_dt6",
                                               "TEM152078",
                                               "CurlCurl_4",
                                               "Bump_2911",
                                               "boneS01",
                                               "dgreen",
                                               "vas_stokes_4M",
                                               "bmw7st_1",
                                               "F1",
                                               "nlpkkt160",
                                               "G3_circuit",
                                               "Fault_639",
                                               "HV15R",
                                               "TEM181302",
                                               "ML_Laplace",
                                               "Queen_4147",
                                               "PR02R",
                                               "nlpkkt80",
                                               "stokes",
                                               "torso1",
                                               "tmt_sym",
                                               "atmosmodd",
                                               "ss",
                                               "Cube_Coup_dt0",
                                               "CoupCons3D"};
  return all;
}

std::string find_ehyb_matrix(const std::string& source) {
  if (source.find(':') != std::string::npos) return {};
  std::string stem = std::filesystem::path(source).filename().string();
  stem.resize(std::min(stem.find('.'), stem.size()));  // cant.mtx.gz
  return std::ranges::find(ehyb_matrices(), stem) != ehyb_matrices().end() ? stem : std::string();
}

namespace {

/// The files of a folder that the paper's table names, in its order.
std::vector<std::string> files_of_paper(const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    const std::string name = entry.is_regular_file() ? find_ehyb_matrix(entry.path().filename().string()) : "";
    // The same matrix in two files: the first by name, on every machine.
    if (!name.empty() && (!found.contains(name) || path < found[name])) found[name] = path;
  }
  if (found.empty()) throw Error(ErrorCode::io, "'" + folder + "' has no matrix of the paper's Table 3, by name");
  std::vector<std::string> files;
  for (const std::string& name : ehyb_matrices())
    if (found.contains(name)) files.push_back(found[name]);
  return files;
}

}  // namespace

std::vector<std::string> ehyb_sources(const std::vector<std::string>& given, Device device) {
  std::vector<std::string> sources;
  for (const std::string& source : given) {
    std::error_code ignored;
    if (std::filesystem::is_directory(source, ignored))
      std::ranges::copy(files_of_paper(source), std::back_inserter(sources));
    else
      sources.push_back(source);
  }
  if (!given.empty()) return sources;
  // Fluids, structures, lattices and circuits, as the table has them.
  if (device.kind() == Device::Kind::gpu)
    return {"gen:poisson3d:160",   "gen:stencil27:120", "gen:elasticity3d:64",
            "gen:elasticity3d:96", "gen:lattice4d:16",  "gen:circuit:2000000"};
  if (device.kind() == Device::Kind::emulator)
    return {"gen:poisson3d:12", "gen:stencil27:10", "gen:elasticity3d:6", "gen:circuit:2000"};
  return {"gen:poisson3d:80",    "gen:stencil27:48", "gen:elasticity3d:24",
          "gen:elasticity3d:32", "gen:lattice4d:8",  "gen:circuit:200000"};
}

std::vector<std::string> ehyb_rivals(Device device) {
  std::vector<std::string> rivals = {"csr"};
  for (const VariantInfo& variant : parse_format("csr").format->variants)
    if ((variant.name == "merge" || variant.name == "speculative") &&
        std::ranges::find(variant.devices, device.kind()) != variant.devices.end())
      rivals.push_back("csr:" + variant.name);
  if (device.is_cpu()) rivals.emplace_back("eigen");
  if (device.kind() == Device::Kind::gpu)
    for (const char* name : {"cusparse:csr-alg1", "cusparse:csr-alg2"}) rivals.emplace_back(name);
  return rivals;
}

const Measurement* EhybCase::find(const std::string& name) const {
  for (const Measurement& m : formats.measurements)
    if (m.name == name && m.measured() && m.timing.median > 0) return &m;
  return nullptr;
}

std::optional<EhybPreparation> EhybCase::preparation(const std::string& form) const {
  const Measurement* m = find(form);
  if (!m) return {};
  return EhybPreparation{.partition_seconds = m->setup.partition,
                         .reorder_seconds = m->setup.total() - m->setup.upload - m->setup.partition,
                         .product_seconds = m->timing.median};
}

template <Value V>
EhybCase run_ehyb_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                       std::vector<std::string>& notes) {
  RunOptions all = options;
  all.formats = ehyb_forms;
  all.peers.clear();
  for (const std::string& rival : ehyb_rivals(options.device)) {
    if (rival.starts_with("csr"))
      all.formats.push_back(rival);
    else
      all.peers += (all.peers.empty() ? "" : ",") + rival;
  }
  if (all.peers.empty()) all.peers = "none";
  return {.paper_name = find_ehyb_matrix(source), .formats = run_case(source, matrix, all, notes)};
}

std::optional<Speedup> ehyb_speedup(const std::vector<EhybCase>& cases, ValueType type, const std::string& form,
                                    const std::string& rival) {
  Speedup result;
  int faster = 0;
  for (const EhybCase& one : cases) {
    const Measurement *ours = one.find(form), *theirs = one.find(rival);
    if (one.formats.type != type || !ours || !theirs) continue;
    const double ratio = theirs->timing.median / ours->timing.median;
    result.max = result.matrices == 0 ? ratio : std::max(result.max, ratio);
    result.min = result.matrices == 0 ? ratio : std::min(result.min, ratio);
    result.mean += ratio;
    faster += ratio > 1;
    ++result.matrices;
  }
  if (result.matrices == 0) return {};
  result.mean /= result.matrices;
  result.faster_percent = 100.0 * faster / result.matrices;
  return result;
}

std::optional<Speedup> paper_speedup(ValueType type, const std::string& rival) {
  const bool single = type == ValueType::f32;
  const auto row = [](double max, double min, double mean) { return Speedup{100, max, min, mean, 94}; };
  if (rival == "csr:merge") return single ? row(2.25, 1.31, 1.517) : row(2.29, 1.15, 1.41);
  if (rival == "cusparse:csr-alg1") return single ? row(2.42, 1.21, 1.518) : row(2.07, 1.07, 1.45);
  if (rival == "cusparse:csr-alg2") return single ? row(4.0, 1.21, 1.90) : row(3.01, 1.19, 1.59);
  return {};
}

using Json = nlohmann::ordered_json;

namespace {

Json to_json(const Speedup& speedup) {
  return {{"matrices", speedup.matrices},
          {"faster_percent", speedup.faster_percent},
          {"max", speedup.max},
          {"min", speedup.min},
          {"mean", speedup.mean}};
}

}  // namespace

Json to_json(const EhybCase& one) {
  Json json = to_json(one.formats);
  json["paper_name"] = one.paper_name.empty() ? Json(nullptr) : Json(one.paper_name);
  json["preparation"] = Json::array();
  for (const std::string& form : ehyb_forms)
    if (const auto preparation = one.preparation(form))
      json["preparation"].push_back({{"format", form},
                                     {"product_seconds", preparation->product_seconds},
                                     {"partition_seconds", preparation->partition_seconds},
                                     {"partition_products", preparation->partition_products()},
                                     {"reorder_seconds", preparation->reorder_seconds},
                                     {"reorder_products", preparation->reorder_products()}});
  return json;
}

Json summary_json(const std::vector<EhybCase>& cases, Device device) {
  Json rows = Json::array();
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    for (const std::string& form : ehyb_forms)
      for (const std::string& rival : ehyb_rivals(device))
        if (const auto speedup = ehyb_speedup(cases, type, form, rival)) {
          Json row = {{"type", to_string(type)}, {"format", form}, {"against", rival}};
          row.update(to_json(*speedup));
          const auto paper = device.is_cpu() ? std::nullopt : paper_speedup(type, rival);
          row["paper"] = paper ? to_json(*paper) : Json(nullptr);
          rows.push_back(std::move(row));
        }
  return rows;
}

#define WEFT_INSTANTIATE(V)                                                                        \
  template EhybCase run_ehyb_case<V>(const std::string&, const Csr<V>&, const RunOptions& options, \
                                     std::vector<std::string>& notes);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
