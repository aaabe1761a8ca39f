#include "paper_case.hpp"

#include <weft/error.hpp>
#include <weft/formats.hpp>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/report/writer.hpp"

namespace weft::bench {

std::string stem_of(const std::string& source) {
  if (source.find(':') != std::string::npos) return {};
  const std::string name = std::filesystem::path(source).filename().string();
  return name.substr(0, name.find('.'));
}

std::string find_name(const std::vector<std::string>& names, const std::string& source) {
  const std::string stem = stem_of(source);
  return std::ranges::find(names, stem) != names.end() ? stem : std::string();
}

namespace {

std::vector<std::string> files_of_paper(const std::string& folder, const std::vector<std::string>& names,
                                        const std::string& table) {
  std::map<std::string, std::string> found;
  std::error_code refused;
  const std::filesystem::directory_iterator entries(folder, refused);
  if (refused) throw Error(ErrorCode::io, "cannot read folder '" + folder + "': " + refused.message());
  for (const auto& entry : entries) {
    const std::string path = entry.path().string();
    const std::string name = entry.is_regular_file() ? find_name(names, entry.path().filename().string()) : "";
    // The same matrix in two files: the first by name, on every machine.
    if (!name.empty() && (!found.contains(name) || path < found[name])) found[name] = path;
  }
  if (found.empty()) throw Error(ErrorCode::io, "'" + folder + "' has no matrix of the paper's " + table + ", by name");
  std::vector<std::string> files;
  for (const std::string& name : names)
    if (found.contains(name)) files.push_back(found[name]);
  return files;
}

bool is_format(const std::string& name) {
  const std::string first = name.substr(0, name.find(':'));
  return std::ranges::any_of(formats(), [&](const FormatInfo& info) { return info.name == first; });
}

}  // namespace

std::vector<std::string> expand_folders(const std::vector<std::string>& given, const std::vector<std::string>& names,
                                        const std::string& table) {
  std::vector<std::string> sources;
  for (const std::string& source : given) {
    std::error_code no_folder;
    if (!std::filesystem::is_directory(source, no_folder)) {
      sources.push_back(source);
      continue;
    }
    for (std::string& file : files_of_paper(source, names, table)) sources.push_back(std::move(file));
  }
  return sources;
}

const Measurement* find_measured(const Case& one, const std::string& name) {
  for (const Measurement& m : one.measurements)
    if (m.name == name && m.measured() && m.timing.median > 0) return &m;
  return nullptr;
}

const Measurement* PaperCase::fastest_on_cpu() const {
  const Measurement* fastest = nullptr;
  for (const Measurement& m : (cpu ? *cpu : formats).measurements)
    if ((m.peer || m.name == "csr") && m.counts() && (!fastest || m.timing.median < fastest->timing.median))
      fastest = &m;
  return fastest;
}

bool PaperCase::correct() const {
  const auto right = [](const Measurement& m) { return m.peer || !m.measured() || m.correct; };
  return std::ranges::all_of(formats.measurements, right) && (!cpu || std::ranges::all_of(cpu->measurements, right));
}

std::vector<std::string> available_on(Device device, const std::vector<std::string>& names) {
  std::vector<std::string> available;
  for (const std::string& name : names) {
    if (!is_format(name)) {
      available.push_back(name);
      continue;
    }
    const FormatName parsed = parse_format(name);
    const std::vector<Device::Kind>* devices = &parsed.format->devices;
    for (const VariantInfo& variant : parsed.format->variants)
      if (variant.name == parsed.variant) devices = &variant.devices;
    if (std::ranges::find(*devices, device.kind()) != devices->end()) available.push_back(name);
  }
  return available;
}

template <Value V>
PaperCase run_paper_case(const std::string& source, const Csr<V>& matrix, const std::vector<std::string>& names,
                         bool beside_cpu, const RunOptions& options, std::vector<std::string>& notes) {
  RunOptions all = options;
  all.formats.clear();
  all.peers.clear();
  const auto add_peer = [](RunOptions& to, const std::string& name) {
    to.peers += (to.peers.empty() ? "" : ",") + name;
  };
  for (const std::string& name : names) {
    if (is_format(name))
      all.formats.push_back(name);
    else
      add_peer(all, name);
  }
  if (all.peers.empty()) all.peers = "none";
  PaperCase result{.formats = run_case(source, matrix, all, notes)};
  if (!beside_cpu || options.device.is_cpu()) return result;
  RunOptions cpu = options;
  cpu.device = Device::cpu();
  cpu.formats = {"csr"};
  cpu.peers = cpu_libraries;
  cpu.bandwidth = 0;
  result.cpu = run_case(source, matrix, cpu, notes);
  return result;
}

std::optional<Speedup> speedup_of(std::span<const double> ratios) {
  if (ratios.empty()) return {};
  const auto [min, max] = std::ranges::minmax(ratios);
  Speedup result{.max = max, .min = min, .matrices = static_cast<int>(ratios.size())};
  int faster = 0;
  for (const double ratio : ratios) {
    result.mean += ratio;
    faster += ratio > 1;
  }
  result.mean /= result.matrices;
  result.faster_percent = 100.0 * faster / result.matrices;
  return result;
}

using Json = nlohmann::ordered_json;

Json to_json(const Speedup& speedup) {
  return {{"matrices", speedup.matrices},
          {"faster_percent", speedup.faster_percent},
          {"max", speedup.max},
          {"min", speedup.min},
          {"mean", speedup.mean}};
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json to_json(const PaperCase& one) {
  Json json = to_json(one.formats);
  json["paper_name"] = one.paper_name.empty() ? Json(nullptr) : Json(one.paper_name);
  json["cpu"] = one.cpu ? to_json(*one.cpu) : Json(nullptr);
  if (one.solves) json["solves"] = to_json(*one.solves);
  return json;
}

#define WEFT_INSTANTIATE(V)                                                                                      \
  template PaperCase run_paper_case<V>(const std::string&, const Csr<V>&, const std::vector<std::string>&, bool, \
                                       const RunOptions&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
