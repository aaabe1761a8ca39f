#include "ehyb.hpp"

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

std::string find_ehyb_matrix(const std::string& source) { return find_name(ehyb_matrices(), source); }

std::vector<std::string> ehyb_sources(const std::vector<std::string>& given, Device device) {
  if (!given.empty()) return expand_folders(given, ehyb_matrices(), "Table 3");
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
  std::vector<std::string> rivals = available_on(device, {"csr", "csr:merge", "csr:speculative"});
  if (device.is_cpu()) rivals.emplace_back("eigen");
  if (device.kind() == Device::Kind::gpu)
    for (const char* name : {"cusparse:csr-alg1", "cusparse:csr-alg2"}) rivals.emplace_back(name);
  return rivals;
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
  std::vector<std::string> names = ehyb_forms;
  for (std::string& rival : ehyb_rivals(options.device)) names.push_back(std::move(rival));
  EhybCase result{run_paper_case(source, matrix, names, false, options, notes)};
  result.paper_name = find_ehyb_matrix(source);
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

Json to_json(const EhybCase& one) {
  Json json = to_json(static_cast<const PaperCase&>(one));
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
        if (const auto speedup = speedup_over(cases, type, form, rival)) {
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
