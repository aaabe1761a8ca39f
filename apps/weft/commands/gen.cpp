#include <weft/generate.hpp>

#include <memory>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "apps/weft/progress.hpp"
#include "bench/report/table.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

using bench::Table;

struct GenOptions {
  CommonOptions common;
  std::string spec;
  std::string output;
  std::string type = "f64";
  bool list = false;
};

std::string generator_table() {
  Table table({"name", "arguments", "what it is"}, {1, 2});
  for (const Generator& generator : generators()) table.add({generator.name, generator.arguments, generator.summary});
  std::string examples;
  for (const Generator& generator : generators()) examples += "  " + generator.example + "\n";
  return table.text() + "\nExamples, wherever a file name is taken:\n" + examples;
}

template <Value V>
int write_generated(const std::string& source, const std::string& output) {
  Csr<V> matrix;
  {
    ProgressBar bar("generating " + source);
    matrix = generate<V>(source, bar.callback());
  }
  save(output, matrix);
  return success;
}

int run(const GenOptions& options) {
  options.common.apply();
  if (options.list) {
    print(generator_table());
    return success;
  }
  if (options.spec.empty()) throw UsageError("say what to generate, such as gen:poisson3d:30; see 'weft gen --list'");
  if (options.output.empty()) throw UsageError("say where to write it: -o FILE, ending in .mtx, .mtx.gz or .weft");
  require_matrix_target(options.output);
  const std::string source = is_generator(options.spec) ? options.spec : "gen:" + options.spec;
  return with_type(options.type == "f32" ? ValueType::f32 : ValueType::f64,
                   [&]<Value V>() { return write_generated<V>(source, options.output); });
}

}  // namespace

Command add_gen(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("gen", "generate a matrix and write it to a file");
  const auto options = std::make_shared<GenOptions>();
  parser->add_option("SPEC", options->spec, "what to make: gen:NAME:ARGS or fem:MESH:KIND:ORDER");
  parser->add_option("-o,--output", options->output, "file to write: .mtx, .mtx.gz or .weft")->type_name("FILE");
  parser->add_flag("--list", options->list, "list the generators and exit");
  parser->add_option("--type", options->type, "value type: f32 or f64 (default f64)")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"f32", "f64"}));
  options->common.add_to(*parser);
  parser->footer("Example:\n  weft gen gen:poisson3d:30 -o poisson.mtx");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
