#include <fmt/format.h>
#include <weft/generate.hpp>
#include <weft/io.hpp>
#include <weft/plan.hpp>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "apps/weft/recipe_file.hpp"
#include "bench/harness/measure.hpp"
#include "bench/harness/verify.hpp"
#include "bench/harness/workspace.hpp"
#include "bench/report/numbers.hpp"
#include "commands.hpp"
#include "store/load_plan.hpp"

namespace weft::app {
namespace {

using bench::bytes_text;
using bench::count_text;
using bench::seconds_text;
using bench::with_noun;

struct SpmvOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string x = "ones";
  std::string y0;
  std::string output;
  std::string format = "auto";
  std::string order = "none";
  RecipeFile recipe_file;
  GivenParts parts;
  std::string device = "cpu";
  bool transpose = false;
  double alpha = 1;
  double beta = 0;
  bool check = false;
  bool json = false;
  std::int64_t products = 1000;
};

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("'{}' is no seed; write --x random:7, say", text));
  return seed;
}

template <Value V>
Array<V> make_x(const std::string& what, std::size_t size) {
  if (what == "ones") return Array<V>(size, V(1));
  if (what == "random") return bench::random_vector<V>(size, 1);
  if (what.starts_with("random:")) return bench::random_vector<V>(size, seed_of(what.substr(7)));
  return read_vector<V>(what);
}

void require_length(const char* vector, std::size_t length, std::int64_t wanted, const char* of) {
  if (length != static_cast<std::size_t>(wanted))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} has {} entries, but must have {}, one for each {} of the matrix", vector, length, wanted, of));
}

