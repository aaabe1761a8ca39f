#include <fmt/format.h>
#include <weft/runtime.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bench/machine.hpp"
#include "bench/names.hpp"
#include "bench/tune.hpp"
#include "draw.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "table.hpp"

namespace weft::app {
namespace {

using bench::Parameter;
using bench::Search;
using bench::Shape;
using bench::Trial;
using Json = nlohmann::ordered_json;

struct TuneKernelsOptions {
  CommonOptions common;
  ReadingOptions reading{.type = "both"};
  std::vector<std::string> sources;
  std::string device = "gpu";
  std::string widths, tiles, bunches;
  bool joint = false;
  double seconds = 0.02;
  int groups = 5;
  std::uint64_t seed = 1;
  std::string json;
  std::string svg;
};

/// Even, short, uneven and huge rows, and empty ones (rmat): 15 to 26 million entries each, far more than a cache
/// holds.
const std::vector<std::string> gpu_sources = {"gen:poisson3d:144",  "gen:stencil27:96", "gen:elasticity3d:48",
                                              "gen:rmat:20",        "gen:tall",         "gen:lp:80000:2000000",
                                              "gen:circuit:3000000"};

/// The same kinds, a few thousand entries each.
const std::vector<std::string> emulator_sources = {"gen:poisson3d:7", "gen:stencil27:5", "gen:elasticity3d:3",
                                                   "gen:rmat:7",      "gen:tall:1000",   "gen:lp:20:2000",
                                                   "gen:circuit:400"};

struct MatrixFacts {
  std::string source;
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
};

/// What was found for one value type.
struct Tuned {
  ValueType type = ValueType::f64;
  bench::Grid grid;
  Search search;
};

struct Report {
  Device device;
  std::string device_name;
  std::vector<MatrixFacts> matrices;
  std::vector<Tuned> tuned;  // f32 before f64, as in the paper's Table 1
};

/// Reads "1,4,8"; an empty list leaves `values` as they are.
void read_values(const std::string& option, const std::string& list, const std::vector<int>& allowed,
                 std::vector<int>& values) {
  if (list.empty()) return;
  values.clear();
  for (const std::string& text : bench::split_names(list)) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || std::ranges::find(allowed, value) == allowed.end())
      throw UsageError(fmt::format("{} cannot be '{}'; it takes whole numbers from {} to {}{}, separated by commas",
                                   option, text, allowed.front(), allowed.back(),
                                   allowed[1] - allowed[0] > 1 ? " in steps of 2" : ""));
    values.push_back(value);
  }
  if (values.empty()) throw UsageError(fmt::format("{} is given no value", option));
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

std::vector<int> from_to(int first, int last, int step) {
  std::vector<int> values;
  for (int value = first; value <= last; value += step) values.push_back(value);
  return values;
}

bench::Grid grid_of(const TuneKernelsOptions& options) {
  bench::Grid grid;
  read_values("--widths", options.widths, from_to(2, 8, 2), grid.widths);
  read_values("--tiles", options.tiles, from_to(1, 31, 1), grid.tiles);
  read_values("--bunches", options.bunches, from_to(1, 8, 1), grid.bunches);
  return grid;
}

template <Value V>
Tuned tuned_for(const std::vector<bench::NamedMatrix<V>>& matrices, bench::Grid grid, Device device,
                const TuneKernelsOptions& options) {
  grid.include(bench::kept_shape(device, value_type<V>));
  std::optional<ProgressBar> bar;
  const auto new_bar = [&](int round, const std::string& source) {
    bar.reset();
    bar.emplace(fmt::format("round {}, {} {}", round, source, to_string(value_type<V>)));
    return bar->callback();
  };
  return {value_type<V>, grid,
          bench::tune<V>(matrices, {.device = device,
                                    .grid = grid,
                                    .jointly = options.joint,
                                    .seconds = options.seconds,
                                    .groups = options.groups,
                                    .seed = options.seed,
                                    .progress = new_bar})};
}

template <Value V>
std::vector<bench::NamedMatrix<V>> load_all(const std::vector<std::string>& sources, const ReadingOptions& reading,
                                            std::vector<MatrixFacts>& facts) {
  std::vector<bench::NamedMatrix<V>> matrices;
  for (const std::string& source : sources) {
    matrices.push_back({source, load<V>(source, reading)});
    const Csr<V>& matrix = matrices.back().matrix;
    facts.push_back({source, matrix.rows, matrix.cols, matrix.nonzeros()});
  }
  return matrices;
}

Report measured(const TuneKernelsOptions& options, Device device, const bench::Grid& grid) {
  Report report{device, describe(device).description, {}, {}};
  const std::vector<std::string>& sources = !options.sources.empty()                  ? options.sources
                                            : device.kind() == Device::Kind::emulator ? emulator_sources
                                                                                      : gpu_sources;
  std::vector<bench::NamedMatrix<float>> singles;
  if (options.reading.type == "f32") {
    singles = load_all<float>(sources, options.reading, report.matrices);
  } else {
    auto doubles = load_all<double>(sources, options.reading, report.matrices);
    report.tuned.push_back(tuned_for(doubles, grid, device, options));
    if (options.reading.type == "both")
      for (auto& [source, matrix] : doubles) {
        singles.push_back({source, convert<float>(matrix)});
        matrix = {};
      }
  }
  if (!singles.empty()) report.tuned.insert(report.tuned.begin(), tuned_for(singles, grid, device, options));
  return report;
}

/// Four digits for the fastest; the same number of decimals for all, so that they line up.
std::string speed_text(double gflops, const Report& report) {
  double fastest = 0;
  for (const Tuned& one : report.tuned) fastest = std::max(fastest, one.search.find(one.search.best)->mean());
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(fastest))), 1, 9);
  return fmt::format("{:.{}f}", gflops, decimals);
}

