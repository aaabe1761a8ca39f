#pragma once
#include <weft/csr.hpp>
#include <weft/formats.hpp>
#include <weft/partition.hpp>
#include <weft/plan.hpp>
#include <weft/source.hpp>
#include <weft/structure.hpp>

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/value_types.hpp"
#include "formats/operator.hpp"
#include "formats/prediction.hpp"
#include "formats/stored.hpp"
#include "sparse/source_state.hpp"

namespace weft {

struct BuildOptions {
  Device device;
  std::string variant = {};  ///< empty: the format chooses
  Progress progress = {};
  std::any tuning = {};  ///< the format's Tuning, for tests and `weft tune-kernels`; none: the numbers of the device
  std::map<std::string, std::int64_t> parameters = {};  ///< as given by the user; in their ranges
  /// Of the rows of the matrix to build (and its columns alike, if it is square); none: find one, if you need one.
  std::shared_ptr<const Partition> partition = nullptr;
  /// Where the rows are, or nodes of equally many rows: to find a partition by, if none is given.
  std::shared_ptr<const Coordinates> coordinates = nullptr;
  std::optional<Device> store_for =
      {};                       ///< in `store`: the device that will load it; it may not be there. None: choose
  SetupTimes* times = nullptr;  ///< where the builder adds what it spent on a partition; null: nobody wants to know

  std::int64_t parameter(const std::string& name, std::int64_t otherwise) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? otherwise : found->second;
  }
  /// The format's Tuning to use.
  template <class T>
  T tuning_as() const {
    if (const T* given = std::any_cast<T>(&tuning)) return *given;
    return T::on(device);
  }
  bool has(const std::string& name) const { return parameters.contains(name); }
};

template <class V>
using Builder = std::unique_ptr<Operator<V>> (*)(const MatrixSource<V>& source, const BuildOptions& options);

/// One format as the rest of the library sees it. Each format's folder defines one; registry.cpp lists them.
struct Format {
  FormatInfo info;
  PerValue<Builder> build;  ///< null for types that the format does not have
  /// What it expects of itself, a prediction per variant that may pay. Null: `auto` does not try the format, which is
  /// there to compare with.
  std::vector<Prediction> (*predict)(const Outlook& outlook) = nullptr;
  PerValue<Storing> storing;  ///< for formats that files can hold (info.storable)
  bool gathers = false;       ///< on a CPU, kernels are not the same with Isa::avx512_gather as with Isa::avx512
  bool yardstick = false;     ///< what `auto` judges the others by, and takes for a few products; one of the registry

  bool runs_on(Device::Kind kind) const;
  bool has_type(ValueType type) const;
};

const std::vector<const Format*>& registry();

/// A format, one of its variants and numbers for it, as named by a user: "csr", "csr:vector8" or "sell:c=16".
struct FormatChoice {
  const Format* format = nullptr;
  std::string variant;
  std::map<std::string, std::int64_t> parameters;
};

/// Finds what `name` means on `device` for values of `type`. Throws Error(invalid_argument) for an unknown name,
/// listing those there are, and Error(unsupported), listing the formats that can, when this one cannot.
FormatChoice find_format(const std::string& name, Device device, ValueType type);

/// The name that builds the same again: with the variant and with all numbers, in the order of the format's parameters.
/// Of what was requested it keeps the limits, which no operator reports.
std::string recipe_of(const FormatChoice& requested, const std::string& variant,
                      const std::map<std::string, std::int64_t>& numbers);

}  // namespace weft
