#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/harness/machine.hpp"
#include "bench/report/draw.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "bench/report/writer.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Four digits for the fastest; the same number of decimals for all, so that they line up.
std::string speed_text(double gflops, const TuneReport& report) {
  double fastest = 0;
  for (const Tuned& one : report.tuned) fastest = std::max(fastest, one.search.find(one.search.best)->mean());
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(fastest))), 1, 9);
  return fmt::format("{:.{}f}", gflops, decimals);
}

/// One point of a curve; null when it was not tried.
std::string point_text(const Trial* trial, const Tuned& one, const TuneReport& report) {
  if (trial == nullptr) return "-  ";
  const char* mark = !trial->correct ? " WRONG" : trial->shape == one.search.best ? " *" : "  ";
  return speed_text(trial->mean(), report) + mark;
}

std::vector<std::string> titles(std::string first, const TuneReport& report) {
  std::vector<std::string> result{std::move(first)};
  for (const Tuned& one : report.tuned) result.push_back(fmt::format("{}  ", to_string(one.type)));
  return result;
}

/// The other two parameters, as the best setting has them: "S = 8, B = 4".
std::string fixed_text(const Shape& best, const Parameter& along) {
  std::string text;
  for (const Parameter& other : parameters)
    if (other.letter != along.letter)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", other.letter, best.*other.member);
  return text;
}

/// Figures 7 and 8 of the paper as a table: the speed while one parameter changes.
std::string curve_table(const TuneReport& report, const Parameter& along) {
  std::string heading = fmt::format("\n{}, {}; fixed:", along.letter, along.meaning);
  std::vector<int> values;
  for (const Tuned& one : report.tuned) {
    heading += fmt::format("{} {} in {}", &one == &report.tuned.front() ? "" : ";", fixed_text(one.search.best, along),
                           to_string(one.type));
    for (const Trial* trial : one.search.curve(one.grid, along)) values.push_back(trial->shape.*along.member);
  }
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());

  Table table(titles(std::string(1, along.letter), report));
  for (int value : values) {
    std::vector<std::string> cells{std::to_string(value)};
    for (const Tuned& one : report.tuned) {
      Shape shape = one.search.best;
      shape.*along.member = value;
      cells.push_back(point_text(one.search.find(shape), one, report));
    }
    table.add(std::move(cells));
  }
  return heading + "\n" + table.text(2);
}

std::string matrix_table(const TuneReport& report) {
  std::vector<std::string> names{"matrix", "rows", "nonzeros"};
  for (const Tuned& one : report.tuned) names.push_back(fmt::format("{}", to_string(one.type)));
  Table table(std::move(names));
  for (std::size_t m = 0; m < report.matrices.size(); ++m) {
    const MatrixFacts& facts = report.matrices[m];
    std::vector<std::string> cells{facts.source, count_text(facts.rows), count_text(facts.nonzeros)};
    for (const Tuned& one : report.tuned)
      cells.push_back(speed_text(one.search.find(one.search.best)->gflops[m], report));
    table.add(std::move(cells));
  }
  return "\nGFLOP/s on each matrix with the best\n" + table.text(2);
}

/// A column for each value type and for what is kept, as the paper's Table 1.
std::string best_table(const TuneReport& report) {
  std::vector<std::string> names{""}, threads{"T"}, speeds{"GFLOP/s"};
  for (const Tuned& one : report.tuned)
    for (const auto& [what, shape] : {std::pair{"best", one.search.best}, std::pair{"kept", one.search.kept}}) {
      names.push_back(fmt::format("{} {}", what, to_string(one.type)));
      threads.emplace_back("32");
      speeds.push_back(speed_text(one.search.find(shape)->mean(), report));
    }
  Table table(std::move(names));
  table.add(std::move(threads));
  for (const char letter : {'W', 'B', 'S'}) {
    const Parameter& parameter = *std::ranges::find(parameters, letter, &Parameter::letter);
    std::vector<std::string> cells{std::string(1, letter)};
    for (const Tuned& one : report.tuned)
      for (const Shape& shape : {one.search.best, one.search.kept})
        cells.push_back(std::to_string(shape.*parameter.member));
    table.add(std::move(cells));
  }
  table.add(std::move(speeds));
  return "\nThe best parameters, and those compiled in\n" + table.text(2);
}

