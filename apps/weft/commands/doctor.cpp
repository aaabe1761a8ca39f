#include <fmt/format.h>
#include <weft/formats.hpp>
#include <weft/runtime.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/weft/options.hpp"
#include "apps/weft/output.hpp"
#include "bench/harness/machine.hpp"
#include "bench/peers/peer.hpp"
#include "bench/report/numbers.hpp"
#include "bench/report/table.hpp"
#include "bench/report/writer.hpp"
#include "commands.hpp"
#include "plan/bandwidth.hpp"

namespace weft::app {
namespace {

using bench::bytes_text;
using bench::Table;
using bench::with_noun;

struct DoctorOptions {
  CommonOptions common;
  bool json = false;
};

struct Piece {
  const char* name;
  bool present;
  const char* use;
};

constexpr Piece pieces[] = {
    {"CUDA", WEFT_BUILT_WITH_CUDA != 0, "products on NVIDIA GPUs"},
    {"emulator", WEFT_BUILT_WITH_EMULATOR != 0, "runs the GPU kernels on the CPU, for tests"},
    {"zlib", WEFT_BUILT_WITH_ZLIB != 0, "reads and writes .gz"},
    {"lzma", WEFT_BUILT_WITH_LZMA != 0, "reads .xz"},
    {"AMD", WEFT_BUILT_WITH_AMD != 0, "orders matrices by approximate minimum degree"},
    {"METIS", WEFT_BUILT_WITH_METIS != 0, "puts rows into parts with few entries between them"},
};

/// A device and how fast it moves memory; 0 when that could not be found out.
struct MeasuredDevice {
  DeviceInfo info;
  double bandwidth = 0;
};

std::vector<MeasuredDevice> measured_devices() {
  std::vector<MeasuredDevice> devices;
  for (Device device : available_devices()) {
    MeasuredDevice measured{describe(device), 0};
    try {
      if (device.kind() != Device::Kind::emulator) measured.bandwidth = measure_bandwidth(device);
    } catch (const Error& error) {
      note(fmt::format("the bandwidth of {} could not be measured: {}", device.name(), error.what()));
    }
    devices.push_back(std::move(measured));
  }
  return devices;
}

std::string kind_name(Device::Kind kind) {
  switch (kind) {
    case Device::Kind::cpu:
      return "cpu";
    case Device::Kind::gpu:
      return "gpu";
    case Device::Kind::emulator:
      break;
  }
  return "emulator";
}

template <class Items, class Name>
std::string joined(const Items& items, Name&& name) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : " ") + std::string(name(item));
  return text;
}

std::string device_names(const std::vector<Device::Kind>& devices) { return joined(devices, kind_name); }
std::string type_names(const std::vector<ValueType>& types) {
  return joined(types, [](ValueType type) { return to_string(type); });
}

std::string isa_environment() {
  const char* wanted = std::getenv("WEFT_ISA");
  return wanted ? wanted : "";
}

/// The PETSc plug-in that was built or installed with this tool; empty where there is none.
std::string petsc_plugin() {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* place : {"../" WEFT_INSTALL_LIBDIR, "../integrations/petsc"}) {
    const std::filesystem::path file = (folder / place / "libweft_petsc.so").lexically_normal();
    if (std::filesystem::exists(file, ignored)) return file.string();
  }
  return "";
}

std::string petsc_text() {
  const std::string file = petsc_plugin();
  return file.empty() ? "no: matrix types of PETSc, built where PETSc is found" : "yes: -dll_append " + file;
}

std::string bandwidth_text(double bandwidth) {
  return bandwidth > 0 ? fmt::format("{:.1f} GB/s measured", bandwidth / 1e9) : "bandwidth not measured";
}

std::string peer_text(const bench::PeerLibrary& peer) {
  if (!peer.why_none.empty()) return "no: " + peer.why_none;
  return peer.version.empty() ? "yes" : "yes: " + peer.version;
}

