#pragma once
#include <weft/csr.hpp>
#include <weft/formats.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/operator.hpp"
#include "simt/tuning.hpp"

namespace weft {

struct BuildOptions {
  Device device;
  std::string variant;  ///< empty: the format chooses
  Progress progress = {};
  std::optional<simt::Tuning> tuning = {};  ///< none: the numbers kept for the device
};

template <Value V>
using Builder = std::unique_ptr<Operator<V>> (*)(const Csr<V>& matrix, const BuildOptions& options);

/// One format as the rest of the library sees it. Each format's folder defines one; registry.cpp lists them.
struct Format {
  FormatInfo info;
  Builder<float> build_f32 = nullptr;
  Builder<double> build_f64 = nullptr;
  /// About how many products its set-up costs, for the planner's budget before anything was measured.
  double setup_products = 10;
  /// Why `auto` should not try this format on this matrix; empty when it may. Null: never a reason. It is told only
  /// what is cheap to find out: planning for a few products must not cost more than they do.
  std::string (*rules_out)(const RowLengths& rows, Device device) = nullptr;

  template <Value V>
  Builder<V> builder() const {
    if constexpr (std::same_as<V, float>)
      return build_f32;
    else
      return build_f64;
  }
  bool runs_on(Device::Kind kind) const;
  bool has_type(ValueType type) const;
};

const std::vector<const Format*>& registry();

/// A format and one of its variants, as named by a user: "csr" or "csr:vector8".
struct FormatChoice {
  const Format* format = nullptr;
  std::string variant;
};

/// Finds what `name` means on `device` for values of `type`. Throws Error(invalid_argument) for an unknown name,
/// listing those there are, and Error(unsupported), listing the formats that can, when this one cannot.
FormatChoice find_format(const std::string& name, Device device, ValueType type);

}  // namespace weft
