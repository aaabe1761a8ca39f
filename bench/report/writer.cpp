#include "writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "fields.hpp"
#include "json_file.hpp"
#include "numbers.hpp"
#include "summary.hpp"

namespace weft::bench {

using Json = nlohmann::ordered_json;

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_text(value.get<std::string>());
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

Json to_json(const Machine& machine) {
  Json gpus = Json::array();
  for (const DeviceInfo& gpu : machine.gpus)
    gpus.push_back({{"device", gpu.device.name()},
                    {"name", gpu.description},
                    {"memory_bytes", gpu.memory_bytes},
                    {"multiprocessors", gpu.multiprocessors},
                    {"l2_bytes", gpu.l2_bytes},
                    {"compute_capability", gpu.compute_capability}});
  return {{"version", machine.version},
          {"commit", machine.commit},
          {"compiler", machine.compiler},
          {"build_type", machine.build_type},
          {"cpu", machine.cpu},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"threads", machine.threads},
          {"isa", machine.isa},
          {"gpus", std::move(gpus)},
          {"driver", machine.driver},
          {"why_no_gpu", machine.why_no_gpu}};
}

Json to_json(const Measurement& m) {
  Json json;
  for (const Field& field : measurement_fields())
    if (field.in != Field::In::csv && (field.always || m.measured())) json[field.name] = field.write(m);
  return json;
}

Json to_json(const Portrait& portrait) {
  Json lengths = Json::array();
  for (const LengthBin& bin : portrait.lengths) lengths.push_back({bin.first, bin.last, bin.rows});
  return {{"cells", portrait.cells}, {"row_lengths", std::move(lengths)}};
}

Json to_json(const Case& one) {
  Json measurements = Json::array();
  for (const Measurement& m : one.measurements) measurements.push_back(to_json(m));
  return {{"source", one.source},
          {"type", to_string(one.type)},
          {"rows", one.rows},
          {"cols", one.cols},
          {"nonzeros", one.nonzeros},
          {"ordering", to_string(one.ordering)},
          {"vectors", one.vectors},
          {"layout", layout_name(one.layout)},
          {"portrait", to_json(one.portrait)},
          {"measurements", std::move(measurements)}};
}

Json to_json(const Summary& summary) {
  Json names = Json::array();
  for (const NameSummary& one : summary.names)
    names.push_back({{"name", one.name},
                     {"peer", one.peer},
                     {"measured", one.measured},
                     {"peer_ratio_geometric_mean", number(one.peer_ratio)}});
  return {{"type", to_string(summary.type)},
          {"matrices", summary.matrices},
          {"compared", summary.compared},
          {"ratio_geometric_mean", number(summary.ratio)},
          {"wins", summary.wins},
          {"ties", summary.ties},
          {"losses", summary.losses},
          {"names", std::move(names)}};
}

Json to_json(const Report& report) {
  Json cases = Json::array();
  for (const Case& one : report.cases) cases.push_back(to_json(one));
  Json caches = Json::array();
  for (const CacheBandwidth& cache : report.caches)
    caches.push_back({{"bytes", cache.bytes}, {"bytes_per_second", number(cache.bandwidth)}});
  Json summaries = Json::array();
  for (const Summary& summary : summarize(report)) summaries.push_back(to_json(summary));
  return {{"schema", Report::schema},
          {"tool", "weft bench"},
          {"command", report.command},
          {"machine", to_json(report.machine)},
          {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
          {"bandwidth_bytes_per_second", report.bandwidth > 0 ? number(report.bandwidth) : Json(nullptr)},
          {"cache_bandwidths", std::move(caches)},
          {"parameters",
           {{"seconds", report.seconds},
            {"groups", report.groups},
            {"products", report.products},
            {"seed", report.seed},
            {"cold", report.cold}}},
          {"notes", report.notes},
          {"summary", std::move(summaries)},
          {"cases", std::move(cases)}};
}

std::string to_text(const Report& report) { return text_of_results(to_json(report)); }

std::string to_csv(const Report& report) {
  std::string csv = "source,type,device,rows,cols,nonzeros,vectors,layout";
  for (const Field& field : measurement_fields())
    if (field.in != Field::In::json) csv += fmt::format(",{}", field.name);
  csv += ",failure\n";
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements) {
      csv += fmt::format("{},{},{},{},{},{},{},{}", csv_text(one.source), to_string(one.type), report.device.name(),
                         one.rows, one.cols, one.nonzeros, one.vectors, layout_name(one.layout));
      for (const Field& field : measurement_fields())
        if (field.in != Field::In::json) csv += "," + (field.always || m.measured() ? csv_cell(field.write(m)) : "");
      csv += fmt::format(",{}\n", csv_text(m.failure));
    }
  return csv;
}

}  // namespace weft::bench
