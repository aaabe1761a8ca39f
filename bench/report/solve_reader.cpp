#include "solve_reader.hpp"

#include <fmt/format.h>

#include <limits>

#include "json_file.hpp"
#include "reader.hpp"
#include "solve_report.hpp"

namespace weft::bench {
namespace {

using Json = Place::Json;

constexpr const char* kind = "results of weft bench";

// What nobody measures; beyond, a page would be one that nobody can open.
constexpr std::size_t max_cases = 10'000;
constexpr std::size_t max_measurements = 100'000;

SolveMeasurement read_measurement(const Place& place) {
  SolveMeasurement m;
  m.name = place["name"].text();
  m.method = place["method"].text();
  m.preconditioner = place["preconditioner"].text();
  m.peer = place["peer"].truth();
  m.version = place["version"].text();
  if (const Place failure = place["failure"]; !failure.null()) {
    m.failure = failure.text();
    if (m.failure.empty()) failure.expected("a sentence or null");
    return m;
  }
  m.chosen = place["chosen"].text();
  m.details = place["details"].text();
  m.recipe = place["recipe"].text();
  m.status = place["status"].text();
  m.reached = place["reached"].truth();
  m.repeatable = place["repeatable"].truth();
  if (const Place rank = place["rank"]; !rank.null()) m.rank = rank.small();
  m.plan_seconds = place["plan_seconds"].seconds();
  m.preconditioner_seconds = place["preconditioner_seconds"].seconds();
  m.upload_seconds = place["upload_seconds"].seconds();
  m.solve = {place["median_seconds"].seconds(), place["low_seconds"].seconds(), place["high_seconds"].seconds()};
  m.solves = place["solves"].small();
  m.iterations = place["iterations"].whole();
  m.relative_residual = place["relative_residual"].error();
  m.peer_ratio = place["peer_ratio"].optional_amount();
  m.iteration_ratio = place["iteration_ratio"].optional_amount();
  return m;
}

SolveCase read_case(const Place& place, std::size_t& measurements) {
  SolveCase one;
  one.source = place["source"].text();
  one.type = read_type(place["type"]);
  one.rows = place["rows"].whole(std::numeric_limits<Index>::max());
  one.nonzeros = place["nonzeros"].whole();
  one.rtol = place["rtol"].amount();
  for (const Place& m : place["measurements"].list(max_measurements)) {
    if (++measurements > max_measurements) m.expected(fmt::format("at most {} measurements", max_measurements));
    one.measurements.push_back(read_measurement(m));
  }
  return one;
}

SolveBenchReport read_all(const Place& file) {
  if (const Place tool = file["tool"]; tool.text() != solve_tool) tool.expected(fmt::format("\"{}\"", solve_tool));
  const Place number = file["schema"];
  if (number.whole() != SolveBenchReport::schema)
    number.expected(fmt::format("{}, as this version of weft reads", SolveBenchReport::schema));
  SolveBenchReport report;
  report.command = file["command"].text();
  report.machine = read_machine(file["machine"], 2);
  report.device = read_device(file["device"]["device"]);
  report.device_name = file["device"]["name"].text();
  const Place parameters = file["parameters"];
  report.seconds = parameters["seconds"].seconds();
  report.repeats = parameters["repeats"].small();
  report.products = parameters["products"].whole();
  report.max_iterations = parameters["max_iterations"].whole();
  report.seed = parameters["seed"].seed();
  for (const Place& note : file["notes"].list(1000)) report.notes.push_back(note.text());
  std::size_t measurements = 0;
  for (const Place& one : file["cases"].list(max_cases)) report.cases.push_back(read_case(one, measurements));
  return report;
}

}  // namespace

bool is_solve_report(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name, kind);
  if (!json.is_object()) return false;
  const auto tool = json.find("tool");
  return tool != json.end() && tool->is_string() && tool->get_ref<const std::string&>() == solve_tool;
}

SolveBenchReport parse_solve_report(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name, kind);
  return read_all({json, name, "", "a result of weft bench --solve"});
}

}  // namespace weft::bench
