#pragma once
#include <cstdint>
#include <experimental/simd>
#include <type_traits>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

// The one place that names the SIMD library, for files compiled once per instruction set.
namespace weft::WEFT_ISA_NAMESPACE {

/// Calls body(0), ..., body(N - 1), whose arguments are constants: an array of sums that is indexed by them stays in
/// registers, also where several loops and branches add to it.
template <int N, class F>
[[gnu::always_inline]] inline void unrolled(const F& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, I>()), ...);
  }(std::make_integer_sequence<int, N>());
}

/// Sixteen bytes wide whatever the CPU has: where each lane needs a load of its own from x, putting together wider
/// vectors costs more than they save (bench/NOTES.md).
template <class V>
using Simd = std::experimental::simd<V, std::experimental::simd_abi::deduce_t<V, 16 / sizeof(V)>>;

/// Thirty-two bytes, for kernels that use each of those loads several times.
template <class V>
using WideSimd = std::experimental::simd<V, std::experimental::simd_abi::deduce_t<V, 32 / sizeof(V)>>;

/// As wide as the instruction set goes, but for `Count` elements at most: for kernels that load x as they load the
/// matrix.
#if defined(__AVX512F__)
inline constexpr int native_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int native_bytes = 32;
#else
inline constexpr int native_bytes = 16;
#endif
/// Whether there is another way to gather: by the processor's own instruction.
inline constexpr bool has_gathers = native_bytes == 64;
template <class V, int Count>
using NativeSimd = std::experimental::simd<
    V, std::experimental::simd_abi::deduce_t<V, Count * sizeof(V) < native_bytes ? Count : native_bytes / sizeof(V)>>;

/// The lanes' sum, always added in the same order.
template <class V>
inline V sum_of(const Simd<V>& lanes) {
  return std::experimental::reduce(lanes);
}