template <Value V>
double norm(std::span<const V> y) {
  // Scaled, so that no square overflows.
  double largest = 0;
  for (V value : y) {
    if (std::isnan(value)) return static_cast<double>(value);
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (V value : y) sum += (value / largest) * (value / largest);
  return largest * std::sqrt(sum);
}

struct Summary {
  PlanInfo plan;
  double norm = 0;
  double seconds = 0;
  std::optional<bench::Verdict> verdict;
};

std::string as_text(const SpmvOptions& options, const Summary& summary) {
  const PlanInfo& plan = summary.plan;
  std::string text = fmt::format("matrix    {}: {} x {}, {}, {}\n", options.source, count_text(plan.rows),
                                 count_text(plan.cols), with_noun(plan.nonzeros, "nonzero"), to_string(plan.type));
  text +=
      fmt::format("product   y = {}{}{}\n", options.alpha == 1 ? "" : fmt::format("{} ", options.alpha),
                  options.transpose ? "A' x" : "A x", options.beta == 0 ? "" : fmt::format(" + {} y", options.beta));
  text += fmt::format("format    {}{} on {}{}\n", plan.format, plan.details.empty() ? "" : " (" + plan.details + ")",
                      plan.device.name(), plan.stored ? ", as stored in the file" : "");
  if (!plan.recipe.empty()) text += fmt::format("recipe    {}\n", plan.recipe);
  if (plan.ordering != Ordering::none)
    text += fmt::format("order     {}, in {}\n", to_string(plan.ordering), seconds_text(plan.setup.order));
  if (plan.remembered) text += "choice    as before on this machine; `weft tune` forgets it\n";
  for (const Candidate& candidate : plan.candidates)
    text += fmt::format("          {:<14} {}{}\n", candidate.format,
                        candidate.product_seconds > 0 ? seconds_text(candidate.product_seconds) + ", " : "",
                        candidate.verdict);
  text += fmt::format("memory    {}, {:.2f} bytes a nonzero\n", bytes_text(static_cast<double>(plan.bytes)),
                      plan.bytes_per_nonzero);
  text += fmt::format("set-up    {}", seconds_text(plan.planning_seconds));
  if (plan.setup.partition > 0) text += fmt::format(", {} of it for the parts", seconds_text(plan.setup.partition));
  text += "\n";
  text += fmt::format("time      {} a product, {:.2f} GFLOP/s\n", seconds_text(summary.seconds),
                      2 * static_cast<double>(plan.nonzeros) / summary.seconds / 1e9);
  text += fmt::format("norm(y)   {:.15g}\n", summary.norm);
  if (summary.verdict)
    text += fmt::format("check     {}, largest error {:.2g}\n", summary.verdict->correct ? "correct" : "WRONG",
                        summary.verdict->backward_error);
  return text;
}

std::string as_json(const SpmvOptions& options, const Summary& summary) {
  const PlanInfo& plan = summary.plan;
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"source", options.source},
                                 {"type", to_string(plan.type)},
                                 {"rows", plan.rows},
                                 {"cols", plan.cols},
                                 {"nonzeros", plan.nonzeros},
                                 {"transpose", options.transpose},
                                 {"alpha", options.alpha},
                                 {"beta", options.beta},
                                 {"device", plan.device.name()},
                                 {"format", plan.format},
                                 {"recipe", plan.recipe},
                                 {"ordering", to_string(plan.ordering)},
                                 {"ordering_seconds", plan.setup.order},
                                 {"partition_seconds", plan.setup.partition},
                                 {"stored", plan.stored},
                                 {"remembered", plan.remembered},
                                 {"bytes", plan.bytes},
                                 {"planning_seconds", plan.planning_seconds},
                                 {"product_seconds", summary.seconds},
                                 {"norm", summary.norm}};
  if (summary.verdict) {
    json["correct"] = summary.verdict->correct;
    json["max_error"] = summary.verdict->backward_error;
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Whether the source is a .weft file that keeps its matrix packed.
bool is_packed(const std::string& source) {
  if (is_generator(source)) return false;
  const std::string format = stored_format(source);
  return !format.empty() && format != "csr";
}

template <Value V>
LoadedPlan<V> make_plan(const SpmvOptions& options, Device device) {
  PlanOptions wanted{.device = device,
                     .format = options.format,
                     .order = parse_ordering(options.order),
                     .products = options.products,
                     .transpose = options.transpose};
  const auto with_progress = [&](ProgressBar& bar) {
    PlanOptions shown = wanted;
    shown.progress = bar.callback();
    return shown;
  };
  if (is_packed(options.source) && options.parts.empty()) {
    ProgressBar bar("reading " + options.source);
    return load_plan_and_matrix<V>(options.source, with_progress(bar));
  }
  Csr<V> matrix = load<V>(options.source, options.reading);
  wanted.partition = options.parts.read_partition(matrix.rows);
  wanted.coordinates = options.parts.read_coordinates(matrix.rows);
  ProgressBar bar("planning");
  Plan<V> planned = plan(matrix, with_progress(bar));
  return {std::move(planned), std::move(matrix)};
}

template <Value V>
int multiply(const SpmvOptions& options, Device device, bool keep_recipe) {
  LoadedPlan<V> loaded = make_plan<V>(options, device);
  Plan<V>& planned = loaded.plan;
  if (keep_recipe) options.recipe_file.write(planned.info(), options.source);
  if (!options.check) loaded.matrix = {};  // the plan keeps what it needs
  const Op op = options.transpose ? Op::transpose : Op::none;
  const Index x_size = options.transpose ? planned.info().rows : planned.info().cols;
  const Index y_size = options.transpose ? planned.info().cols : planned.info().rows;
  Array<V> x = make_x<V>(options.x, static_cast<std::size_t>(x_size));
  require_length("x", x.size(), x_size, options.transpose ? "row" : "column");
  Array<V> y0;
  if (!options.y0.empty()) {
    y0 = read_vector<V>(options.y0);
    require_length("y", y0.size(), y_size, options.transpose ? "column" : "row");
  }
  const V alpha = static_cast<V>(options.alpha);
  const V beta = static_cast<V>(options.beta);

  bench::Workspace<V> workspace(device, std::move(x), static_cast<std::size_t>(y_size));

  // Timed first, on a y that the result then replaces.
  workspace.poison_y();
  const bench::Product product[] = {[&] { workspace.apply(planned, op, alpha, V(0)); }};
  const bench::Timing timing = bench::measure(device, product, {.seconds = 0.2, .groups = 5}).front();
  if (!timing.failure.empty()) throw Error(ErrorCode::internal, timing.failure);

  if (y0.empty())
    workspace.poison_y();
  else
    workspace.set_y(std::span<const V>(y0));
  workspace.apply(planned, op, alpha, beta);
  const std::span<const V> y = workspace.y();

  Summary summary{planned.info(), norm(y), timing.median, {}};
  if (options.check) {
    const bench::Reference<V> reference(op, alpha, loaded.matrix, workspace.x(), beta, std::span<const V>(y0));
    summary.verdict = reference.compare(y);
  }
  if (!options.output.empty()) write_vector<V>(options.output, y);
  print(options.json ? as_json(options, summary) : as_text(options, summary));
  if (summary.verdict && !summary.verdict->correct) {
    complain(fmt::format("the product is wrong: entry {} is further from the reference than rounding allows",
                         summary.verdict->worst + 1));
    return verification_failed;
  }
  return success;
}

/// Takes the format from the recipe file; false when that is still to be written.
bool take_recipe(SpmvOptions& options) {
  const std::optional<std::string> recipe = options.recipe_file.read();
  if (!recipe) return false;
  if (options.format != "auto" && options.format != *recipe)
    throw UsageError(fmt::format("--format {} is not the recipe in {}, which is {}", options.format,
                                 options.recipe_file.path, *recipe));
  options.format = *recipe;
  return true;
}

int run(SpmvOptions options) {
  options.common.apply();
  require_format(options.format);
  const bool keep_recipe = !options.recipe_file.path.empty() && !take_recipe(options);
  require_ordering(options.order, options.format);
  if (options.beta != 0 && options.y0.empty()) throw UsageError("--beta needs the y to add: --y0 FILE");
  if (options.x.starts_with("random:")) seed_of(options.x.substr(7));
  if (!options.output.empty()) require_target_folder(options.output);
  if (keep_recipe) require_target_folder(options.recipe_file.path);
  const Device device = usable_device(options.device);
  return with_type(options.reading.value_type(), [&]<Value V>() { return multiply<V>(options, device, keep_recipe); });
}

}  // namespace

