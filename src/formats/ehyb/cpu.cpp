// The CPU kernels of ehyb; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/block_size.hpp"
#include "formats/cpu_product.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// The sums of the rows of one slice with the vector that `cache` holds.
template <int B, Index C, class V>
inline void multiply_slice(const CpuView<V>& view, const Slice& slice, const V* cache, V (&sums)[B][C]) {
  using Lanes = std::conditional_t<B == 1, simd::Simd<V>, simd::WideSimd<V>>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr Index groups = C / lanes;
  const V* values = view.values + slice.entry * (B * B);
  const std::uint16_t* columns = view.columns + slice.entry;
  Lanes running[B][groups];
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g) running[r][g] = 0;
  for (Index k = 0; k < slice.width; ++k, columns += C, values += B * B * C) {
    __builtin_prefetch(reinterpret_cast<const char*>(values) + bytes_ahead);
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g) {
      Lanes x[B];
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c)
        x[c] = Lanes([&](auto lane) { return cache[static_cast<Offset>(columns[g * lanes + lane]) * B + c]; });
#pragma GCC unroll 8
      for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < B; ++c) running[r][g] += simd::load_as<Lanes>(values + (r * B + c) * C + g * lanes) * x[c];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g) simd::store_as(running[r][g], sums[r] + g * lanes);
}

template <int B, class V>
void multiply_part(const CpuView<V>& view, const Product<V>& product, Index part, V* cache) {
  constexpr Index c = cpu_slice_rows<V>;
  const Index* const cached = view.cached + view.cache_begin[part];
  const Offset count = view.cache_begin[part + 1] - view.cache_begin[part];
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x_of(j);
    for (Offset i = 0; i < count; ++i)
      for (int k = 0; k < B; ++k) cache[i * B + k] = x[static_cast<Offset>(cached[i]) * B + k];
    for (int k = 0; k < B; ++k) cache[count * B + k] = 0;
    const V* const extra = view.extra_sums + j * view.pieces;
    for (Index s = view.slice_begin[part]; s < view.slice_begin[part + 1]; ++s) {
      const Slice& slice = view.slices[s];
      V sums[B][c];
      multiply_slice<B, c>(view, slice, cache, sums);
      const Index first = view.row_begin[part] + (s - view.slice_begin[part]) * c;
      const Index rows = view.row_begin[part + 1] - first < c ? view.row_begin[part + 1] - first : c;
      for (Index i = 0; i < rows; ++i) {
        const Offset node = view.order ? view.order[first + i] : first + i;
        for (int r = 0; r < B; ++r) {
          V sum = sums[r][i];
          if (slice.extra >= 0) {
            const Range range = view.ranges[(static_cast<Offset>(slice.extra) * c + i) * B + r];
            for (Index piece = range.begin; piece < range.end; ++piece) sum += extra[piece];
          }
          simd::store_sum(product, node * B + r, j, sum);
        }
      }
    }
  }
}

template <int B, class V>
void multiply_parts(const CpuView<V>& view, const Product<V>& product, V* caches, Offset cache_stride, int threads) {
  simd::for_each_piece(view.parts, threads, [&](int thread, Offset part) {
    multiply_part<B>(view, product, static_cast<Index>(part), caches + thread * cache_stride);
  });
}

}  // namespace

template <class V>
void multiply(const CpuView<V>& view, const Product<V>& product, V* caches, Offset cache_stride, int threads) {
  with_block_size(view.block, [&](auto b) { multiply_parts<b>(view, product, caches, cache_stride, threads); });
}

template <class V>
void multiply_extra(const CpuExtra<V>& extra, const Product<V>& product, V* sums, int threads) {
  constexpr Index c = cpu_slice_rows<V>;
  simd::for_each_piece(extra.slice_count, threads, [&](int, Offset s) {
    const Slice& slice = extra.slices[s];
    const Index* const columns = extra.columns + slice.entry;
    const V* const values = extra.values + slice.entry;
    for (int j = 0; j < product.count; ++j) {
      const V* const x = product.x_of(j);
      V running[c] = {};
      for (Index k = 0; k < slice.width; ++k)
        for (Index i = 0; i < c; ++i) {
          const Index column = columns[static_cast<Offset>(k) * c + i];
          if (column >= 0) running[i] += values[static_cast<Offset>(k) * c + i] * x[column];
        }
      for (Index i = 0; i < c; ++i) {
        const Index place = extra.places[static_cast<Offset>(s) * c + i];
        if (place >= 0) sums[j * extra.pieces + place] = running[i];
      }
    }
  });
}

#define WEFT_INSTANTIATE(V)                                                         \
  template void multiply<V>(const CpuView<V>&, const Product<V>&, V*, Offset, int); \
  template void multiply_extra<V>(const CpuExtra<V>&, const Product<V>&, V*, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::ehyb::WEFT_ISA_NAMESPACE
