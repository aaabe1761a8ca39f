#pragma once
#include <concepts>
#include <cstdint>
#include <string_view>

namespace weft {

using Index = std::int32_t;   ///< a row or column number
using Offset = std::int64_t;  ///< a position in the arrays of nonzeros: past 2^31 is fine

/// The value types Weft computes with. The macro and the enumeration below name them again.
template <class V>
concept Value = std::same_as<V, float> || std::same_as<V, double>;

/// Expands `DO(V)` once per value type: for explicit instantiations.
#define WEFT_FOR_EACH_VALUE(DO) DO(float) DO(double)

enum class ValueType { f32, f64 };

template <Value V>
constexpr ValueType value_type = std::same_as<V, float> ? ValueType::f32 : ValueType::f64;

constexpr std::string_view to_string(ValueType type) { return type == ValueType::f32 ? "f32" : "f64"; }

/// Which product: A x, or the transposed matrix times x.
enum class Op { none, transpose };

}  // namespace weft