Json to_json(const Trial& trial) {
  Json json;
  for (const Parameter& parameter : parameters) json[std::string(1, parameter.letter)] = trial.shape.*parameter.member;
  json["gflops"] = trial.mean();
  json["correct"] = trial.correct;
  json["max_error"] = trial.max_error;
  json["gflops_by_matrix"] = trial.gflops;
  return json;
}

Json to_json(const Tuned& one) {
  const Search& search = one.search;
  Json json = {{"type", to_string(one.type)},
               {"T", 32},
               {"best", to_json(*search.find(search.best))},
               {"kept", to_json(*search.find(search.kept))},
               {"shortfall", search.shortfall()},
               {"rounds", search.rounds}};
  for (const Parameter& along : parameters)
    for (const Trial* trial : search.curve(one.grid, along))
      json["curves"][std::string(1, along.letter)].push_back(
          {{std::string(1, along.letter), trial->shape.*along.member}, {"gflops", trial->mean()}});
  for (const Trial& trial : search.trials) json["tried"].push_back(to_json(trial));
  return json;
}

}  // namespace

std::string tune_text(const TuneReport& report) {
  const std::size_t count = report.matrices.size();
  std::string text = fmt::format("{}\ncsr:speculative, harmonic means of GFLOP/s over {} {}; * is the best\n",
                                 report.device_name, count, count == 1 ? "matrix" : "matrices");
  for (const Parameter& along : parameters) text += curve_table(report, along);
  text += matrix_table(report) + best_table(report) + "\n";
  for (const Tuned& one : report.tuned)
    text += one.search.best == one.search.kept
                ? fmt::format("{}: the values kept are the best of {} tried\n", to_string(one.type),
                              one.search.trials.size())
                : fmt::format("{}: the values kept are within {} of the best of {} tried\n", to_string(one.type),
                              percent_text(one.search.shortfall()), one.search.trials.size());
  return text;
}

std::string tune_json(const TuneReport& report) {
  Json json = {
      {"schema", 1},
      {"tool", "weft tune-kernels"},
      {"machine", to_json(this_machine())},
      {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
      {"format", "csr:speculative"},
      {"parameters",
       {{"seconds", report.seconds}, {"groups", report.groups}, {"seed", report.seed}, {"joint", report.joint}}}};
  for (const MatrixFacts& facts : report.matrices)
    json["matrices"].push_back(
        {{"source", facts.source}, {"rows", facts.rows}, {"cols", facts.cols}, {"nonzeros", facts.nonzeros}});
  for (const Tuned& one : report.tuned) json["results"].push_back(to_json(one));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string tune_svg(const TuneReport& report) {
  const std::string name = "csr:speculative on " + report.device_name.substr(0, report.device_name.find(" ("));
  std::vector<std::pair<std::vector<Series>, LineChart>> charts;
  for (const Parameter& along : parameters) {
    std::vector<Series> lines;
    for (const Tuned& one : report.tuned) {
      Series line{fmt::format("{}, {}", to_string(one.type), fixed_text(one.search.best, along)), {}};
      for (const Trial* trial : one.search.curve(one.grid, along))
        line.points.emplace_back(trial->shape.*along.member, trial->mean());
      lines.push_back(std::move(line));
    }
    charts.emplace_back(std::move(lines),
                        LineChart{fmt::format("{} while {} changes", name, along.letter),
                                  fmt::format("{}, {}", along.letter, along.meaning), "GFLOP/s, harmonic mean"});
  }
  return line_charts_svg(charts, name);
}

std::string wrong_settings(const TuneReport& report) {
  std::string text;
  for (const Tuned& one : report.tuned)
    for (const Trial& trial : one.search.trials)
      if (!trial.correct)
        text += fmt::format("{}W = {}, S = {}, B = {} in {}", text.empty() ? "" : "; ", trial.shape.width,
                            trial.shape.tiles, trial.shape.bunches, to_string(one.type));
  return text;
}

}  // namespace weft::bench
