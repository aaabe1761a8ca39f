#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/simt.hpp"
#include "simt/tuning.hpp"

/// Warp and block primitives for kernels that run on a GPU and on the emulator. Blocks are one-dimensional, or their x
/// extent is a multiple of 32. A mask names exactly the lanes that make the call; all of them must come.
///
/// Besides these, the backend gives: sync_block(); atomic_add, atomic_max, atomic_min, atomic_or,
/// atomic_exchange(target, value) and atomic_cas(target, expected, desired), where target is an element of global or
/// shared memory and the old value is returned; load_readonly(p) for data that nobody writes meanwhile, load_fresh(p)
/// for what other blocks have written, load_streaming(p) and store_streaming(p, value) for what is used once.
namespace weft::WEFT_SIMT_NAMESPACE::simt {

using ::weft::simt::block_threads;

inline constexpr unsigned full_mask = 0xffffffffu;

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % 32); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / 32); }  ///< in the block
__device__ __forceinline__ std::int64_t global_thread_id() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Orders the shared memory accesses of the lanes in the mask. Shuffles and votes do not.
__device__ __forceinline__ void sync_warp(unsigned mask = full_mask) { __syncwarp(mask); }

// T is a 4- or 8-byte number. `width`, a power of two, divides the warp into segments that exchange among themselves.
template <class T>
__device__ __forceinline__ T shuffle(unsigned mask, T value, int source_lane, int width = 32) {
  return __shfl_sync(mask, value, source_lane, width);
}
template <class T>
__device__ __forceinline__ T shuffle_up(unsigned mask, T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(mask, value, delta, width);
}
template <class T>
__device__ __forceinline__ T shuffle_down(unsigned mask, T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(mask, value, delta, width);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(unsigned mask, T value, int lane_mask, int width = 32) {
  return __shfl_xor_sync(mask, value, lane_mask, width);
}

__device__ __forceinline__ unsigned ballot(unsigned mask, bool predicate) { return __ballot_sync(mask, predicate); }
__device__ __forceinline__ bool any(unsigned mask, bool predicate) { return __any_sync(mask, predicate) != 0; }
__device__ __forceinline__ bool all(unsigned mask, bool predicate) { return __all_sync(mask, predicate) != 0; }

/// The lanes of the mask whose value has the same bits.
template <class T>
__device__ __forceinline__ unsigned match_any(unsigned mask, T value) {
  return __match_any_sync(mask, value);
}

__device__ __forceinline__ int popcount(std::uint32_t bits) { return __popc(bits); }
__device__ __forceinline__ int popcount(std::uint64_t bits) { return __popcll(bits); }
__device__ __forceinline__ int leading_zeros(std::uint32_t bits) { return __clz(static_cast<int>(bits)); }
__device__ __forceinline__ int leading_zeros(std::uint64_t bits) { return __clzll(static_cast<long long>(bits)); }
/// The position of the lowest set bit plus one; 0 if none is set.
__device__ __forceinline__ int first_set(std::uint32_t bits) { return __ffs(static_cast<int>(bits)); }
__device__ __forceinline__ int first_set(std::uint64_t bits) { return __ffsll(static_cast<long long>(bits)); }

/// The upper half of the 64 bits high:low after a shift to the left by 0 to 31.
__device__ __forceinline__ std::uint32_t funnel_left(std::uint32_t high, std::uint32_t low, int shift) {
  return __funnelshift_l(low, high, static_cast<unsigned>(shift));
}

/// N neighbours that are loaded or stored in one access of 4, 8 or 16 bytes. The address must be a multiple of that.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  static_assert(sizeof(T) * N == 4 || sizeof(T) * N == 8 || sizeof(T) * N == 16);
  T values[N];
  __host__ __device__ constexpr T& operator[](int i) { return values[i]; }
  __host__ __device__ constexpr const T& operator[](int i) const { return values[i]; }
};