/// One point of a curve; null when it was not tried.
std::string point_text(const Trial* trial, const Tuned& one, const Report& report) {
  if (trial == nullptr) return "-  ";
  const char* mark = !trial->correct ? " WRONG" : trial->shape == one.search.best ? " *" : "  ";
  return speed_text(trial->mean(), report) + mark;
}

std::vector<std::string> titles(std::string first, const Report& report) {
  std::vector<std::string> result{std::move(first)};
  for (const Tuned& one : report.tuned) result.push_back(fmt::format("{}  ", to_string(one.type)));
  return result;
}

/// The other two parameters, as the best setting has them: "S = 8, B = 4".
std::string fixed_text(const Shape& best, const Parameter& along) {
  std::string text;
  for (const Parameter& other : bench::parameters)
    if (other.letter != along.letter)
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", other.letter, best.*other.member);
  return text;
}

/// Figures 7 and 8 of the paper as a table: the speed while one parameter changes.
std::string curve_table(const Report& report, const Parameter& along) {
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

std::string matrix_table(const Report& report) {
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
std::string best_table(const Report& report) {
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
    const Parameter& parameter = *std::ranges::find(bench::parameters, letter, &Parameter::letter);
    std::vector<std::string> cells{std::string(1, letter)};
    for (const Tuned& one : report.tuned)
      for (const Shape& shape : {one.search.best, one.search.kept})
        cells.push_back(std::to_string(shape.*parameter.member));
    table.add(std::move(cells));
  }
  table.add(std::move(speeds));
  return "\nThe best parameters, and those compiled in\n" + table.text(2);
}

std::string as_text(const Report& report) {
  const std::size_t count = report.matrices.size();
  std::string text = fmt::format("{}\ncsr:speculative, harmonic means of GFLOP/s over {} {}; * is the best\n",
                                 report.device_name, count, count == 1 ? "matrix" : "matrices");
  for (const Parameter& along : bench::parameters) text += curve_table(report, along);
  text += matrix_table(report) + best_table(report) + "\n";
  for (const Tuned& one : report.tuned)
    text += one.search.best == one.search.kept
                ? fmt::format("{}: the values kept are the best of {} tried\n", to_string(one.type),
                              one.search.trials.size())
                : fmt::format("{}: the values kept are within {} of the best of {} tried\n", to_string(one.type),
                              percent_text(one.search.shortfall()), one.search.trials.size());
  return text;
}

Json to_json(const Trial& trial) {
  Json json;
  for (const Parameter& parameter : bench::parameters)
    json[std::string(1, parameter.letter)] = trial.shape.*parameter.member;
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
  for (const Parameter& along : bench::parameters)
    for (const Trial* trial : search.curve(one.grid, along))
      json["curves"][std::string(1, along.letter)].push_back(
          {{std::string(1, along.letter), trial->shape.*along.member}, {"gflops", trial->mean()}});
  for (const Trial& trial : search.trials) json["tried"].push_back(to_json(trial));
  return json;
}

std::string as_json(const Report& report, const TuneKernelsOptions& options) {
  Json json = {
      {"schema", 1},
      {"tool", "weft tune-kernels"},
      {"machine", bench::to_json(bench::this_machine())},
      {"device", {{"device", report.device.name()}, {"name", report.device_name}}},
      {"format", "csr:speculative"},
      {"parameters",
       {{"seconds", options.seconds}, {"groups", options.groups}, {"seed", options.seed}, {"joint", options.joint}}}};
  for (const MatrixFacts& facts : report.matrices)
    json["matrices"].push_back(
        {{"source", facts.source}, {"rows", facts.rows}, {"cols", facts.cols}, {"nonzeros", facts.nonzeros}});
  for (const Tuned& one : report.tuned) json["results"].push_back(to_json(one));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_svg(const Report& report) {
  std::vector<std::pair<std::vector<Series>, LineChart>> charts;
  for (const Parameter& along : bench::parameters) {
    std::vector<Series> lines;
    for (const Tuned& one : report.tuned) {
      Series line{fmt::format("{}, {}", to_string(one.type), fixed_text(one.search.best, along)), {}};
      for (const Trial* trial : one.search.curve(one.grid, along))
        line.points.emplace_back(trial->shape.*along.member, trial->mean());
      lines.push_back(std::move(line));
    }
    charts.emplace_back(std::move(lines),
                        LineChart{fmt::format("csr:speculative while {} changes", along.letter),
                                  fmt::format("{}, {}; on {}", along.letter, along.meaning, report.device_name),
                                  "GFLOP/s, harmonic mean"});
  }
  return line_charts_svg(charts, "csr:speculative on " + report.device_name);
}

std::string wrong_settings(const Report& report) {
  std::string text;
  for (const Tuned& one : report.tuned)
    for (const Trial& trial : one.search.trials)
      if (!trial.correct)
        text += fmt::format("{}W = {}, S = {}, B = {} in {}", text.empty() ? "" : "; ", trial.shape.width,
                            trial.shape.tiles, trial.shape.bunches, to_string(one.type));
  return text;
}

int run(const TuneKernelsOptions& options) {
  options.common.apply();
  if (options.json == "-" && options.svg == "-")
    throw UsageError("only one of --json and --svg can have standard output; give the other a file");
  const bench::Grid grid = grid_of(options);
  if (Device::parse(options.device).is_cpu())
    throw UsageError("there is nothing to tune on a CPU; give --device gpu or --device emulator");
  for (const std::string& path : {options.json, options.svg})
    if (!path.empty() && path != "-") require_target_folder(path);

  const Device device = usable_device(options.device);
  const Report report = measured(options, device, grid);
  if (options.json != "-" && options.svg != "-") print(as_text(report));
  if (!options.json.empty()) write_text(options.json, as_json(report, options));
  if (!options.svg.empty()) write_text(options.svg, as_svg(report));
  if (const std::string wrong = wrong_settings(report); !wrong.empty()) {
    complain(fmt::format("csr:speculative gave a wrong product with {}; please report it", wrong));
    return verification_failed;
  }
  return success;
}

}  // namespace

Command add_tune_kernels(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("tune-kernels", "find the fastest parameters of csr:speculative for a GPU");
  const auto options = std::make_shared<TuneKernelsOptions>();
  parser
      ->add_option("SOURCE", options->sources,
                   "matrix files or generators (default: seven generated ones with rows of all kinds)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parser->add_option("--device", options->device, "gpu, gpuN or emulator (default gpu)")->type_name("DEVICE");
  parser->add_option("--widths", options->widths, "W, entries a lane and tile, to try (default 2,4,6,8)")
      ->type_name("LIST");
  parser->add_option("--tiles", options->tiles, "S, tiles a bunch, to try: 1 to 31 (default 1,2,4,8,12,16,24,31)")
      ->type_name("LIST");
  parser->add_option("--bunches", options->bunches, "B, bunches a group, to try: 1 to 8 (default 1,2,4,5,8)")
      ->type_name("LIST");
  parser->add_flag("--joint", options->joint, "try every combination, not only those next to the best so far");
  parser->add_option("--seconds", options->seconds, "time to spend on each measurement (default 0.02)")
      ->type_name("S")
      ->check(CLI::Range(0.001, 3600.0));
  parser->add_option("--repeat", options->groups, "groups of products each measurement is made of (default 5)")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  parser->add_option("--seed", options->seed, "of the random x (default 1)")->type_name("N");
  parser->add_option("--json", options->json, "write everything as JSON; - is standard output, then without tables")
      ->type_name("FILE");
  parser
      ->add_option("--svg", options->svg, "draw the GFLOP/s over W, S and B; - is standard output, then without tables")
      ->type_name("FILE");
  options->reading.add_to(*parser, true);
  options->common.add_to(*parser);
  parser->footer(
      "Starts from the values compiled in and changes one parameter at a time, to the fastest by the harmonic mean of\n"
      "GFLOP/s over the matrices, until no change helps. The values compiled in are always tried. All matrices are\n"
      "held in memory. Nothing is written back: docs/tuning.md tells where the values stand.\n\n"
      "Example:\n  weft tune-kernels gen:poisson3d:6 gen:circuit:300 --device emulator --tiles 4,8,16 --seconds 0.002");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
