#pragma once
#ifdef WEFT_COMPLEX
#include <complex>
#endif
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#if __cplusplus < 202002L
#error "Weft needs C++20: compile with -std=c++20, or link the CMake target weft::weft, which asks for it"
#endif

namespace weft {

using Index = std::int32_t;   ///< a row or column number
using Offset = std::int64_t;  ///< a position in the arrays of nonzeros: past 2^31 is fine

/// How several vectors are stored. Column-major: one vector after the other, vector j begins `stride` elements after
/// vector j - 1. Row-major: element i of all vectors, then element i + 1 of all, `stride` elements further on.
enum class Layout : std::uint8_t { column_major, row_major };

// The one list of value types: a macro, an enumerator and the traits of each. Adding a type is a line in each of the
// three, and kernels in the formats that shall have it; everything else follows from them. WEFT_COMPLEX is the build
// that shows it (CMake option of the same name): complex values in csr on the CPU.

/// Expands `DO(V)` once per real type. Most formats, the readers and the generators compute with these.
#define WEFT_FOR_EACH_REAL(DO) DO(float) DO(double)
/// Expands `DO(V)` once per value type: for explicit instantiations.
#ifdef WEFT_COMPLEX
#define WEFT_FOR_EACH_VALUE(DO) WEFT_FOR_EACH_REAL(DO) DO(std::complex<double>)
#else
#define WEFT_FOR_EACH_VALUE(DO) WEFT_FOR_EACH_REAL(DO)
#endif

enum class ValueType {
  f32,
  f64,
#ifdef WEFT_COMPLEX
  c64,
#endif
};

/// What is known of a value type at compile time:
///   type, name   its enumerator, and what people call it
///   Real         the type of its parts and of norms
///   Wide         the type to accumulate in where rounding must not matter
template <class V>
struct ValueTraits;
template <>
struct ValueTraits<float> {
  static constexpr ValueType type = ValueType::f32;
  static constexpr std::string_view name = "f32";
  using Real = float;
  using Wide = double;
};
template <>
struct ValueTraits<double> {
  static constexpr ValueType type = ValueType::f64;
  static constexpr std::string_view name = "f64";
  using Real = double;
  using Wide = double;
};
#ifdef WEFT_COMPLEX
template <>
struct ValueTraits<std::complex<double>> {
  static constexpr ValueType type = ValueType::c64;
  static constexpr std::string_view name = "c64";
  using Real = double;
  using Wide = std::complex<double>;
};
#endif

/// The value types Weft computes with.
template <class V>
concept Value = requires { ValueTraits<V>::type; };

template <Value V>
constexpr ValueType value_type = ValueTraits<V>::type;

/// Calls f(std::type_identity<V>()) for the V that `type` names, and returns what it returns.
template <class F>
constexpr decltype(auto) with_value_type(ValueType type, F&& f) {
#define WEFT_CASE(V) \
  if (type == value_type<V>) return std::forward<F>(f)(std::type_identity<V>());
  WEFT_FOR_EACH_VALUE(WEFT_CASE)
#undef WEFT_CASE
  throw std::logic_error("not a value type");
}

constexpr std::string_view to_string(ValueType type) {
  return with_value_type(type, []<class V>(std::type_identity<V>) { return ValueTraits<V>::name; });
}

/// One F<V> per value type: PerValue<Builder> holds a Builder<float> and a Builder<double>.
template <template <class> class F>
class PerValue {
 public:
  template <Value V>
  F<V>& get() {
    return std::get<Slot<V>>(slots_).value;
  }
  template <Value V>
  const F<V>& get() const {
    return std::get<Slot<V>>(slots_).value;
  }

 private:
  template <class V>
  struct Slot {
    F<V> value{};
  };
  template <class Ignored, class... Vs>
  struct All {
    using Slots = std::tuple<Slot<Vs>...>;
  };
#define WEFT_NEXT(V) , V
  typename All<void WEFT_FOR_EACH_VALUE(WEFT_NEXT)>::Slots slots_;
#undef WEFT_NEXT
};

/// Which product: A x, or the transposed matrix times x.
enum class Op { none, transpose };

}  // namespace weft
