#pragma once
#include <experimental/simd>

// The one place that names the SIMD library, for files compiled once per instruction set.
namespace weft::WEFT_ISA_NAMESPACE {

/// Sixteen bytes wide whatever the CPU has: where each lane needs a load of its own from x, putting together wider
/// vectors costs more than they save (bench/NOTES.md).
template <class V>
using Simd = std::experimental::simd<V, std::experimental::simd_abi::deduce_t<V, 16 / sizeof(V)>>;

/// Thirty-two bytes, for kernels that use each of those loads several times.
template <class V>
using WideSimd = std::experimental::simd<V, std::experimental::simd_abi::deduce_t<V, 32 / sizeof(V)>>;

/// The lanes' sum, always added in the same order.
template <class V>
inline V sum_of(const Simd<V>& lanes) {
  return std::experimental::reduce(lanes);
}

template <class V>
inline Simd<V> load(const V* from) {
  return Simd<V>(from, std::experimental::element_aligned);
}

template <class V>
inline void store(const Simd<V>& lanes, V* to) {
  lanes.copy_to(to, std::experimental::element_aligned);
}

/// x[indices[0]], x[indices[1]], ...
template <class V, class I>
inline Simd<V> gather(const V* x, const I* indices) {
  return Simd<V>([&](auto lane) { return x[indices[lane]]; });
}

/// The same for any of the vector types.
template <class Lanes, class V>
inline Lanes load_as(const V* from) {
  return Lanes(from, std::experimental::element_aligned);
}
template <class Lanes, class V>
inline void store_as(const Lanes& lanes, V* to) {
  lanes.copy_to(to, std::experimental::element_aligned);
}

template <class V>
inline bool any_negative(const Simd<V>& lanes) {
  return std::experimental::any_of(lanes < V(0));
}

/// Lane by lane.
template <class V>
inline Simd<V> smaller_of(const Simd<V>& a, const Simd<V>& b) {
  return std::experimental::min(a, b);
}

template <class V>
inline bool any_zero(const Simd<V>& lanes) {
  return std::experimental::any_of(lanes == V(0));
}

}  // namespace weft::WEFT_ISA_NAMESPACE