std::string as_text(const bench::Machine& machine, const std::vector<MeasuredDevice>& devices) {
  std::string text;
  const auto fact = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<12} {}\n", name, value);
  };
  text += "Build\n";
  fact("version", machine.version);
  fact("compiler", fmt::format("{}, {}", machine.compiler, machine.build_type));
  for (const Piece& piece : pieces) fact(piece.name, fmt::format("{}: {}", piece.present ? "yes" : "no", piece.use));
  fact("PETSc", petsc_text());

  text += "\nCPU\n";
  fact("name", machine.cpu);
  fact("cores", fmt::format("{}, using {}", machine.cores, with_noun(machine.threads, "thread")));
  fact("isa", machine.isa + (isa_environment().empty() ? "" : " (WEFT_ISA=" + isa_environment() + ")"));
  fact("memory", bytes_text(static_cast<double>(machine.memory_bytes)));
  for (const MeasuredDevice& device : devices)
    if (device.info.device.is_cpu()) fact("bandwidth", bandwidth_text(device.bandwidth));

  text += "\nGPU\n";
  if (!machine.driver.empty()) fact("driver", machine.driver);
  if (!machine.why_no_gpu.empty()) fact("none", machine.why_no_gpu);
  for (const MeasuredDevice& device : devices)
    if (device.info.device.kind() == Device::Kind::gpu)
      fact(device.info.device.name(),
           fmt::format("{}, sm_{}, {} multiprocessors, {}, {}", device.info.description, device.info.compute_capability,
                       device.info.multiprocessors, bytes_text(static_cast<double>(device.info.memory_bytes)),
                       bandwidth_text(device.bandwidth)));

  text += "\nPeers of weft bench\n";
  for (const bench::PeerLibrary& peer : bench::peer_libraries()) fact(peer.name, peer_text(peer));

  Table table({"format", "devices", "types", "repeatable", "what it is"}, {1, 2, 3, 4});
  for (const FormatInfo& format : formats()) {
    table.add({format.name, device_names(format.devices), type_names(format.types), format.deterministic ? "yes" : "no",
               format.summary});
    for (const VariantInfo& variant : format.variants)
      table.add({full_name(format, variant.name), device_names(variant.devices), "", "", variant.summary});
    for (const ParameterInfo& parameter : format.parameters)
      table.add({format.name + ":" + parameter.name + "=N", "", "", "", parameter.summary});
  }
  return text + "\nFormats\n" + table.text(2);
}

std::string as_json(const bench::Machine& machine, const std::vector<MeasuredDevice>& devices) {
  nlohmann::ordered_json json = {{"schema", 1}, {"machine", bench::to_json(machine)}};
  json["weft_isa"] = isa_environment();
  for (const Piece& piece : pieces) json["build"][piece.name] = piece.present;
  const std::string plugin = petsc_plugin();
  json["petsc_plugin"] = plugin.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(plugin);
  for (const MeasuredDevice& device : devices)
    json["devices"].push_back(
        {{"device", device.info.device.name()},
         {"name", device.info.description},
         {"bandwidth_bytes_per_second",
          device.bandwidth > 0 ? nlohmann::ordered_json(device.bandwidth) : nlohmann::ordered_json(nullptr)}});
  for (const bench::PeerLibrary& peer : bench::peer_libraries())
    json["peers"].push_back({{"name", peer.name},
                             {"found", peer.why_none.empty()},
                             {"version", peer.version},
                             {"why_none", peer.why_none}});
  json["formats"] = nlohmann::ordered_json::array();
  for (const FormatInfo& format : formats()) {
    nlohmann::ordered_json entry = {
        {"name", format.name}, {"summary", format.summary}, {"deterministic", format.deterministic}};
    for (Device::Kind kind : format.devices) entry["devices"].push_back(kind_name(kind));
    for (ValueType type : format.types) entry["types"].push_back(to_string(type));
    entry["variants"] = nlohmann::ordered_json::array();
    for (const VariantInfo& variant : format.variants) entry["variants"].push_back(full_name(format, variant.name));
    entry["parameters"] = nlohmann::ordered_json::array();
    for (const ParameterInfo& parameter : format.parameters)
      entry["parameters"].push_back({{"name", parameter.name},
                                     {"summary", parameter.summary},
                                     {"least", parameter.least},
                                     {"most", parameter.most},
                                     {"power_of_two", parameter.power_of_two}});
    entry["refuses"] = format.refuses;
    json["formats"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run(const DoctorOptions& options) {
  options.common.apply();
  const bench::Machine machine = bench::this_machine();
  const std::vector<MeasuredDevice> devices = measured_devices();
  print(options.json ? as_json(machine, devices) : as_text(machine, devices));
  return success;
}

}  // namespace

Command add_doctor(CLI::App& tool) {
  CLI::App* parser = tool.add_subcommand("doctor", "tell what this build and this machine can do");
  const auto options = std::make_shared<DoctorOptions>();
  parser->add_flag("--json", options->json, "print it as JSON");
  options->common.add_to(*parser);
  parser->footer("Example:\n  weft doctor");
  return {parser, [options] { return run(*options); }};
}

}  // namespace weft::app
