// The CPU kernel of bro-sell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/block_size.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

namespace weft::bro_sell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// A slice while one vector is multiplied with it: C slots side by side.
template <Index C>
struct Cursor {
  const Index* bases;
  const std::uint32_t* more_codes;
  const std::uint32_t* words;
  std::uint32_t codes;
  Index number = 0;                 // of the next group
  Index columns[group_columns][C];  // of the group that was decoded last; column 3 is where the next begins

  /// Decodes the next group. Vectors of four numbers, since this file is compiled without a loop vectoriser.
  void decode() {
    using Lanes = simd::Simd<Index>;
    constexpr Index lanes = static_cast<Index>(Lanes::size());
    if (number % codes_per_word == 0 && number > 0) codes = *more_codes++;
    ++number;
    const std::uint32_t code = codes & 15u;
    codes >>= code_bits;
    const int width = width_of(code);
    const std::uint32_t mask = width == 32 ? ~0u : (1u << width) - 1;
    for (Index first = 0; first < C; first += lanes) {
      Lanes column = simd::load(columns[group_columns - 1] + first);
      for (int i = 0; i < group_columns; ++i) {
        column += bases[i];
        if (code != 0) {
          Index bits[lanes];
          for (Index lane = 0; lane < lanes; ++lane) {
            const Index bit = ((first + lane) * group_columns + i) * width;
            bits[lane] = static_cast<Index>(words[bit / 32] >> (bit % 32) & mask);
          }
          column += simd::load(bits);
        }
        simd::store(column, columns[i] + first);
      }
    }
    words += group_words(code, C);
    bases += group_columns;
  }
};

/// Adds a column of full blocks to the sums, C slots side by side. Checked: slots that have ended meet zeros instead of
/// x.
template <bool Checked, int B, Index C, class Lanes, class V>
inline void add_column(const V* values, const Index* columns, const std::uint32_t* lengths, Index k, const V* x,
                       Lanes (&sums)[B][C / Lanes::size()]) {
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  static constexpr V zeros[B] = {};
#pragma GCC unroll 36
  for (int e = 0; e < B * B; ++e) __builtin_prefetch(reinterpret_cast<const char*>(values + e * C) + bytes_ahead);
#pragma GCC unroll 8
  for (Index p = 0; p < C / lanes; ++p) {
    const V* at[lanes];
#pragma GCC unroll 8
    for (Index lane = 0; lane < lanes; ++lane) {
      const Index slot = p * lanes + lane;
      at[lane] = x + static_cast<Offset>(columns[slot]) * B;
      if (Checked && k >= static_cast<Index>(lengths[slot])) at[lane] = zeros;
    }
#pragma GCC unroll 8
    for (int c = 0; c < B; ++c) {
      const Lanes factor([&](auto lane) { return at[lane][c]; });
#pragma GCC unroll 8
      for (int r = 0; r < B; ++r) sums[r][p] += simd::load_as<Lanes>(values + (r * B + c) * C + p * lanes) * factor;
    }
  }
}

/// Adds one slot's block, or what its mask leaves of it.
template <int B, Index C, class V>
inline void add_masked(const V* values, Index column, std::uint64_t mask, const V* x, V* sums) {
  for (int e = 0; e < B * B; ++e)
    if (mask >> e & 1) sums[(e / B) * C] += values[e * C] * x[static_cast<Offset>(column) * B + e % B];
}

/// What a slice is made of. Null: all slots are as long as the slice, all blocks are full.
template <Index C>
struct Contents {
  const std::uint32_t* lengths;
  const std::uint32_t* masks;
  Cursor<C> cursor;
};

template <int B, Index C, class V>
inline Contents<C> contents_of(const CpuPart<V>& part, const Slice& slice, Offset first, Index count) {
  const std::uint32_t* const words = part.words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, C, B);
  Contents<C> contents{slice.marks & ragged ? words + layout.lengths : nullptr,
                       slice.marks & masked ? words + layout.masks : nullptr,
                       {part.bases + static_cast<Offset>(slice.group) * group_columns,
                        words,
                        words + layout.groups,
                        slice.codes,
                        0,
                        {}}};
  for (Index i = 0; i < count; ++i)
    contents.cursor.columns[group_columns - 1][i] = part.order ? part.order[first + i] : static_cast<Index>(first + i);
  return contents;
}

