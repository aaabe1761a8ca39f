#include "formats/registry.hpp"

#include <weft/error.hpp>

#include <algorithm>

#include "formats/coo/coo.hpp"
#include "formats/csr/csr.hpp"

namespace weft {

// The one list of formats: one line each. Tests, bench, command line, documentation and the planner are driven by it.
const std::vector<const Format*>& registry() {
  static const std::vector<const Format*> all{
      &csr::format(),
      &coo::format(),
  };
  return all;
}

const std::vector<FormatInfo>& formats() {
  static const std::vector<FormatInfo> infos = [] {
    std::vector<FormatInfo> result;
    for (const Format* format : registry()) result.push_back(format->info);
    return result;
  }();
  return infos;
}

bool Format::runs_on(Device::Kind kind) const { return std::ranges::find(info.devices, kind) != info.devices.end(); }

bool Format::has_type(ValueType type) const { return std::ranges::find(info.types, type) != info.types.end(); }

std::string full_name(const FormatInfo& format, const std::string& variant) {
  return variant.empty() ? format.name : format.name + ":" + variant;
}

namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string formats_for(Device device, ValueType type) {
  std::vector<std::string> names;
  for (const Format* format : registry())
    if (format->runs_on(device.kind()) && format->has_type(type)) names.push_back(format->info.name);
  return join(names);
}

const VariantInfo* find_variant(const Format& format, const std::string& name, const std::string& full, Device device) {
  std::vector<std::string> here;
  for (const VariantInfo& variant : format.info.variants)
    if (std::ranges::find(variant.devices, device.kind()) != variant.devices.end()) here.push_back(variant.name);
  for (const VariantInfo& variant : format.info.variants)
    if (variant.name == name) {
      if (std::ranges::find(here, name) != here.end()) return &variant;
      throw Error(ErrorCode::unsupported, "format '" + full + "' does not run on " + device.name() + "; there " +
                                              format.info.name +
                                              " has: " + (here.empty() ? "no variants" : join(here)));
    }
  throw Error(ErrorCode::invalid_argument, "format '" + format.info.name + "' has no variant '" + name + "'; on " +
                                               device.name() +
                                               " it has: " + (here.empty() ? "no variants" : join(here)));
}

}  // namespace

FormatChoice find_format(const std::string& name, Device device, ValueType type) {
  const auto colon = name.find(':');
  const std::string base = name.substr(0, colon);
  for (const Format* format : registry()) {
    if (format->info.name != base) continue;
    if (!format->runs_on(device.kind()) || !format->has_type(type))
      throw Error(ErrorCode::unsupported, "format '" + base + "' does not do " + std::string(to_string(type)) + " on " +
                                              device.name() + "; these do: " + formats_for(device, type));
    FormatChoice choice{format, {}};
    if (colon != std::string::npos) choice.variant = find_variant(*format, name.substr(colon + 1), name, device)->name;
    return choice;
  }
  std::vector<std::string> names{"auto"};
  for (const Format* format : registry()) names.push_back(format->info.name);
  throw Error(ErrorCode::invalid_argument, "there is no format '" + base + "'; there are: " + join(names));
}

}  // namespace weft
