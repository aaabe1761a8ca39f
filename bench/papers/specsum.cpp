#include "specsum.hpp"

#include <weft/runtime.hpp>
#include <weft/structure.hpp>

#include <nlohmann/json.hpp>

namespace weft::bench {

const std::vector<SpecsumPaperMatrix>& specsum_matrices() {
  static const std::vector<SpecsumPaperMatrix> all = {
      {"Dense", "dense2", "gen:dense:2000", "2 K", "2 K", "4.0 M", "2 K, 2 K, 2 K"},
      {"Protein", "pdb1HYS", "", "36 K", "36 K", "4.3 M", "18, 119, 204"},
      {"FEM/Spheres", "consph", "", "83 K", "83 K", "6.0 M", "1, 72, 81"},
      {"FEM/Cantilever", "cant", "", "62 K", "62 K", "4.0 M", "1, 64, 78"},
      {"Wind Tunnel", "pwtk", "", "218 K", "218 K", "11.6 M", "2, 53, 180"},
      {"FEM/Harbor", "rma10", "", "47 K", "47 K", "2.4 M", "4, 50, 145"},
      {"QCD", "qcd5_4", "gen:lattice4d:8", "49 K", "49 K", "1.9 M", "39, 39, 39"},
      {"FEM/Ship", "shipsec1", "", "141 K", "141 K", "7.8 M", "24, 55, 102"},
      {"Economics", "mac_econ_fwd500", "", "207 K", "207 K", "1.3 M", "1, 6, 44"},
      {"Epidemiology", "mc2depi", "gen:epidemic2d:2050:257", "526 K", "526 K", "2.1 M", "2, 3, 4"},
      {"FEM/Accelerator", "cop20k_A", "", "121 K", "121 K", "2.6 M", "0, 21, 81"},
      {"Circuit", "scircuit", "", "171 K", "171 K", "959 K", "1, 5, 353"},
      {"Webbase", "webbase-1M", "", "1 M", "1 M", "3.1 M", "1, 3, 4.7 K"},
      {"LP", "rail4284", "", "4 K", "1.1 M", "11.3 M", "1, 2.6 K, 56.2 K"},
      {"ASIC_680k", "ASIC_680k", "", "683 K", "683 K", "3.9 M", "1, 6, 395 K"},
      {"boyd2", "boyd2", "", "466 K", "466 K", "1.5 M", "2, 3, 93 K"},
      {"dc2", "dc2", "", "117 K", "117 K", "766 K", "1, 7, 114 K"},
      {"ins2", "ins2", "", "309 K", "309 K", "2.8 M", "5, 9, 309 K"},
      {"rajat21", "rajat21", "", "412 K", "412 K", "1.9 M", "1, 5, 119 K"},
      {"transient", "transient", "", "179 K", "179 K", "962 K", "1, 5, 60 K"},
  };
  return all;
}

const SpecsumPaperMatrix* find_specsum_matrix(const std::string& source) {
  std::string stem = stem_of(source);
  if (stem == "conf5_4-8x8-05") stem = "qcd5_4";  // the collection's name for it
  for (const SpecsumPaperMatrix& matrix : specsum_matrices())
    if (source == matrix.source || stem == matrix.name) return &matrix;
  return nullptr;
}

std::vector<std::string> specsum_sources(const std::vector<std::string>& given, Device device) {
  if (!given.empty()) {
    std::vector<std::string> names;
    for (const SpecsumPaperMatrix& matrix : specsum_matrices()) names.emplace_back(matrix.name);
    names.emplace_back("conf5_4-8x8-05");
    return expand_folders(given, names, "Table 3");
  }
  if (device.kind() == Device::Kind::emulator)
    return {"gen:dense:60", "gen:lattice4d:3", "gen:circuit:1000", "gen:empty-rows:1000"};
  std::vector<std::string> sources;
  for (const SpecsumPaperMatrix& matrix : specsum_matrices())
    if (*matrix.source) sources.emplace_back(matrix.source);
  // Structures; then circuits, graphs and programs with a few very long rows, and empty ones, which make tiles dirty.
  const std::vector<std::string> like_others =
      device.is_cpu() ? std::vector<std::string>{"gen:elasticity3d:20", "gen:circuit:200000", "gen:rmat:15",
                                                 "gen:lp:4000:200000", "gen:empty-rows:500000"}
                      : std::vector<std::string>{"gen:elasticity3d:64", "gen:circuit:2000000", "gen:rmat:20",
                                                 "gen:lp:4000:1000000:shortest=256", "gen:empty-rows:5000000"};
  sources.insert(sources.end(), like_others.begin(), like_others.end());
  return sources;
}

std::string specsum_subject(Device device) { return device.is_cpu() ? "csr" : "csr:speculative"; }

std::vector<std::string> specsum_rivals(Device device) {
  if (device.is_cpu()) return {"mkl", "eigen"};
  std::vector<std::string> rivals = {"csr:scalar", "csr:vector", "csr:speculative-cpu", "csr:merge"};
  if (device.kind() == Device::Kind::gpu) rivals.emplace_back("cusparse:csr-default");
  return rivals;
}

std::optional<double> SpecsumCase::cpu_seconds() const {
  const Measurement* m = fastest_on_cpu();
  return m ? std::optional(m->timing.median) : std::nullopt;
}

std::optional<double> SpecsumCase::one_thread_seconds() const {
  const Measurement* m = one_thread ? find_measured(*one_thread, "csr") : nullptr;
  return m ? std::optional(m->timing.median) : std::nullopt;
}

double SpecsumCase::gflops(double seconds) const { return 2e-9 * static_cast<double>(formats.nonzeros) / seconds; }

std::optional<double> SpecsumCase::bandwidth(const std::string& name) const {
  const Measurement* m = find(name);
  if (!m) return {};
  const double value_bytes = formats.type == ValueType::f32 ? sizeof(float) : sizeof(double);
  const auto rows = static_cast<double>(formats.rows), entries = static_cast<double>(formats.nonzeros);
  return ((rows + 1 + entries) * sizeof(Index) + (2 * entries + rows) * value_bytes) / m->timing.median;
}

namespace {

/// One thread while it lives.
class OneThread {
 public:
  OneThread() : before_(threads()) { set_threads(1); }
  ~OneThread() { set_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace

template <Value V>
SpecsumCase run_specsum_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                             std::vector<std::string>& notes) {
  std::vector<std::string> names = {specsum_subject(options.device)};
  for (std::string& rival : specsum_rivals(options.device)) names.push_back(std::move(rival));
  SpecsumCase result{run_paper_case(source, matrix, names, true, options, notes)};
  result.paper = find_specsum_matrix(source);
  if (result.paper) result.paper_name = result.paper->name;
  const RowLengths lengths = analyze_rows(matrix);
  result.shortest_row = lengths.shortest_row;
  result.longest_row = lengths.longest_row;
  result.empty_rows = lengths.empty_rows;
  const OneThread alone;
  RunOptions cpu = options;
  cpu.device = Device::cpu();
  cpu.formats = {"csr"};
  cpu.peers = "none";
  cpu.bandwidth = 0;
  result.one_thread = run_case(source, matrix, cpu, notes);
  return result;
}

std::vector<std::string> specsum_summary_rivals(Device device) {
  std::vector<std::string> rivals = specsum_rivals(device);
  if (!device.is_cpu()) rivals.push_back(cpu_rival);
  rivals.push_back(one_thread_rival);
  return rivals;
}

std::optional<Speedup> specsum_speedup(const std::vector<SpecsumCase>& cases, ValueType type,
                                       const std::string& subject, const std::string& rival) {
  if (rival != cpu_rival && rival != one_thread_rival) return speedup_over(cases, type, subject, rival);
  return speedup_over(
      cases,
      [&](const SpecsumCase& one) {
        if (one.formats.type != type) return std::optional<double>();
        return rival == cpu_rival ? one.cpu_seconds() : one.one_thread_seconds();
      },
      [&](const SpecsumCase& one) {
        const Measurement* m = one.find(subject);
        return m ? std::optional(m->timing.median) : std::nullopt;
      });
}

std::vector<SpecsumPaperSpeedup> paper_specsum_speedups(ValueType type, const std::string& rival) {
  const bool single = type == ValueType::f32;
  const auto pick = [&](double in_f32, double in_f64) { return single ? in_f32 : in_f64; };
  const auto& [intel, amd, nvidia] = specsum_processors;
  if (rival == "csr:scalar") return {{amd, pick(71.90, 94.05), pick(22.17, 22.88)}};
  if (rival == "csr:vector") {
    // OpenCL had no double precision for Intel's GPU. On the Tegra it is CUSP's.
    std::vector<SpecsumPaperSpeedup> all;
    if (single) all.push_back({intel, 6.90, 2.57});
    all.push_back({amd, pick(16.07, 14.43), pick(5.61, 4.47)});
    all.push_back({nvidia, pick(5.91, 6.20), pick(2.69, 2.53)});
    return all;
  }
  if (rival == cpu_rival) return {{nvidia, 0, pick(1.41, 1.42)}};
  return {};
}

using Json = nlohmann::ordered_json;

Json to_json(const SpecsumCase& one) {
  Json json = to_json(static_cast<const PaperCase&>(one));
  json["shortest_row"] = one.shortest_row;
  json["longest_row"] = one.longest_row;
  json["empty_rows"] = one.empty_rows;
  json["cpu_seconds"] = or_null(one.cpu_seconds());
  json["one_thread_seconds"] = or_null(one.one_thread_seconds());
  json["paper_bytes_per_second"] = Json::object();
  for (const Measurement& m : one.formats.measurements)
    json["paper_bytes_per_second"][m.name] = or_null(one.bandwidth(m.name));
  json["paper"] = nullptr;
  if (one.paper)
    json["paper"] = {{"title", one.paper->title},
                     {"rows", one.paper->rows},
                     {"cols", one.paper->cols},
                     {"nonzeros", one.paper->nonzeros},
                     {"row_lengths", one.paper->lengths}};
  return json;
}

Json summary_json(const std::vector<SpecsumCase>& cases, Device device) {
  Json rows = Json::array();
  const std::string subject = specsum_subject(device);
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    for (const std::string& rival : specsum_summary_rivals(device)) {
      const auto speedup = specsum_speedup(cases, type, subject, rival);
      if (!speedup) continue;
      Json row = {{"type", to_string(type)}, {"format", subject}, {"against", rival}};
      row.update(to_json(*speedup));
      row["paper"] = Json::array();
      if (!device.is_cpu())
        for (const SpecsumPaperSpeedup& paper : paper_specsum_speedups(type, rival))
          row["paper"].push_back({{"processor", paper.processor},
                                  {"max", paper.max > 0 ? Json(paper.max) : Json(nullptr)},
                                  {"mean", paper.mean}});
      rows.push_back(std::move(row));
    }
  return rows;
}

#define WEFT_INSTANTIATE(V)                                                                              \
  template SpecsumCase run_specsum_case<V>(const std::string&, const Csr<V>&, const RunOptions& options, \
                                           std::vector<std::string>& notes);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
