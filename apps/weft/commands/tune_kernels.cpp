#include <fmt/format.h>
#include <weft/runtime.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/peers/names.hpp"
#include "bench/tune/report.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

using bench::MatrixFacts;
using bench::tune_json;
using bench::tune_svg;
using bench::tune_text;
using bench::Tuned;
using bench::TuneReport;
using bench::wrong_settings;

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

/// Even, short, uneven and huge rows, and empty ones (rmat): 16 to 26 million entries each, far more than a cache
/// holds.
const std::vector<std::string> gpu_sources = {"gen:poisson3d:144",  "gen:stencil27:96", "gen:elasticity3d:48",
                                              "gen:rmat:20",        "gen:tall",         "gen:lp:80000:2000000",
                                              "gen:circuit:3000000"};

/// The same kinds, a few thousand entries each.
const std::vector<std::string> emulator_sources = {"gen:poisson3d:7", "gen:stencil27:5", "gen:elasticity3d:3",
                                                   "gen:rmat:7",      "gen:tall:1000",   "gen:lp:20:2000",
                                                   "gen:circuit:400"};

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

TuneReport measured(const TuneKernelsOptions& options, Device device, const bench::Grid& grid) {
  TuneReport report{
      device, describe(device).description, options.seconds, options.groups, options.seed, options.joint, {}, {}};
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
  const TuneReport report = measured(options, device, grid);
  if (options.json != "-" && options.svg != "-") print(tune_text(report));
  if (!options.json.empty()) write_text(options.json, tune_json(report));
  if (!options.svg.empty()) write_text(options.svg, tune_svg(report));
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
