#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "formats/registry.hpp"

namespace weft::test {

/// What a user can ask for on such a device: the format, and each of its variants there, or only those that do without
/// the host once they are queued.
inline std::vector<std::string> names_on(Device::Kind kind, const Format& format, bool without_host = false) {
  std::vector<std::string> names;
  if (!format.runs_on(kind)) return names;
  names.push_back(format.info.name);
  for (const VariantInfo& variant : format.info.variants)
    if (std::ranges::find(variant.devices, kind) != variant.devices.end() && !(without_host && variant.waits))
      names.push_back(full_name(format.info, variant.name));
  return names;
}

}  // namespace weft::test
