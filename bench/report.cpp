#include "report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "summary.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Seven digits: more than any clock has, and a result file of a suite stays small. JSON has no infinity: null.
Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.7g}", value);
  double rounded = value;  // stays where the text is of a number too small to be read back
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

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

Json to_json(const Setup& setup) {
  return {{"analysis_seconds", number(setup.analysis)},
          {"order_seconds", number(setup.order)},
          {"partition_seconds", number(setup.partition)},
          {"encode_seconds", number(setup.encode)},
          {"upload_seconds", number(setup.upload)}};
}

Json to_json(const Measurement& m) {
  Json json = {{"name", m.name}, {"peer", m.peer}, {"version", m.version}};
  json["failure"] = m.failure.empty() ? Json(nullptr) : Json(m.failure);
  if (!m.measured()) return json;
  json["chosen"] = m.chosen;
  json["details"] = m.details;
  json["correct"] = m.correct;
  json["rank"] = m.rank > 0 ? Json(m.rank) : Json(nullptr);
  json["deterministic"] = m.peer ? Json(nullptr) : Json(m.deterministic);
  json["repeatable"] = m.repeatable;
  json["setup_seconds"] = number(m.setup.total());
  json["setup"] = to_json(m.setup);
  json["setup_products"] = number(m.setup_products);
  json["first_product_seconds"] = number(m.first_product_seconds);
  json["median_seconds"] = number(m.timing.median);
  json["low_seconds"] = number(m.timing.low);
  json["high_seconds"] = number(m.timing.high);
  json["groups"] = m.timing.groups;
  json["products"] = m.timing.products;
  const std::optional<Quartiles>& cold = m.timing.cold;
  json["cold_median_seconds"] = cold ? number(cold->median) : Json(nullptr);
  json["cold_low_seconds"] = cold ? number(cold->low) : Json(nullptr);
  json["cold_high_seconds"] = cold ? number(cold->high) : Json(nullptr);
  json["bytes"] = m.bytes;
  json["bytes_per_nonzero"] = number(m.bytes_per_nonzero);
  json["bytes_estimated"] = m.bytes_estimated;
  json["padding"] = m.peer ? Json(nullptr) : Json(m.padding);
  json["gflops"] = number(m.gflops);
  json["gigabytes_per_second"] = number(m.gigabytes);
  json["bandwidth_share"] = m.bandwidth_share > 0 ? number(m.bandwidth_share) : Json(nullptr);
  json["break_even_products"] = number(m.break_even);
  json["forward_error"] = number(m.forward_error);
  json["backward_error"] = number(m.backward_error);
  json["peer_ratio"] = number(m.peer_ratio);
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

bool Report::all_correct() const {
  for (const Case& one : cases)
    for (const Measurement& m : one.measurements)
      if (!m.peer && m.measured() && !m.correct) return false;
  return true;
}

Json to_json(const Report& report) {
  Json cases = Json::array();
  for (const Case& one : report.cases) cases.push_back(to_json(one));
  Json summaries = Json::array();
  for (const Summary& summary : summarize(report)) summaries.push_back(to_json(summary));
  return {{"schema", Report::schema},
          {"tool", "weft bench"},
          {"command", report.command},
          {"machine", to_json(report.machine)},
          {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
          {"bandwidth_bytes_per_second", report.bandwidth > 0 ? number(report.bandwidth) : Json(nullptr)},
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

std::string to_text(const Report& report) {
  const auto written = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  const auto field = [&](const std::string& key, const Json& value) {
    return fmt::format("{}: {}", Json(key).dump(), written(value));
  };
  const Json all = to_json(report);
  std::string text = "{\n";
  for (const auto& [key, value] : all.items())
    if (key != "cases") text += field(key, value) + ",\n";
  text += "\"cases\": [";
  std::string before_case = "\n";
  for (const Json& one : all["cases"]) {
    text += std::exchange(before_case, ",\n") + "{";
    for (const auto& [key, value] : one.items())
      if (key != "measurements") text += field(key, value) + ",\n ";
    text += "\"measurements\": [";
    std::string before = "\n  ";
    for (const Json& m : one["measurements"]) text += std::exchange(before, ",\n  ") + written(m);
    text += "]}";
  }
  return text + "]\n}\n";
}

std::string to_csv(const Report& report) {
  std::string csv =
      "source,type,device,rows,cols,nonzeros,name,chosen,peer,version,correct,rank,repeatable,setup_seconds,"
      "first_product_seconds,median_seconds,low_seconds,high_seconds,cold_median_seconds,gflops,gigabytes_per_second,"
      "bandwidth_share,bytes_per_nonzero,break_even_products,forward_error,backward_error,peer_ratio,upload_seconds,"
      "setup_products,padding,details,failure\n";
  const auto columns = static_cast<std::size_t>(std::ranges::count(csv, ','));  // before the last, the failure
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements) {
      std::vector<std::string> cells = {
          csv_text(one.source),     std::string(to_string(one.type)), report.device.name(), std::to_string(one.rows),
          std::to_string(one.cols), std::to_string(one.nonzeros),     csv_text(m.name)};
      const auto add = [&](const auto& value) { cells.push_back(fmt::format("{}", value)); };
      add(m.measured() ? csv_text(m.chosen) : "");
      add(m.peer);
      add(csv_text(m.version));
      if (m.measured()) {
        add(m.correct);
        add(m.rank > 0 ? std::to_string(m.rank) : "");
        add(m.repeatable);
        add(m.setup.total());
        add(m.first_product_seconds);
        add(m.timing.median);
        add(m.timing.low);
        add(m.timing.high);
        add(m.timing.cold ? fmt::format("{}", m.timing.cold->median) : "");
        add(m.gflops);
        add(m.gigabytes);
        add(m.bandwidth_share > 0 ? fmt::format("{}", m.bandwidth_share) : "");
        add(m.bytes_per_nonzero);
        add(csv_number(m.break_even));
        add(m.forward_error);
        add(m.backward_error);
        add(csv_number(m.peer_ratio));
        add(m.setup.upload);
        add(csv_number(m.setup_products));
        add(m.peer ? "" : std::to_string(m.padding));
        add(csv_text(m.details));
      }
      cells.resize(columns);
      cells.push_back(csv_text(m.failure));
      csv += fmt::format("{}\n", fmt::join(cells, ","));
    }
  return csv;
}

}  // namespace weft::bench
