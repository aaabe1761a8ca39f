// The CPU kernels of ehyb; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/block_size.hpp"
#include "formats/cpu_product.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "formats/row_vectors.hpp"

namespace weft::ehyb::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// Adds columns of a slice to its sums. Runs: their slots' places in the cache, whose planes are `plane` apart, follow
/// each other.
template <bool Runs, int B, Index C, class V>
inline void add_columns(const V* values, const std::uint16_t* columns, Index count, const V* cache, Offset plane,
                        V (&sums)[B][C]) {
  // Filling a wide register from single places pays where it is used several times.
  using Lanes = std::conditional_t<Runs || B != 1, simd::NativeSimd<V, C>, simd::Simd<V>>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr Index groups = C / lanes;
  Lanes running[B][groups];
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g) running[r][g] = simd::load_as<Lanes>(sums[r] + g * lanes);
  for (Index k = 0; k < count; ++k, columns += C, values += B * B * C) {
    __builtin_prefetch(reinterpret_cast<const char*>(values) + bytes_ahead);
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g)
#pragma GCC unroll 8
      for (int c = 0; c < B; ++c) {
        const V* const from = cache + c * plane;
        Lanes x;
        if constexpr (Runs)
          x = simd::load_as<Lanes>(from + columns[0] + g * lanes);
        else
          x = Lanes([&](auto lane) { return from[columns[g * lanes + lane]]; });
#pragma GCC unroll 8
        for (int r = 0; r < B; ++r)
          simd::add_product(running[r][g], simd::load_as<Lanes>(values + (r * B + c) * C + g * lanes), x);
      }
  }
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index g = 0; g < groups; ++g) simd::store_as(running[r][g], sums[r] + g * lanes);
}

/// The sums of the rows of one slice with the vector that `cache` holds, whose planes are `plane` apart.
template <int B, Index C, class V>
inline void multiply_slice(const CpuView<V>& view, const Slice& slice, const V* cache, Offset plane, V (&sums)[B][C]) {
  const V* values = view.values + slice.entry * (B * B);
  const std::uint16_t* columns = view.columns + slice.entry;
  Offset bit = slice.entry / C;
  for (int r = 0; r < B; ++r)
    for (Index i = 0; i < C; ++i) sums[r][i] = 0;
  for (Index left = slice.width; left > 0;) {
    // The columns that are like the next one, as far as a word knows.
    std::uint32_t word = view.runs[bit / 32] >> (bit % 32);
    const bool run = word & 1;
    if (run) word = ~word;
    Index count = static_cast<Index>(32 - bit % 32);
    if (word != 0 && __builtin_ctz(word) < count) count = __builtin_ctz(word);
    if (count > left) count = left;
    if (run)
      add_columns<true, B, C>(values, columns, count, cache, plane, sums);
    else
      add_columns<false, B, C>(values, columns, count, cache, plane, sums);
    values += static_cast<Offset>(count) * (B * B * C);
    columns += static_cast<Offset>(count) * C;
    bit += count;
    left -= count;
  }
}

