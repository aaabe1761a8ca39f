#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

Json to_json(const Measurement& m) {
  Json json = {{"name", m.name}, {"peer", m.peer}};
  json["failure"] = m.failure.empty() ? Json(nullptr) : Json(m.failure);
  if (!m.measured()) return json;
  json["chosen"] = m.chosen;
  json["details"] = m.details;
  json["correct"] = m.correct;
  json["deterministic"] = m.deterministic;
  json["setup_seconds"] = m.setup_seconds;
  json["upload_seconds"] = m.upload_seconds;
  json["partition_seconds"] = m.partition_seconds;
  json["setup_products"] = number(m.setup_products);
  json["median_seconds"] = m.timing.median;
  json["low_seconds"] = m.timing.low;
  json["high_seconds"] = m.timing.high;
  json["groups"] = m.timing.groups;
  json["products"] = m.timing.products;
  json["bytes"] = m.bytes;
  json["bytes_per_nonzero"] = m.bytes_per_nonzero;
  json["padding"] = m.peer ? Json(nullptr) : Json(m.padding);
  json["gflops"] = m.gflops;
  json["gigabytes_per_second"] = m.gigabytes;
  json["bandwidth_share"] = m.bandwidth_share > 0 ? Json(m.bandwidth_share) : Json(nullptr);
  json["break_even_products"] = number(m.break_even);
  json["max_error"] = m.max_error;
  json["peer_ratio"] = number(m.peer_ratio);
  return json;
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
          {"ordering_seconds", one.ordering_seconds},
          {"measurements", std::move(measurements)}};
}

bool Report::all_correct() const {
  for (const Case& one : cases)
    for (const Measurement& m : one.measurements)
      if (!m.peer && m.measured() && !m.correct) return false;
  return true;
}

Json to_json(const Report& report) {
  Json cases = Json::array();
  for (const Case& one : report.cases) cases.push_back(to_json(one));
  return {{"schema", Report::schema},
          {"tool", "weft bench"},
          {"machine", to_json(report.machine)},
          {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
          {"bandwidth_bytes_per_second", report.bandwidth > 0 ? Json(report.bandwidth) : Json(nullptr)},
          {"parameters", {{"seconds", report.seconds}, {"groups", report.groups}, {"seed", report.seed}}},
          {"notes", report.notes},
          {"cases", std::move(cases)}};
}

std::string to_csv(const Report& report) {
  std::string csv =
      "source,type,device,rows,cols,nonzeros,name,chosen,peer,correct,setup_seconds,median_seconds,low_seconds,"
      "high_seconds,gflops,gigabytes_per_second,bandwidth_share,bytes_per_nonzero,break_even_products,max_error,"
      "peer_ratio,upload_seconds,setup_products,padding,details,failure\n";
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements) {
      csv += fmt::format("{},{},{},{},{},{},{},", csv_text(one.source), to_string(one.type), report.device.name(),
                         one.rows, one.cols, one.nonzeros, csv_text(m.name));
      if (m.measured())
        csv +=
            fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\n", csv_text(m.chosen), m.peer,
                        m.correct, m.setup_seconds, m.timing.median, m.timing.low, m.timing.high, m.gflops, m.gigabytes,
                        m.bandwidth_share > 0 ? fmt::format("{}", m.bandwidth_share) : "", m.bytes_per_nonzero,
                        csv_number(m.break_even), m.max_error, csv_number(m.peer_ratio), m.upload_seconds,
                        csv_number(m.setup_products), m.peer ? "" : std::to_string(m.padding), csv_text(m.details));
      else
        csv += fmt::format(",{},,,,,,,,,,,,,,,,,{}\n", m.peer, csv_text(m.failure));
    }
  return csv;
}

}  // namespace weft::bench
