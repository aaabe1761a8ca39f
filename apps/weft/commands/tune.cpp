#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "bench/report/numbers.hpp"
#include "commands.hpp"
#include "plan/choices.hpp"
#include "plan/device_table.hpp"
#include "plan/kernel_isa.hpp"

namespace weft::app {
namespace {

struct TuneOptions {
  CommonOptions common;
  std::string device = "cpu";
  bool json = false;
};

/// Formats whose kernels are faster with AVX-512: "sell (f32 with gathers, f64), bro-sell (f64)".
std::string gainers(const std::vector<KernelIsa>& kernels) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels.size();) {
    std::vector<std::string> types;
    std::size_t next = i;
    for (; next < kernels.size() && kernels[next].format == kernels[i].format; ++next)
      if (kernels[next].isa != Isa::avx2)
        types.push_back(std::string(to_string(kernels[next].type)) +
                        (kernels[next].isa == Isa::avx512_gather ? " with gathers" : ""));
    if (!types.empty()) names.push_back(fmt::format("{} ({})", kernels[i].format, fmt::join(types, ", ")));
    i = next;
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string as_text(const DeviceInfo& info, const DeviceTable& table, const std::vector<KernelIsa>& kernels,
                    const std::string& file) {
  std::string text = fmt::format("{}, {}\n", info.device.name(), info.description);
  const auto fact = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<46} {}\n", name, value);
  };
  fact("a kernel that does nothing", bench::seconds_text(table.launch));
  fact("memory", bench::bytes_text(table.memory_bandwidth) + "/s");
  fact(fmt::format("cache of {}", bench::bytes_text(table.cache_bytes)).c_str(),
       bench::bytes_text(table.cache_bandwidth) + "/s");
  fact("a million random reads of that cache", bench::seconds_text(1e6 * table.sector));
  fact("a million of the first-level caches", bench::seconds_text(1e6 * table.hit));
  fact("a read that waits for the one before", bench::seconds_text(table.latency));
  if (!kernels.empty()) text += fmt::format("  Faster with AVX-512 than with AVX2: {}\n", gainers(kernels));
  return text +
         (file.empty() ? "Not kept: there is no folder for it, see --help\n" : fmt::format("Kept in {}\n", file));
}

std::string as_json(const DeviceInfo& info, const DeviceTable& table, const std::vector<KernelIsa>& kernels,
                    const std::string& file) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"tool", "weft tune"},
                                 {"device", info.device.name()},
                                 {"name", info.description},
                                 {"file", file},
                                 {"launch_seconds", table.launch},
                                 {"memory_bytes_per_second", table.memory_bandwidth},
                                 {"cache_bytes_per_second", table.cache_bandwidth},
                                 {"cache_bytes", table.cache_bytes},
                                 {"sector_seconds", table.sector},
                                 {"hit_seconds", table.hit},
                                 {"latency_seconds", table.latency}};
  json["kernels"] = nlohmann::ordered_json::array();
  for (const KernelIsa& one : kernels)
    json["kernels"].push_back({{"format", one.format}, {"type", to_string(one.type)}, {"isa", to_string(one.isa)}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run(const TuneOptions& options) {
  options.common.apply();
  const Device device = Device::parse(options.device);
  const DeviceInfo info = describe(device);
  const DeviceTable& table = renew_device_table(device);
  const std::vector<KernelIsa> kernels = device.is_cpu() ? renew_kernel_isas() : std::vector<KernelIsa>();
  forget_choices(device);
  const std::string file = device_table_file(device);
  print(options.json ? as_json(info, table, kernels, file) : as_text(info, table, kernels, file));
  return success;
}

}  // namespace

Command add_tune(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("tune", "measure what auto predicts from, and keep it");
  const auto options = std::make_shared<TuneOptions>();
  parser->add_option("--device", options->device, "cpu, gpu, gpuN or emulator (default cpu)")->type_name("DEVICE");
  parser->add_flag("--json", options->json, "print it as JSON");
  options->common.add_to(*parser);
  parser->footer(
      "auto predicts how long formats take from a few numbers about the device. They are measured when they are first\n"
      "needed and kept, so that the same matrix gets the same plan: in $WEFT_CACHE, else in weft below $XDG_CACHE_HOME "
      "or\n"
      "~/.cache. So is what auto chose for a matrix; this forgets it. Run it on a machine that does nothing else, "
      "after a\n"
      "change of its hardware or driver.\n\n"
      "Example:\n  weft tune --device cpu");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