template <int B, class V>
void multiply_part(const CpuView<V>& view, const Product<V>& product, Index part, V* cache) {
  constexpr Index c = cpu_slice_rows<V>;
  const Index* const cached = view.cached + view.cache_begin[part];
  const Offset count = view.cache_begin[part + 1] - view.cache_begin[part];
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    // A plane for each column of a block, so that neighbours in one are neighbours in a vector.
    const Offset plane = count + 1;
    for (Offset i = 0; i < count; ++i)
      for (int k = 0; k < B; ++k) cache[k * plane + i] = x[static_cast<Offset>(cached[i]) * B + k];
    for (int k = 0; k < B; ++k) cache[k * plane + count] = 0;
    const V* const extra = view.extra_sums + j * view.pieces;
    for (Index s = view.slice_begin[part]; s < view.slice_begin[part + 1]; ++s) {
      const Slice& slice = view.slices[s];
      V sums[B][c];
      multiply_slice<B, c>(view, slice, cache, plane, sums);
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

/// `Slots` slots of a slice with row-major vectors, from `slot` on. Rows of x are read where they are: they are whole
/// lines mostly, and a cache of so many would be in none. Block is as in multiply_part_rows.
template <int Block, Index Slots, class V, class Vectors>
inline void multiply_slots(const CpuView<V>& view, const Vectors& vectors, const Slice& slice, const Index* cached,
                           Index padding, Index slot,
                           typename Vectors::Sums (&sums)[Slots][Block > 0 ? Block : max_block]) {
  constexpr Index c = cpu_slice_rows<V>;
  const int block = Block > 0 ? Block : view.block;
  const V* values = view.values + slice.entry * (block * block) + slot;
  const std::uint16_t* columns = view.columns + slice.entry + slot;
  for (Index k = 0; k < slice.width; ++k, columns += c, values += block * block * c) {
    __builtin_prefetch(reinterpret_cast<const char*>(values) + bytes_ahead);
#pragma GCC unroll 8
    for (Index i = 0; i < Slots; ++i) {
      const Index place = columns[i];
      const V* x = vectors.zeros();
      Offset step = 0;
      if (place != padding) {
        x = vectors.x(static_cast<Offset>(cached[place]) * block);
        step = vectors.x_stride();
      }
#pragma GCC unroll 3
      for (int column = 0; column < block; ++column)
#pragma GCC unroll 3
        for (int r = 0; r < block; ++r)
          vectors.add(sums[i][r], values[(r * block + column) * c + i], x + column * step);
    }
  }
}

/// A part with row-major vectors. Block is the size of the blocks, or 0 if it is only known in the view.
template <int Block, class V, class Vectors>
void multiply_part_rows(const CpuView<V>& view, const Vectors& vectors, Index part) {
  constexpr Index c = cpu_slice_rows<V>;
  constexpr int room = Block > 0 ? Block : max_block;
  constexpr Index slots = Vectors::together < room ? 1 : Vectors::together / room;  // whose sums fit the registers
  const int block = Block > 0 ? Block : view.block;
  const Index* const cached = view.cached + view.cache_begin[part];
  const auto padding = static_cast<Index>(view.cache_begin[part + 1] - view.cache_begin[part]);
  for (Index s = view.slice_begin[part]; s < view.slice_begin[part + 1]; ++s) {
    const Slice& slice = view.slices[s];
    const Index first = view.row_begin[part] + (s - view.slice_begin[part]) * c;
    const Index rows = view.row_begin[part + 1] - first < c ? view.row_begin[part + 1] - first : c;
    for (Index slot = 0; slot < rows; slot += slots) {
      typename Vectors::Sums sums[slots][room];
      multiply_slots<Block, slots>(view, vectors, slice, cached, padding, slot, sums);
      for (Index i = 0; i < slots && slot + i < rows; ++i) {
        const Offset node = view.order ? view.order[first + slot + i] : first + slot + i;
        for (int r = 0; r < block; ++r) {
          if (slice.extra >= 0) {
            const Range range = view.ranges[(static_cast<Offset>(slice.extra) * c + slot + i) * block + r];
            for (Index piece = range.begin; piece < range.end; ++piece)
              Vectors::join(sums[i][r],
                            vectors.saved(view.extra_sums + static_cast<Offset>(piece) * max_row_major_vectors));
          }
          vectors.store(node * block + r, sums[i][r]);
        }
      }
    }
  }
}

}  // namespace

template <class V>
void multiply(const CpuView<V>& view, const Product<V>& product, V* caches, Offset cache_stride, int threads) {
  if (product.layout == Layout::column_major)
    return with_block_size(view.block,
                           [&](auto b) { multiply_parts<b>(view, product, caches, cache_stride, threads); });
  with_small_block_size(view.block, [&](auto b) {
    constexpr int block = decltype(b)::value;
    simd::with_row_vectors(product, [&](const auto& vectors) {
      simd::for_each_piece(view.parts, threads, [&](int, Offset part) {
        multiply_part_rows<block>(view, vectors, static_cast<Index>(part));
      });
    });
  });
}

namespace {

/// The pieces of a slice of the extra part, one vector after the other.
template <class V>
void multiply_pieces(const CpuExtra<V>& extra, const Product<V>& product, V* sums, Offset s) {
  constexpr Index c = cpu_slice_rows<V>;
  const Slice& slice = extra.slices[s];
  const Index* const columns = extra.columns + slice.entry;
  const V* const values = extra.values + slice.entry;
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    V running[c] = {};
    for (Index k = 0; k < slice.width; ++k)
      for (Index i = 0; i < c; ++i) {
        const Index column = columns[static_cast<Offset>(k) * c + i];
        if (column >= 0) simd::add_product(running[i], values[static_cast<Offset>(k) * c + i], x[column]);
      }
    for (Index i = 0; i < c; ++i) {
      const Index place = extra.places[s * c + i];
      if (place >= 0) sums[j * extra.pieces + place] = running[i];
    }
  }
}

template <class V, class Vectors>
void multiply_pieces_rows(const CpuExtra<V>& extra, const Vectors& vectors, V* sums, Offset s) {
  constexpr Index c = cpu_slice_rows<V>;
  constexpr int slots = Vectors::together;
  const Slice& slice = extra.slices[s];
  for (Index slot = 0; slot < c; slot += slots) {
    typename Vectors::template Tile<slots> running;
    simd::add_side_by_side<true>(vectors, extra.values + slice.entry + slot, extra.columns + slice.entry + slot, c,
                                 slice.width, 0, running);
    simd::unrolled<slots>([&](auto i) {
      const Index place = extra.places[s * c + slot + i];
      if (place >= 0) vectors.save(running.row(i), sums + static_cast<Offset>(place) * max_row_major_vectors);
    });
  }
}

}  // namespace

template <class V>
void multiply_extra(const CpuExtra<V>& extra, const Product<V>& product, V* sums, int threads) {
  if (product.layout == Layout::column_major)
    return simd::for_each_piece(extra.slice_count, threads,
                                [&](int, Offset s) { multiply_pieces(extra, product, sums, s); });
  simd::with_row_vectors(product, [&](const auto& vectors) {
    simd::for_each_piece(extra.slice_count, threads,
                         [&](int, Offset s) { multiply_pieces_rows(extra, vectors, sums, s); });
  });
}

#define WEFT_INSTANTIATE(V)                                                         \
  template void multiply<V>(const CpuView<V>&, const Product<V>&, V*, Offset, int); \
  template void multiply_extra<V>(const CpuExtra<V>&, const Product<V>&, V*, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::ehyb::WEFT_ISA_NAMESPACE