#ifdef WEFT_SIMT_EMULATED
template <int N, class T>
Pack<T, N> load_pack(const T* address) {
  emulator::require_alignment(address, sizeof(Pack<T, N>));
  Pack<T, N> pack;
  std::memcpy(&pack, address, sizeof pack);
  return pack;
}
template <int N, class T>
Pack<T, N> load_pack_readonly(const T* address) {
  return load_pack<N>(address);
}
template <int N, class T>
Pack<T, N> load_pack_streaming(const T* address) {
  return load_pack<N>(address);
}
template <class T, int N>
void store_pack(T* address, const Pack<T, N>& pack) {
  emulator::require_alignment(address, sizeof pack);
  std::memcpy(address, &pack, sizeof pack);
}
#else
template <int Bytes>
using PackWord = std::conditional_t<Bytes == 4, unsigned, std::conditional_t<Bytes == 8, uint2, uint4> >;

template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack(const T* address) {
  return reinterpret_bits<Pack<T, N> >(*reinterpret_cast<const PackWord<sizeof(T) * N>*>(address));
}
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack_readonly(const T* address) {
  return reinterpret_bits<Pack<T, N> >(__ldg(reinterpret_cast<const PackWord<sizeof(T) * N>*>(address)));
}
template <int N, class T>
__device__ __forceinline__ Pack<T, N> load_pack_streaming(const T* address) {
  return reinterpret_bits<Pack<T, N> >(__ldcs(reinterpret_cast<const PackWord<sizeof(T) * N>*>(address)));
}
template <class T, int N>
__device__ __forceinline__ void store_pack(T* address, const Pack<T, N>& pack) {
  using Word = PackWord<sizeof(T) * N>;
  *reinterpret_cast<Word*>(address) = reinterpret_bits<Word>(pack);
}
#endif

struct Sum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// Combines the values of each segment of `width` lanes; every lane gets its segment's result, the same bits in each.
template <int width = 32, class T, class Operation>
__device__ __forceinline__ T warp_reduce(T value, Operation operation, unsigned mask = full_mask) {
  static_assert(width >= 1 && width <= 32 && (width & (width - 1)) == 0);
  WEFT_UNROLL
  for (int distance = width / 2; distance > 0; distance /= 2)
    value = operation(value, shuffle_xor(mask, value, distance, width));
  return value;
}
template <int width = 32, class T>
__device__ __forceinline__ T warp_reduce_sum(T value, unsigned mask = full_mask) {
  return warp_reduce<width>(value, Sum{}, mask);
}

/// How many lanes stand between this lane and the first of its segment. `heads` has a bit for every lane that starts a
/// segment (a ballot); lane 0 starts one in any case.
__device__ __forceinline__ int segment_distance(unsigned heads) {
  const int lane = lane_id();
  const unsigned up_to_lane = full_mask >> (31 - lane);
  return lane - (31 - leading_zeros(static_cast<std::uint32_t>((heads | 1u) & up_to_lane)));
}

/// Inclusive sum over the lanes of this lane's segment that stand before it, and itself. The whole warp must call.
template <class T>
__device__ __forceinline__ T warp_segmented_sum(T value, unsigned heads) {
  const int distance = segment_distance(heads);
  WEFT_UNROLL
  for (int step = 1; step < 32; step *= 2) {
    const T before = shuffle_up(full_mask, value, static_cast<unsigned>(step));
    if (step <= distance) value += before;
  }
  return value;
}

/// Combines the values of all threads of a one-dimensional block of whole warps; every thread gets the result. Contains
/// barriers: all threads of the block must call.
template <class T, class Operation>
__device__ T block_reduce(T value, Operation operation) {
  WEFT_SHARED(T, warp_results, 32);
  value = warp_reduce(value, operation);
  if (lane_id() == 0) warp_results[warp_id()] = value;
  sync_block();
  const int warps = static_cast<int>(blockDim.x / 32);
  T result = warp_results[0];
  for (int warp = 1; warp < warps; ++warp) result = operation(result, static_cast<T>(warp_results[warp]));
  sync_block();  // the next call may overwrite what others still read
  return result;
}
template <class T>
__device__ T block_reduce_sum(T value) {
  return block_reduce(value, Sum{});
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::simt