template <class V>
inline V sum_of_wide(const WideSimd<V>& lanes) {
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

/// a b + c, rounded once where the CPU can. Where a sum of two products is meant, that is not left to the compiler: it
/// would choose one or the other of them for each kernel, and bits would depend on the instruction set.
template <class V>
  requires std::is_floating_point_v<V>
inline V multiply_add(V a, V b, V c) {
#ifdef __FMA__
  if constexpr (sizeof(V) == 8)
    return __builtin_fma(a, b, c);
  else
    return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
template <class Lanes>
  requires(!std::is_floating_point_v<Lanes>)
inline Lanes multiply_add(const Lanes& a, const Lanes& b, const Lanes& c) {
#ifdef __FMA__
  if constexpr (std::experimental::is_simd_v<Lanes>) {
    using V = typename Lanes::value_type;
    [[maybe_unused]] constexpr std::size_t bytes = Lanes::size() * sizeof(V);
    if constexpr (Lanes::size() == 1) return Lanes(multiply_add<V>(a[0], b[0], c[0]));
#ifdef __AVX512F__
    if constexpr (bytes == 64 && sizeof(V) == 8)
      return Lanes(_mm512_fmadd_pd(static_cast<__m512d>(a), static_cast<__m512d>(b), static_cast<__m512d>(c)));
    if constexpr (bytes == 64 && sizeof(V) == 4)
      return Lanes(_mm512_fmadd_ps(static_cast<__m512>(a), static_cast<__m512>(b), static_cast<__m512>(c)));
#endif
    if constexpr (bytes == 32 && sizeof(V) == 8)
      return Lanes(_mm256_fmadd_pd(static_cast<__m256d>(a), static_cast<__m256d>(b), static_cast<__m256d>(c)));
    if constexpr (bytes == 32 && sizeof(V) == 4)
      return Lanes(_mm256_fmadd_ps(static_cast<__m256>(a), static_cast<__m256>(b), static_cast<__m256>(c)));
    if constexpr (bytes == 16 && sizeof(V) == 8 && Lanes::size() > 1)
      return Lanes(_mm_fmadd_pd(static_cast<__m128d>(a), static_cast<__m128d>(b), static_cast<__m128d>(c)));
    if constexpr (bytes == 16 && sizeof(V) == 4)
      return Lanes(_mm_fmadd_ps(static_cast<__m128>(a), static_cast<__m128>(b), static_cast<__m128>(c)));
    if constexpr (bytes < 16 || (bytes == 16 && Lanes::size() == 1) || bytes > native_bytes)
      return Lanes([&](auto lane) { return multiply_add<V>(a[lane], b[lane], c[lane]); });
  }
#endif
  return a * b + c;
}

/// sum += a b, rounded once where the CPU can. All products of kernels are added by this: compilers choose which ones
/// to fuse by the kernel's shape, which differs between instruction sets, and then so do the bits. Therefore kernels
/// are compiled without -ffp-contract.
template <class T>
inline void add_product(T& sum, const std::type_identity_t<T>& a, const std::type_identity_t<T>& b) {
  sum = multiply_add<T>(a, b, sum);
}

#ifdef __AVX512F__
namespace detail {

/// Four (f64) or eight (f32) columns as numbers of 32 bits.
template <class V>
inline auto load_columns(const std::uint16_t* from) {
  if constexpr (sizeof(V) == 8)
    return _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  else
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
template <class V>
inline auto load_columns(const std::int32_t* from) {
  if constexpr (sizeof(V) == 8)
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  else
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

/// x[columns[lane]] by the processor's own instruction. Where Padded, padding gets 0, and x is not read.
template <bool Padded, class V, class Column>
inline WideSimd<V> gather_by_hardware(const V* x, const Column* columns) {
  [[maybe_unused]] constexpr int padding = sizeof(Column) == 2 ? 0xffff : -1;
  const auto all = load_columns<V>(columns);
  // Not the forms without a mask, of which GCC warns that they leave lanes uninitialized.
  if constexpr (sizeof(V) == 8) {
    const __mmask8 wanted = Padded ? _mm_cmpneq_epi32_mask(all, _mm_set1_epi32(padding)) : 0xf;
    return WideSimd<V>(_mm256_mmask_i32gather_pd(_mm256_setzero_pd(), wanted, all, x, 8));
  } else {
    const __mmask8 wanted = Padded ? _mm256_cmpneq_epi32_mask(all, _mm256_set1_epi32(padding)) : 0xff;
    return WideSimd<V>(_mm256_mmask_i32gather_ps(_mm256_setzero_ps(), wanted, all, x, 4));
  }
}

}  // namespace detail
#endif

/// x[columns[0]], x[columns[1]], ... in a vector of 32 bytes. Products of a matrix in a cache wait for loads, two for
/// each entry: 16-bit columns are loaded four at a time, and taken apart in registers. Hardware: by the processor's own
/// instruction, if it has AVX-512, which some processors are faster with.
template <bool Hardware = false, class V>
inline WideSimd<V> gather_wide(const V* x, const std::uint16_t* columns) {
#ifdef __AVX512F__
  if constexpr (Hardware) return detail::gather_by_hardware<false>(x, columns);
#endif
#ifdef __AVX2__
  const auto four_columns = [](const std::uint16_t* from) {
    std::uint64_t four;
    __builtin_memcpy(&four, from, sizeof four);
    return four;
  };
  const auto first = [](std::uint64_t four) { return static_cast<std::uint16_t>(four); };
  const auto second = [](std::uint64_t four) { return static_cast<std::uint16_t>(four >> 16); };
  const auto third = [](std::uint64_t four) { return static_cast<std::uint16_t>(four >> 32); };
  const auto fourth = [](std::uint64_t four) { return four >> 48; };
  if constexpr (sizeof(V) == 8) {
    const std::uint64_t four = four_columns(columns);
    return WideSimd<V>(_mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(x + third(four)), x + fourth(four)),
                                        _mm_loadh_pd(_mm_load_sd(x + first(four)), x + second(four))));
  } else {
    const auto load_four = [&](std::uint64_t four) {
      return _mm_set_ps(x[fourth(four)], x[third(four)], x[second(four)], x[first(four)]);
    };
    const __m128 low = load_four(four_columns(columns)), high = load_four(four_columns(columns + 4));
    return WideSimd<V>(_mm256_set_m128(high, low));
  }
#else
  return WideSimd<V>([&](auto lane) { return x[columns[lane]]; });
#endif
}
template <bool Hardware = false, class V>
inline WideSimd<V> gather_wide(const V* x, const std::int32_t* columns) {
#ifdef __AVX512F__
  if constexpr (Hardware) return detail::gather_by_hardware<false>(x, columns);
#endif
#ifdef __AVX2__
  const std::int32_t* const c = columns;
  if constexpr (sizeof(V) == 8)
    return WideSimd<V>(
        _mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(x + c[2]), x + c[3]), _mm_loadh_pd(_mm_load_sd(x + c[0]), x + c[1])));
  else
    return WideSimd<V>(_mm256_set_m128(_mm_set_ps(x[c[7]], x[c[6]], x[c[5]], x[c[4]]),
                                       _mm_set_ps(x[c[3]], x[c[2]], x[c[1]], x[c[0]])));
#else
  return WideSimd<V>([&](auto lane) { return x[columns[lane]]; });
#endif
}

