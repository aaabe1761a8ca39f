#pragma once
#include <weft/device.hpp>
#include <weft/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// One algorithm on a format's storage: "csr:vector".
struct VariantInfo {
  std::string name;
  std::string summary;
  std::vector<Device::Kind> devices;
  bool waits = false;    ///< `apply` needs the host until it is done, and no CUDA graph can capture it
  bool chooses = false;  ///< stands for one of the other variants, whichever suits the matrix
};

/// What one format can do: the registry's entry as users see it.
struct FormatInfo {
  std::string name;
  std::string summary;
  std::vector<Device::Kind> devices;
  std::vector<ValueType> types;
  bool deterministic = true;
  /// Op::transpose works on a stored transposed matrix (twice the memory), else by a kernel of its own.
  bool stores_transpose = true;
  std::vector<VariantInfo> variants;  ///< empty when there is just one way; the format's plain name chooses among them
};

/// The name to plan a format by: "csr", or "csr:vector" with a variant.
std::string full_name(const FormatInfo& format, const std::string& variant = {});

/// Every format of this build, in the order tables show them.
const std::vector<FormatInfo>& formats();

}  // namespace weft