Command add_spmv(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("spmv", "multiply a matrix by a vector");
  const auto options = std::make_shared<SpmvOptions>();
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser->add_option("--x", options->x, "the vector: a file, ones, or random[:SEED] (default ones)")->type_name("WHAT");
  parser->add_option("-o,--output", options->output, "write y to this file (Matrix Market array)")->type_name("FILE");
  parser
      ->add_option("--format", options->format,
                   "storage format, with numbers if you like: sell:sigma=256, or a recipe; see 'weft doctor' (default "
                   "auto: the soonest done)")
      ->type_name("FORMAT");
  parser
      ->add_option("--order", options->order,
                   "store the matrix in another order: " + bench::one_of_orderings() + " (default none)")
      ->type_name("ORDERING");
  options->recipe_file.add_to(*parser);
  options->parts.add_to(*parser);
  parser->add_option("--device", options->device, "cpu, gpu, gpuN or emulator (default cpu)")->type_name("DEVICE");
  parser->add_flag("--transpose", options->transpose, "multiply by the transposed matrix");
  parser->add_option("--alpha", options->alpha, "y = alpha A x + beta y (default 1)")->type_name("NUMBER");
  parser->add_option("--beta", options->beta, "y = alpha A x + beta y (default 0)")->type_name("NUMBER");
  parser->add_option("--y0", options->y0, "file with the y that beta multiplies")->type_name("FILE");
  parser->add_option("--products", options->products, "how often you will multiply: auto plans for that (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 50));
  parser->add_flag("--check", options->check, "compare y with the reference; exit code 3 when it is wrong");
  parser->add_flag("--json", options->json, "print the summary as JSON");
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer("Example:\n  weft spmv gen:poisson3d:30 --x random:7 --check");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
