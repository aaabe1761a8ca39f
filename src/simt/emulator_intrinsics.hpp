#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "simt/emulator_kernel.hpp"

/// CUDA's built-in variables and functions for emulated kernels, by their CUDA names and with their CUDA meaning,
/// except that masks are taken strictly: every lane named in one must come.
namespace weft::on_emulator {

using dim3 = ::weft::simt::emulator::Dim3;
using ::weft::simt::emulator::blockDim;
using ::weft::simt::emulator::blockIdx;
using ::weft::simt::emulator::gridDim;
using ::weft::simt::emulator::threadIdx;

inline constexpr int warpSize = 32;

namespace detail {

using ::weft::simt::emulator::WarpOperation;

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "warp operations exchange plain numbers");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T exchange(WarpOperation operation, unsigned mask, T value, int argument, int width) {
  const unsigned source = ::weft::simt::emulator::shuffle_source(operation, argument, width);
  return from_bits<T>(::weft::simt::emulator::warp_operation(operation, mask, to_bits(value), source));
}

inline unsigned vote(WarpOperation operation, unsigned mask, std::uint64_t value) {
  return static_cast<unsigned>(::weft::simt::emulator::warp_operation(operation, mask, value));
}

}  // namespace detail

inline void __syncthreads(std::source_location site = std::source_location::current()) {
  ::weft::simt::emulator::block_barrier(site);
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { detail::vote(detail::WarpOperation::sync, mask, 0); }
inline void __threadfence() {}
inline void __threadfence_block() {}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return detail::exchange(detail::WarpOperation::shuffle, mask, value, lane, width);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return detail::exchange(detail::WarpOperation::shuffle_up, mask, value, static_cast<int>(delta), width);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return detail::exchange(detail::WarpOperation::shuffle_down, mask, value, static_cast<int>(delta), width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  return detail::exchange(detail::WarpOperation::shuffle_xor, mask, value, lane_mask, width);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return detail::vote(detail::WarpOperation::ballot, mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return detail::vote(detail::WarpOperation::any, mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return detail::vote(detail::WarpOperation::all, mask, predicate != 0) != 0;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  return detail::vote(detail::WarpOperation::match_any, mask, detail::to_bits(value));
}

inline int __popc(unsigned bits) { return std::popcount(bits); }
inline int __popcll(unsigned long long bits) { return std::popcount(bits); }
inline int __clz(int bits) { return std::countl_zero(static_cast<unsigned>(bits)); }
inline int __clzll(long long bits) { return std::countl_zero(static_cast<unsigned long long>(bits)); }
inline int __ffs(int bits) { return bits ? std::countr_zero(static_cast<unsigned>(bits)) + 1 : 0; }
inline int __ffsll(long long bits) { return bits ? std::countr_zero(static_cast<unsigned long long>(bits)) + 1 : 0; }

/// The upper half of high:low after a shift to the left by `shift` modulo 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const auto both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}

}  // namespace weft::on_emulator