/// Which entries of a block there are: slot i's in column k.
template <int B, Index C>
inline std::uint64_t mask_of(const std::uint32_t* masks, Index k, Index i) {
  const std::uint32_t* const at = masks + (static_cast<Offset>(k) * C + i) * mask_words(B);
  return mask_words(B) == 1 ? at[0] : at[0] | static_cast<std::uint64_t>(at[1]) << 32;
}

/// The sums of one slice with one vector.
template <int B, Index C, class V>
void multiply_slice(const CpuPart<V>& part, const Slice& slice, Offset first, Index count, const V* x,
                    V (&sums)[B][C]) {
  using Lanes = std::conditional_t<B == 1, simd::Simd<V>, simd::WideSimd<V>>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr int entries = B * B;
  auto [lengths, masks, cursor] = contents_of<B, C>(part, slice, first, count);
  Index full = slice.width;  // columns before this one need no look at the lengths
  if (lengths)
    for (Index i = 0; i < C; ++i)
      if (static_cast<Index>(lengths[i]) < full) full = static_cast<Index>(lengths[i]);

  const V* values = part.values + slice.value;
  Lanes running[B][C / lanes];
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index p = 0; p < C / lanes; ++p) running[r][p] = 0;
  if (masks) {
    for (int r = 0; r < B; ++r)
      for (Index i = 0; i < C; ++i) sums[r][i] = 0;
    for (Index k = 0; k < slice.width; ++k, values += entries * C) {
      if (k % group_columns == 0) cursor.decode();
      for (Index i = 0; i < count; ++i) {
        if (lengths && k >= static_cast<Index>(lengths[i])) continue;
        add_masked<B, C>(values + i, cursor.columns[k % group_columns][i], mask_of<B, C>(masks, k, i), x, &sums[0][i]);
      }
    }
    return;
  }
  Index k = 0;
  for (; k < full; ++k, values += entries * C) {
    if (k % group_columns == 0) cursor.decode();
    add_column<false, B, C, Lanes>(values, cursor.columns[k % group_columns], lengths, k, x, running);
  }
  for (; k < slice.width; ++k, values += entries * C) {
    if (k % group_columns == 0) cursor.decode();
    add_column<true, B, C, Lanes>(values, cursor.columns[k % group_columns], lengths, k, x, running);
  }
#pragma GCC unroll 8
  for (int r = 0; r < B; ++r)
#pragma GCC unroll 8
    for (Index p = 0; p < C / lanes; ++p) simd::store_as(running[r][p], sums[r] + p * lanes);
}

/// Adds a slot's block to the sums of its B rows; `column` is that of the block.
template <int B, Index C, class Vectors, class V>
inline void add_block(const Vectors& vectors, const V* values, Offset column, typename Vectors::Sums (&sums)[B]) {
#pragma GCC unroll 8
  for (int c = 0; c < B; ++c) {
    const V* const x = vectors.x(column * B + c);
#pragma GCC unroll 8
    for (int r = 0; r < B; ++r) vectors.add(sums[r], values[(r * B + c) * C], x);
  }
}

