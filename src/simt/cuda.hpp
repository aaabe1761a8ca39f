#pragma once
#include <cuda_runtime.h>
#include <weft/device.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/cuda_status.hpp"
#include "simt/kernel.hpp"
#include "simt/launch_limits.hpp"

#define WEFT_SHARED(T, name, count) __shared__ T name[count]
#define WEFT_DYNAMIC_SHARED(T, name, ...) T* const name = ::weft::on_cuda::simt::dynamic_shared<T>(__VA_ARGS__)

/// The GPU's half of what simt.hpp documents; emulator.hpp is the other.
namespace weft::on_cuda::simt {

using ::weft::simt::blocks_for;
using ::weft::simt::Kernel;

template <class T>
using Shared = T*;

template <class T>
__device__ __forceinline__ T* dynamic_shared(std::int64_t /*count*/, std::int64_t byte_offset = 0) {
  extern __shared__ __align__(16) unsigned char weft_dynamic_shared[];
  return reinterpret_cast<T*>(weft_dynamic_shared + byte_offset);
}

/// For __launch_bounds__: as many of the wanted blocks as the architecture being compiled for can hold at a time.
constexpr int resident_blocks(int wanted, int threads) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
  constexpr int resident_threads = 2048;
#elif __CUDA_ARCH__ < 800
  constexpr int resident_threads = 1024;
#else
  constexpr int resident_threads = 1536;
#endif
  return wanted * threads <= resident_threads ? wanted : resident_threads / threads;
}

namespace detail {
template <class... Parameters>
void launch(Kernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, bool early,
            std::type_identity_t<Parameters>... arguments) {
  ::weft::simt::check_launch_limits(kernel.name, grid, block, shared_bytes);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  // Without leave, static and dynamic memory together end at 48 KiB, and only the kernel knows its static part.
  if (shared_bytes > 0)
    gpu::require(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared_bytes)),
                 "kernel ", kernel.name);
  // Not <<<>>> and cudaGetLastError: that would report, and clear, an error of somebody else.
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream.native());
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &overlap;
  config.numAttrs = early ? 1 : 0;
  gpu::require(cudaLaunchKernelEx(&config, kernel.function, arguments...), "kernel ", kernel.name);
}

/// Kernels can start early from Hopper on.
inline bool can_start_early() {
  int device = 0, major = 0;
  gpu::require(cudaGetDevice(&device), "cudaGetDevice");
  gpu::require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  return major >= 9;
}
}  // namespace detail

template <class... Parameters>
void launch(Kernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream,
            std::type_identity_t<Parameters>... arguments) {
  detail::launch(kernel, grid, block, shared_bytes, stream, false, arguments...);
}
template <class... Parameters>
void launch_early(Kernel<Parameters...> kernel, dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream,
                  std::type_identity_t<Parameters>... arguments) {
  detail::launch(kernel, grid, block, shared_bytes, stream, detail::can_start_early(), arguments...);
}

__device__ __forceinline__ void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ void sync_block() { __syncthreads(); }

template <class T>
__device__ __forceinline__ T load_readonly(const T* address) {
  return __ldg(address);
}
template <class T>
__device__ __forceinline__ T load_fresh(const T* address) {
  return __ldcg(address);
}
template <class T>
__device__ __forceinline__ T load_streaming(const T* address) {
  return __ldcs(address);
}
template <class T>
__device__ __forceinline__ void store_streaming(T* address, std::type_identity_t<T> value) {
  __stcs(address, value);
}

// CUDA's 8-byte atomics take long long, which std::int64_t is not everywhere.
template <class T>
using AtomicWord = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8,
                                      std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>, T>;
template <class T>
using AtomicBits = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;

template <class To, class From>
__device__ __forceinline__ To reinterpret_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
__device__ __forceinline__ T atomic_add(T& target, std::type_identity_t<T> value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return static_cast<T>(
        atomicAdd(reinterpret_cast<unsigned long long*>(&target), static_cast<unsigned long long>(value)));
  } else {
    return atomicAdd(&target, value);
  }
}

template <class T>
__device__ __forceinline__ T atomic_cas(T& target, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  using Bits = AtomicBits<T>;
  return reinterpret_bits<T>(
      atomicCAS(reinterpret_cast<Bits*>(&target), reinterpret_bits<Bits>(expected), reinterpret_bits<Bits>(desired)));
}

template <class T>
__device__ __forceinline__ T atomic_exchange(T& target, std::type_identity_t<T> value) {
  using Bits = AtomicBits<T>;
  return reinterpret_bits<T>(atomicExch(reinterpret_cast<Bits*>(&target), reinterpret_bits<Bits>(value)));
}

template <class T>
__device__ __forceinline__ T atomic_max(T& target, std::type_identity_t<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(atomicMax(reinterpret_cast<AtomicWord<T>*>(&target), static_cast<AtomicWord<T>>(value)));
  } else {
    T old = target;
    while (old < value) {
      const T seen = atomic_cas(target, old, value);
      if (seen == old) break;
      old = seen;
    }
    return old;
  }
}

template <class T>
__device__ __forceinline__ T atomic_min(T& target, std::type_identity_t<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(atomicMin(reinterpret_cast<AtomicWord<T>*>(&target), static_cast<AtomicWord<T>>(value)));
  } else {
    T old = target;
    while (value < old) {
      const T seen = atomic_cas(target, old, value);
      if (seen == old) break;
      old = seen;
    }
    return old;
  }
}

/// Stores `value` so that the host, once it sees it, sees all that this thread has seen or written before.
__device__ __forceinline__ void publish(unsigned& target, unsigned value) {
  __threadfence_system();
  *static_cast<volatile unsigned*>(&target) = value;
}

template <class T>
__device__ __forceinline__ T atomic_or(T& target, std::type_identity_t<T> bits) {
  return static_cast<T>(atomicOr(reinterpret_cast<AtomicBits<T>*>(&target), static_cast<AtomicBits<T>>(bits)));
}

}  // namespace weft::on_cuda::simt
