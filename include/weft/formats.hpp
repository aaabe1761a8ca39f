#pragma once
#include <weft/device.hpp>
#include <weft/export.hpp>
#include <weft/order.hpp>
#include <weft/types.hpp>

#include <cstdint>
#include <map>
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

/// A whole number that a user may give to a format: "sell:c=16:sigma=256".
struct ParameterInfo {
  std::string name;
  std::string summary;  ///< with what the format does when none is given
  std::int64_t least = 1;
  std::int64_t most = 1;
  bool power_of_two = false;
  bool limit = false;  ///< only bounds what is stored: beyond it the format refuses
};

/// What one format can do: the registry's entry as users see it.
struct FormatInfo {
  std::string name;
  std::string summary;
  std::vector<Device::Kind> devices;
  std::vector<ValueType> types;
  bool deterministic = true;
  std::vector<VariantInfo> variants;  ///< empty when there is just one way; the format's plain name chooses among them
  std::vector<ParameterInfo> parameters;
  bool storable = false;  ///< `write_weft_as` can write a matrix in this format
  std::string refuses;    ///< matrices it will not store, by Error(unsupported), in words; empty: none
};

/// The name to plan a format by: "csr", or "csr:vector" with a variant.
WEFT_API std::string full_name(const FormatInfo& format, const std::string& variant = {});

/// What a name to plan by says: FORMAT[:VARIANT][:PARAMETER=NUMBER]...
struct FormatName {
  const FormatInfo* format = nullptr;
  std::string variant;                             ///< empty: the format chooses
  std::map<std::string, std::int64_t> parameters;  ///< those not given the format chooses
};

/// Takes a name apart. Throws Error(invalid_argument), with what there is, when it is none: an unknown format, variant
/// or parameter, or a number out of its range.
WEFT_API FormatName parse_format(std::string_view name);

/// What PlanOptions::format says: [ORDER+]FORMAT[/FORMAT]. A PlanInfo::recipe is one that leaves nothing open:
/// "rcm+sell:c=32:sigma=1024:t=1".
struct Recipe {
  Ordering order = Ordering::none;  ///< none: it names no order
  std::string format;               ///< "auto", or what parse_format takes
  /// What follows the "/": the same format with the variant and the numbers of the transposed matrix. Empty: those of
  /// `format`.
  std::string transposed;
};

/// Takes a recipe apart. Throws Error(invalid_argument) as parse_format and parse_ordering do.
WEFT_API Recipe parse_recipe(std::string_view text);

/// Every format of this build, in the order tables show them.
WEFT_API const std::vector<FormatInfo>& formats();

}  // namespace weft