/// One slice with row-major vectors. The sums of a slot are in registers while it takes the columns of a group.
template <int B, Index C, class Vectors, class V>
void multiply_slice_rows(const CpuPart<V>& part, const Vectors& vectors, const Slice& slice, Offset first,
                         Index count) {
  constexpr int entries = B * B;
  auto [lengths, masks, cursor] = contents_of<B, C>(part, slice, first, count);
  const V* values = part.values + slice.value;
  V sums[C][B][max_row_major_vectors];
  for (Index i = 0; i < count; ++i)
    for (int r = 0; r < B; ++r) vectors.save({}, sums[i][r]);
  for (Index k = 0; k < slice.width; k += group_columns) {
    cursor.decode();
    const Index width = slice.width - k < group_columns ? slice.width - k : group_columns;
    for (Offset e = 0; e < static_cast<Offset>(width) * entries; ++e)
      __builtin_prefetch(reinterpret_cast<const char*>(values + e * C) + bytes_ahead);
    for (Index i = 0; i < count; ++i) {
      const Index left = lengths ? static_cast<Index>(lengths[i]) - k : width;
      const Index end = left < width ? left : width;
      typename Vectors::Sums running[B];
#pragma GCC unroll 8
      for (int r = 0; r < B; ++r) running[r] = vectors.saved(sums[i][r]);
      for (Index j = 0; j < end; ++j) {
        const V* const block = values + static_cast<Offset>(j) * entries * C + i;
        const Offset column = cursor.columns[j][i];
        if (!masks) {
          add_block<B, C>(vectors, block, column, running);
          continue;
        }
        const std::uint64_t mask = mask_of<B, C>(masks, k + j, i);
        for (int e = 0; e < entries; ++e)
          if (mask >> e & 1) vectors.add(running[e / B], block[e * C], vectors.x(column * B + e % B));
      }
#pragma GCC unroll 8
      for (int r = 0; r < B; ++r) vectors.save(running[r], sums[i][r]);
    }
    values += static_cast<Offset>(width) * entries * C;
  }
  for (Index i = 0; i < count; ++i) {
    const Offset row = part.order ? part.order[first + i] : first + i;
    for (int r = 0; r < B; ++r) vectors.store(row * B + r, vectors.saved(sums[i][r]));
  }
}

/// Calls body(slice, its first slot, how many of its slots there are).
template <class V, class F>
inline void for_each_slice(const CpuPart<V>& part, int threads, F&& body) {
  constexpr Index c = cpu_slice_rows<V>;
  // A piece should take well over what handing it out does.
  constexpr Offset slices_per_piece = 8;
  const Offset pieces = (part.slice_count + slices_per_piece - 1) / slices_per_piece;
  simd::for_each_piece(pieces, threads, [&](int, Offset piece) {
    const Offset end = (piece + 1) * slices_per_piece;
    for (Offset s = piece * slices_per_piece; s < (end < part.slice_count ? end : part.slice_count); ++s) {
      const Offset first = s * c;
      body(part.slices[s], first, part.rows - first < c ? static_cast<Index>(part.rows - first) : c);
    }
  });
}

template <int B, class V>
void multiply_blocks(const CpuPart<V>& part, const Product<V>& product, int threads) {
  constexpr Index c = cpu_slice_rows<V>;
  for_each_slice(part, threads, [&](const Slice& slice, Offset first, Index count) {
    // The slice stays in the cache from one vector to the next.
    for (int j = 0; j < product.count; ++j) {
      V sums[B][c];
      multiply_slice<B, c>(part, slice, first, count, product.x + static_cast<std::size_t>(j) * product.x_stride, sums);
      for (Index i = 0; i < count; ++i) {
        const Offset row = part.order ? part.order[first + i] : first + i;
        for (int r = 0; r < B; ++r) simd::store_sum(product, row * B + r, j, sums[r][i]);
      }
    }
  });
}

}  // namespace

template <class V>
void multiply(const CpuPart<V>& part, const Product<V>& product, int threads) {
  with_block_size(part.block, [&](auto b) {
    constexpr int block = decltype(b)::value;
    if (product.layout == Layout::column_major) return multiply_blocks<block>(part, product, threads);
    simd::with_row_vectors(product, [&](const auto& vectors) {
      for_each_slice(part, threads, [&](const Slice& slice, Offset first, Index count) {
        multiply_slice_rows<block, cpu_slice_rows<V>>(part, vectors, slice, first, count);
      });
    });
  });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuPart<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell::WEFT_ISA_NAMESPACE
