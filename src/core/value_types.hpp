#pragma once
#include <weft/types.hpp>

// What the library itself needs of the list of value types in weft/types.hpp.

// A kernel source (cpu.cpp and *.cu) is compiled once per value type, with WEFT_VALUE set to it, and instantiates its
// functions for that type only:
//   #define WEFT_INSTANTIATE(V) template void multiply<V>(...);
//   WEFT_REAL_KERNELS(WEFT_INSTANTIATE)
// WEFT_KERNELS does so for every type of the list, WEFT_REAL_KERNELS for float and double only. A build with
// WEFT_UNIT_PER_TYPE=OFF has one translation unit for all types.
#if defined(WEFT_ALL_VALUES)
#define WEFT_KERNELS(DO) WEFT_FOR_EACH_VALUE(DO)
#define WEFT_REAL_KERNELS(DO) WEFT_FOR_EACH_REAL(DO)
#elif defined(WEFT_VALUE)
#define WEFT_KERNELS(DO) DO(WEFT_VALUE)
#ifdef WEFT_VALUE_IS_REAL
#define WEFT_REAL_KERNELS(DO) DO(WEFT_VALUE)
#else
#define WEFT_REAL_KERNELS(DO)
#endif
#endif

namespace weft {

/// A number that was tuned for values of 4 bytes and for values of 8.
template <class T>
struct PerWidth {
  T f32;
  T f64;

  template <class V>
  constexpr const T& of() const {
    if constexpr (std::is_same_v<typename ValueTraits<V>::Real, float>)
      return f32;
    else
      return f64;
  }
};

/// Calls f(std::type_identity<V>()) for each real type, or for each value type.
template <class F>
void for_each_real_type(F&& f) {
#define WEFT_CALL(V) f(std::type_identity<V>());
  WEFT_FOR_EACH_REAL(WEFT_CALL)
}
template <class F>
void for_each_value_type(F&& f) {
  WEFT_FOR_EACH_VALUE(WEFT_CALL)
#undef WEFT_CALL
}

template <class V>
constexpr bool is_f32 = std::is_same_v<V, float>;

}  // namespace weft
