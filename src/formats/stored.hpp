#pragma once
#include <weft/array.hpp>
#include <weft/csr.hpp>
#include <weft/error.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/operator.hpp"

// How a format's storage is kept outside of the program: as named arrays of numbers. Formats turn into them and back;
// where the arrays lie (in a .weft file, say) is not their business.
namespace weft {

struct BuildOptions;

class StoredArrays {
 public:
  using Elements = std::variant<Array<std::uint8_t>, Array<std::uint16_t>, Array<std::uint32_t>, Array<std::int32_t>,
                                Array<std::int64_t>, Array<float>, Array<double>>;

  template <class T>
  void add(std::string name, Array<T> elements) {
    arrays_.emplace_back(std::move(name), std::move(elements));
  }
  /// Throws Error(parse) when there is no such array, or it holds other numbers.
  template <class T>
  const Array<T>& get(std::string_view name) const {
    for (const auto& [known, elements] : arrays_) {
      if (known != name) continue;
      if (const auto* found = std::get_if<Array<T>>(&elements)) return *found;
      throw Error(ErrorCode::parse, "its '" + known + "' holds numbers of another type");
    }
    throw Error(ErrorCode::parse, "it has no '" + std::string(name) + "'");
  }
  /// The same for an array that must have `size` elements.
  template <class T>
  const Array<T>& get(std::string_view name, std::int64_t size) const {
    const Array<T>& found = get<T>(name);
    if (static_cast<std::int64_t>(found.size()) != size)
      throw Error(ErrorCode::parse, "its '" + std::string(name) + "' has " + std::to_string(found.size()) +
                                        " elements where " + std::to_string(size) + " belong");
    return found;
  }
  const std::vector<std::pair<std::string, Elements>>& all() const { return arrays_; }

  std::map<std::string, std::int64_t> numbers = {};  ///< from `store`: the format's parameters, see OperatorInfo

 private:
  std::vector<std::pair<std::string, Elements>> arrays_;
};

template <Value V>
struct Loaded {
  std::unique_ptr<Operator<V>> op;
  bool as_stored = true;  ///< nothing was encoded anew
};

/// What a format that can be stored provides; all null for one that cannot. The values are the array "values", which
/// has elements of V.
template <class V>
struct Storing {
  StoredArrays (*store)(const Csr<V>& matrix, const BuildOptions& options) = nullptr;
  /// The matrix that arrays from anywhere hold. Nothing is believed: every size, width and number is checked. Throws
  /// Error(parse), with a sentence to stand behind a colon, unless they are what `store` makes of a canonical matrix.
  Csr<V> (*unpack)(const StoredArrays& arrays, Index rows, Index cols) = nullptr;
  /// An operator of arrays that `unpack` made `matrix` of: nothing is encoded anew, unless it was stored for a device
  /// that is too different.
  Loaded<V> (*load)(const StoredArrays& arrays, const Csr<V>& matrix, const BuildOptions& options) = nullptr;
};

}  // namespace weft
