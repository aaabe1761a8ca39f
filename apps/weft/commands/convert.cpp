#include <memory>
#include <optional>

#include "apps/weft/options.hpp"
#include "commands.hpp"

namespace weft::app {
namespace {

struct ConvertOptions {
  CommonOptions common;
  ReadingOptions reading;
  std::string source;
  std::string output;
  std::string format = "csr";
  std::string device;
  GivenParts parts;
};

template <Value V>
int convert_file(const ConvertOptions& options, std::optional<Device> device) {
  const Csr<V> matrix = load<V>(options.source, options.reading);
  save(options.output, matrix, options.format, options.parts, device);
  return success;
}

int run(const ConvertOptions& options) {
  options.common.apply();
  require_matrix_target(options.output);
  require_storable(options.format, options.output);
  std::optional<Device> device;
  if (!options.device.empty()) device = Device::parse(options.device);
  return with_type(options.reading.value_type(), [&]<Value V>() { return convert_file<V>(options, device); });
}

}  // namespace

Command add_convert(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("convert", "read a matrix and write it as another kind of file");
  const auto options = std::make_shared<ConvertOptions>();
  parser->add_option("SOURCE", options->source, "matrix file or generator")->required();
  parser->add_option("-o,--output", options->output, "file to write: .mtx, .mtx.gz or .weft")
      ->type_name("FILE")
      ->required();
  parser
      ->add_option("--format", options->format,
                   "how a .weft file keeps the matrix: csr, or packed as bro-ell, bro-coo or ehyb (default csr)")
      ->type_name("FORMAT");
  parser
      ->add_option("--device", options->device,
                   "what ehyb is stored for: cpu or gpu, there or not (default gpu if there is one, else cpu)")
      ->type_name("DEVICE");
  options->parts.add_to(*parser);
  options->reading.add_to(*parser);
  options->common.add_to(*parser);
  parser->footer(
      "Examples:\n  weft convert gen:elasticity3d:8 -o beam.weft\n"
      "  weft convert gen:elasticity3d:8 -o packed.weft --format bro-ell");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