/// x[column], or 0 where the column is padding, all bits set. x[0] exists. Without a branch, which compilers make of a
/// condition and processors guess wrong once or twice per slice.
template <class V, class Column>
inline V element_or_zero(const V* x, Column column) {
  using Bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
  const Bits keep = Bits(0) - static_cast<Bits>(column != static_cast<Column>(-1));
  const auto safe = static_cast<Column>(column & static_cast<Column>(keep));
  Bits bits;
  __builtin_memcpy(&bits, x + safe, sizeof bits);
  bits &= keep;
  V element;
  __builtin_memcpy(&element, &bits, sizeof element);
  return element;
}

/// gather_wide where some columns are padding.
template <bool Hardware = false, class V>
inline WideSimd<V> gather_wide_padded(const V* x, const std::uint16_t* columns) {
#ifdef __AVX512F__
  if constexpr (Hardware) return detail::gather_by_hardware<true>(x, columns);
#endif
#ifdef __AVX2__
  alignas(16) std::uint16_t safe[32 / sizeof(V)];
  if constexpr (sizeof(V) == 8) {
    const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(columns));
    const __m128i padding = _mm_cmpeq_epi16(all, _mm_set1_epi16(-1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(safe), _mm_andnot_si128(padding, all));
    const __m256d lanes = static_cast<__m256d>(gather_wide(x, safe));
    return WideSimd<V>(_mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cvtepi16_epi64(padding)), lanes));
  } else {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns));
    const __m128i padding = _mm_cmpeq_epi16(all, _mm_set1_epi16(-1));
    _mm_store_si128(reinterpret_cast<__m128i*>(safe), _mm_andnot_si128(padding, all));
    const __m256 lanes = static_cast<__m256>(gather_wide(x, safe));
    return WideSimd<V>(_mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cvtepi16_epi32(padding)), lanes));
  }
#else
  return WideSimd<V>([&](auto lane) { return element_or_zero(x, columns[lane]); });
#endif
}
template <bool Hardware = false, class V>
inline WideSimd<V> gather_wide_padded(const V* x, const std::int32_t* columns) {
#ifdef __AVX512F__
  if constexpr (Hardware) return detail::gather_by_hardware<true>(x, columns);
#endif
#ifdef __AVX2__
  alignas(32) std::int32_t safe[32 / sizeof(V)];
  if constexpr (sizeof(V) == 8) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(columns));
    const __m128i padding = _mm_srai_epi32(all, 31);
    _mm_store_si128(reinterpret_cast<__m128i*>(safe), _mm_andnot_si128(padding, all));
    const __m256d lanes = static_cast<__m256d>(gather_wide(x, safe));
    return WideSimd<V>(_mm256_andnot_pd(_mm256_castsi256_pd(_mm256_cvtepi32_epi64(padding)), lanes));
  } else {
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns));
    const __m256i padding = _mm256_srai_epi32(all, 31);
    _mm256_store_si256(reinterpret_cast<__m256i*>(safe), _mm256_andnot_si256(padding, all));
    const __m256 lanes = static_cast<__m256>(gather_wide(x, safe));
    return WideSimd<V>(_mm256_andnot_ps(_mm256_castsi256_ps(padding), lanes));
  }
