#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "formats/registry.hpp"

namespace weft::test {

/// Numbers to try a parameter with: one between its ends and its largest, as far as small matrices can tell them apart,
/// and 0, which switches something off. A limit is not tried: within it nothing changes.
inline std::vector<std::int64_t> samples_of(const ParameterInfo& parameter) {
  if (parameter.limit) return {};
  const std::int64_t most = std::min<std::int64_t>(parameter.most, 1024);
  const std::int64_t between = parameter.power_of_two ? std::max<std::int64_t>(4, parameter.least) : most / 4 + 1;
  std::vector<std::int64_t> samples{between < most ? between : parameter.least, most};
  if (parameter.least == 0 && samples.front() != 0) samples.insert(samples.begin(), 0);
  return samples;
}

/// What a user can ask for on such a device: the format, each of its variants there, or only those that do without the
/// host once they are queued, and the format with each of its parameters.
inline std::vector<std::string> names_on(Device::Kind kind, const Format& format, bool without_host = false) {
  std::vector<std::string> names;
  if (!format.runs_on(kind)) return names;
  names.push_back(format.info.name);
  for (const VariantInfo& variant : format.info.variants)
    if (std::ranges::find(variant.devices, kind) != variant.devices.end() && !(without_host && variant.waits))
      names.push_back(full_name(format.info, variant.name));
  for (const ParameterInfo& parameter : format.info.parameters)
    for (const std::int64_t value : samples_of(parameter))
      names.push_back(format.info.name + ":" + parameter.name + "=" + std::to_string(value));
  return names;
}

}  // namespace weft::test
