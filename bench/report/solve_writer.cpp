#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "fields.hpp"
#include "json_file.hpp"
#include "solve_report.hpp"
#include "writer.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Of what could be measured; what failed has the first six only.
Json to_json(const SolveMeasurement& m) {
  Json json = {
      {"name", m.name}, {"method", m.method},   {"preconditioner", m.preconditioner},
      {"peer", m.peer}, {"version", m.version}, {"failure", m.failure.empty() ? Json(nullptr) : Json(m.failure)}};
  if (!m.measured()) return json;
  json["chosen"] = m.chosen;
  json["details"] = m.details;
  json["recipe"] = m.recipe;
  json["status"] = m.status;
  json["reached"] = m.reached;
  json["repeatable"] = m.repeatable;
  json["rank"] = m.rank > 0 ? Json(m.rank) : Json(nullptr);
  json["setup_seconds"] = number(m.setup_seconds());
  json["plan_seconds"] = number(m.plan_seconds);
  json["preconditioner_seconds"] = number(m.preconditioner_seconds);
  json["upload_seconds"] = number(m.upload_seconds);
  json["median_seconds"] = number(m.solve.median);
  json["low_seconds"] = number(m.solve.low);
  json["high_seconds"] = number(m.solve.high);
  json["solves"] = m.solves;
  json["iterations"] = m.iterations;
  json["iteration_seconds"] = number(m.iteration_seconds());
  json["total_seconds"] = number(m.total_seconds());
  json["relative_residual"] = number(m.relative_residual);
  json["peer_ratio"] = number(m.peer_ratio);
  json["iteration_ratio"] = number(m.iteration_ratio);
  return json;
}

}  // namespace

Json to_json(const SolveCase& one) {
  Json measurements = Json::array();
  for (const SolveMeasurement& m : one.measurements) measurements.push_back(to_json(m));
  return {{"source", one.source}, {"type", to_string(one.type)},
          {"rows", one.rows},     {"nonzeros", one.nonzeros},
          {"rtol", one.rtol},     {"measurements", std::move(measurements)}};
}

Json to_json(const SolveBenchReport& report) {
  Json cases = Json::array();
  for (const SolveCase& one : report.cases) cases.push_back(to_json(one));
  return {{"schema", SolveBenchReport::schema},
          {"tool", solve_tool},
          {"command", report.command},
          {"machine", to_json(report.machine)},
          {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
          {"parameters",
           {{"seconds", report.seconds},
            {"repeats", report.repeats},
            {"products", report.products},
            {"max_iterations", report.max_iterations},
            {"seed", report.seed}}},
          {"notes", report.notes},
          {"cases", std::move(cases)}};
}

std::string to_text(const SolveBenchReport& report) { return text_of_results(to_json(report)); }

std::string to_csv(const SolveBenchReport& report) {
  // Every field but the sentence, which is last; a failed measurement has empty cells.
  const Json names = to_json(SolveMeasurement{});
  std::string csv = "source,type,device,rows,nonzeros,rtol";
  for (const auto& [key, value] : names.items())
    if (key != "failure") csv += "," + key;
  csv += ",failure\n";
  for (const SolveCase& one : report.cases)
    for (const SolveMeasurement& m : one.measurements) {
      csv += fmt::format("{},{},{},{},{},{}", csv_text(one.source), to_string(one.type), report.device.name(), one.rows,
                         one.nonzeros, one.rtol);
      const Json json = to_json(m);
      for (const auto& [key, value] : names.items())
        if (key != "failure") csv += "," + (json.contains(key) ? csv_cell(json[key]) : std::string());
      csv += fmt::format(",{}\n", csv_text(m.failure));
    }
  return csv;
}

}  // namespace weft::bench
