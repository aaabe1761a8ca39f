#pragma once
#include <type_traits>

#include "formats/operator.hpp"

// For files compiled once per instruction set, see core/isa.hpp.
namespace weft::WEFT_ISA_NAMESPACE {

/// Calls body(std::integral_constant<int, count>()): kernels keep a sum for each vector in a register, so they are
/// compiled for every number of vectors.
template <class F>
inline void with_vector_count(int count, F&& body) {
  static_assert(max_vectors == 8);
  switch (count) {
    case 1:
      return body(std::integral_constant<int, 1>());
    case 2:
      return body(std::integral_constant<int, 2>());
    case 3:
      return body(std::integral_constant<int, 3>());
    case 4:
      return body(std::integral_constant<int, 4>());
    case 5:
      return body(std::integral_constant<int, 5>());
    case 6:
      return body(std::integral_constant<int, 6>());
    case 7:
      return body(std::integral_constant<int, 7>());
    default:
      return body(std::integral_constant<int, 8>());
  }
}

}  // namespace weft::WEFT_ISA_NAMESPACE