#else
  return WideSimd<V>([&](auto lane) { return element_or_zero(x, columns[lane]); });
#endif
}

/// The numbers of 16 bits that are the halves of `words` from number `first` on, the lower half of a word first.
template <class Lanes>
inline Lanes load_halves(const std::uint32_t* words, std::int32_t first) {
#ifdef __AVX2__
  const char* const from = reinterpret_cast<const char*>(words) + 2 * first;
#ifdef __AVX512F__
  if constexpr (Lanes::size() == 16)
    // Not the form without a mask, of which GCC warns that it leaves lanes uninitialized.
    return Lanes(_mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
  else
#endif
      if constexpr (Lanes::size() == 8)
    return Lanes(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  else
#endif
    return Lanes([&](auto lane) {
      const std::int32_t half = first + static_cast<std::int32_t>(lane);
      return static_cast<std::int32_t>(words[half / 2] >> (half % 2 * 16) & 0xffffu);
    });
}

/// The elements from[i] whose bit i is set; the others are 0 and are not read.
template <class Lanes, class V>
inline Lanes load_some(const V* from, std::uint32_t bits) {
  [[maybe_unused]] constexpr int bytes = static_cast<int>(Lanes::size() * sizeof(V));
#ifdef __AVX512F__
  if constexpr (bytes == 64 && sizeof(V) == 8)
    return Lanes(_mm512_maskz_loadu_pd(static_cast<__mmask8>(bits), from));
  else if constexpr (bytes == 64)
    return Lanes(_mm512_maskz_loadu_ps(static_cast<__mmask16>(bits), from));
  else if constexpr (bytes == 32 && sizeof(V) == 8)
    return Lanes(_mm256_maskz_loadu_pd(static_cast<__mmask8>(bits), from));
  else if constexpr (bytes == 32)
    return Lanes(_mm256_maskz_loadu_ps(static_cast<__mmask8>(bits), from));
  else
#elif defined(__AVX2__)
  if constexpr (bytes == 32 && sizeof(V) == 8) {
    const __m256i own = _mm256_setr_epi64x(1, 2, 4, 8);
    return Lanes(_mm256_maskload_pd(from, _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), own), own)));
  } else if constexpr (bytes == 32) {
    const __m256i own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
    return Lanes(_mm256_maskload_ps(from, _mm256_cmpeq_epi32(_mm256_and_si256(all, own), own)));
  } else
#endif
    return Lanes([&](auto lane) { return bits >> lane & 1 ? from[lane] : V(0); });
}

/// Writes lane i to to[i] where bit i is set, and nothing else.
template <class Lanes, class V>
inline void store_some(const Lanes& lanes, V* to, std::uint32_t bits) {
  [[maybe_unused]] constexpr int bytes = static_cast<int>(Lanes::size() * sizeof(V));
#ifdef __AVX512F__
  if constexpr (bytes == 64 && sizeof(V) == 8)
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(bits), static_cast<__m512d>(lanes));
  else if constexpr (bytes == 64)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(bits), static_cast<__m512>(lanes));
  else if constexpr (bytes == 32 && sizeof(V) == 8)
    _mm256_mask_storeu_pd(to, static_cast<__mmask8>(bits), static_cast<__m256d>(lanes));
  else if constexpr (bytes == 32)
    _mm256_mask_storeu_ps(to, static_cast<__mmask8>(bits), static_cast<__m256>(lanes));
  else
#endif
  {
    // AVX2 has stores with a mask, too, but they take as long as a dozen others.
    V elements[Lanes::size()];
    lanes.copy_to(elements, std::experimental::element_aligned);
    for (; bits != 0; bits &= bits - 1) to[__builtin_ctz(bits)] = elements[__builtin_ctz(bits)];
  }
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
