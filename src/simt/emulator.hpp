#pragma once
#include <weft/device.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <source_location>
#include <tuple>
#include <type_traits>

#include "simt/emulator_device.hpp"
#include "simt/emulator_intrinsics.hpp"
#include "simt/emulator_kernel.hpp"
#include "simt/emulator_shared.hpp"
#include "simt/launch_limits.hpp"

// The CUDA words that kernels are written in. __shared__ is missing on purpose: WEFT_SHARED takes its place.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

// The static variable makes one array per declaration and template instantiation, as on a GPU.
#define WEFT_SHARED(T, name, count)                                                                  \
  const ::weft::simt::emulator::SharedPointer<T> name(::weft::simt::emulator::declare_static_shared( \
      [] {                                                                                           \
        static const char key = 0;                                                                   \
        return static_cast<const void*>(&key);                                                       \
      }(),                                                                                           \
      #name, sizeof(T), static_cast<std::int64_t>(count)))
#define WEFT_DYNAMIC_SHARED(T, name, ...) \
  const ::weft::simt::emulator::SharedPointer<T> name = ::weft::on_emulator::simt::dynamic_shared<T>(#name, __VA_ARGS__)

/// The emulator's half of what simt.hpp documents; cuda.hpp is the other.
namespace weft::on_emulator::simt {

namespace emulator = ::weft::simt::emulator;
using ::weft::simt::blocks_for;

template <class T>
using Shared = emulator::SharedPointer<T>;

template <class T>
Shared<T> dynamic_shared(const char* name, std::int64_t count, std::int64_t byte_offset = 0) {
  return Shared<T>(emulator::declare_dynamic_shared(name, sizeof(T), alignof(T), count, byte_offset));
}

template <class... Parameters>
struct Kernel {
  const char* name;
  void (*function)(Parameters...);
};

template <class... Parameters>
Kernel<Parameters...> make_kernel(const char* name, void (*function)(Parameters...)) {
  return {name, function};
}

template <class... Parameters>
void launch(Kernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Stream,
            std::type_identity_t<Parameters>... arguments) {
  struct Bound {
    void (*function)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  const Bound bound{kernel.function, {arguments...}};
  emulator::run({kernel.name, grid, block, shared_bytes,
                 [](const void* opaque) {
                   const Bound& b = *static_cast<const Bound*>(opaque);
                   std::apply(b.function, b.arguments);
                 },
                 &bound});
}

inline void sync_block(std::source_location site = std::source_location::current()) { emulator::block_barrier(site); }

template <class T>
T load_readonly(const T* address) {
  return *address;
}
template <class T>
T load_streaming(const T* address) {
  return *address;
}
template <class T>
void store_streaming(T* address, std::type_identity_t<T> value) {
  *address = value;
}

// Atomics on an element of global memory, which threads of other blocks may touch at the same time ...
template <class T, class F>
T update_atomically(T& target, F change) {
  std::atomic_ref<T> element(target);
  T old = element.load(std::memory_order_relaxed);
  while (!element.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}
// ... and on one of shared memory.
template <class T, class F>
T update_atomically(emulator::SharedElement<T>&& target, F change) {
  return std::move(target).atomically(change);
}

template <class T>
T atomic_add(T& target, std::type_identity_t<T> value) {
  return update_atomically(target, [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomic_max(T& target, std::type_identity_t<T> value) {
  return update_atomically(target, [=](T old) { return std::max(old, value); });
}
template <class T>
T atomic_min(T& target, std::type_identity_t<T> value) {
  return update_atomically(target, [=](T old) { return std::min(old, value); });
}
template <class T>
T atomic_exchange(T& target, std::type_identity_t<T> value) {
  return update_atomically(target, [=](T) { return value; });
}
template <class T>
T atomic_cas(T& target, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  return update_atomically(target, [=](T old) { return old == expected ? desired : old; });
}

template <class T>
T atomic_add(emulator::SharedElement<T>&& target, std::type_identity_t<T> value) {
  return update_atomically(std::move(target), [=](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomic_max(emulator::SharedElement<T>&& target, std::type_identity_t<T> value) {
  return update_atomically(std::move(target), [=](T old) { return std::max(old, value); });
}
template <class T>
T atomic_min(emulator::SharedElement<T>&& target, std::type_identity_t<T> value) {
  return update_atomically(std::move(target), [=](T old) { return std::min(old, value); });
}
template <class T>
T atomic_exchange(emulator::SharedElement<T>&& target, std::type_identity_t<T> value) {
  return update_atomically(std::move(target), [=](T) { return value; });
}
template <class T>
T atomic_cas(emulator::SharedElement<T>&& target, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  return update_atomically(std::move(target), [=](T old) { return old == expected ? desired : old; });
}

}  // namespace weft::on_emulator::simt

namespace weft::on_emulator {

// CUDA's own spellings of the atomics; the pointer is a T* or a shared one.
template <class Pointer, class T>
auto atomicAdd(Pointer target, T value) {
  return simt::atomic_add(*target, value);
}
template <class Pointer, class T>
auto atomicMax(Pointer target, T value) {
  return simt::atomic_max(*target, value);
}
template <class Pointer, class T>
auto atomicMin(Pointer target, T value) {
  return simt::atomic_min(*target, value);
}
template <class Pointer, class T>
auto atomicExch(Pointer target, T value) {
  return simt::atomic_exchange(*target, value);
}
template <class Pointer, class T>
auto atomicCAS(Pointer target, T expected, T desired) {
  return simt::atomic_cas(*target, expected, desired);
}

}  // namespace weft::on_emulator
