#pragma once
#include <weft/device.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simt/emulator_device.hpp"
#include "simt/emulator_intrinsics.hpp"
#include "simt/emulator_kernel.hpp"
#include "simt/emulator_shared.hpp"
#include "simt/kernel.hpp"
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
using ::weft::simt::Kernel;

template <class T>
using Shared = emulator::SharedPointer<T>;

template <class T>
Shared<T> dynamic_shared(const char* name, std::int64_t count, std::int64_t byte_offset = 0) {
  return Shared<T>(emulator::declare_dynamic_shared(name, sizeof(T), alignof(T), count, byte_offset));
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

template <class... Parameters>
void launch_early(Kernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream,
                  std::type_identity_t<Parameters>... arguments) {
  launch(kernel, grid, block, shared_bytes, stream, arguments...);
}
inline void wait_for_earlier_kernels() {}

inline void sync_block(std::source_location site = std::source_location::current()) { emulator::block_barrier(site); }

template <class T>
T load_readonly(const T* address) {
  return *address;
}
template <class T>
T load_fresh(const T* address) {
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

// What an atomic's target holds: the target is an lvalue in global memory, a proxy in shared memory.
template <class Target>
struct ValueOf {
  using type = std::remove_reference_t<Target>;
};
template <class T>
struct ValueOf<emulator::SharedElement<T>> {
  using type = T;
};
template <class Target>
using Held = typename ValueOf<Target>::type;

template <class Target, class T = Held<Target>>
T atomic_add(Target&& target, std::type_identity_t<T> value) {
  return update_atomically(std::forward<Target>(target), [=](T old) { return static_cast<T>(old + value); });
}
template <class Target, class T = Held<Target>>
T atomic_max(Target&& target, std::type_identity_t<T> value) {
  return update_atomically(std::forward<Target>(target), [=](T old) { return std::max(old, value); });
}
template <class Target, class T = Held<Target>>
T atomic_min(Target&& target, std::type_identity_t<T> value) {
  return update_atomically(std::forward<Target>(target), [=](T old) { return std::min(old, value); });
}
inline void publish(unsigned& target, unsigned value) {
  std::atomic_ref<unsigned>(target).store(value, std::memory_order_release);
}

template <class Target, class T = Held<Target>>
T atomic_or(Target&& target, std::type_identity_t<T> bits) {
  return update_atomically(std::forward<Target>(target), [=](T old) { return static_cast<T>(old | bits); });
}
template <class Target, class T = Held<Target>>
T atomic_exchange(Target&& target, std::type_identity_t<T> value) {
  return update_atomically(std::forward<Target>(target), [=](T) { return value; });
}
// Compares bits, as a GPU does: -0.0 is not 0.0, and a NaN is itself.
template <class Target, class T = Held<Target>>
T atomic_cas(Target&& target, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  return update_atomically(std::forward<Target>(target),
                           [=](T old) { return std::memcmp(&old, &expected, sizeof old) == 0 ? desired : old; });
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
