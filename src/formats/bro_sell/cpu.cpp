// The CPU kernel of bro-sell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/block_size.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/bro_sell/cpu_runs.hpp"
#include "formats/cpu_product.hpp"

namespace weft::bro_sell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// A slice while one vector is multiplied with it: C slots side by side.
template <Index C>
class Cursor {
 public:
  const Index* bases;
  const std::uint32_t* more_codes;
  const std::uint32_t* words;
  std::uint32_t codes;
  Index number;                     // of the next group
  Index columns[group_columns][C];  // of the group that was decoded last; column 3 is where the next begins

  /// Decodes the next group.
  void decode() {
    if (number % codes_per_word == 0 && number > 0) codes = *more_codes++;
    ++number;
    const std::uint32_t code = codes & 15u;
    codes >>= code_bits;
    switch (width_of(code)) {
      case 0:
        decode_as<0>();
        break;
      case 4:
        decode_as<4>();
        break;
      case 8:
        decode_as<8>();
        break;
      case 16:
        decode_as<16>();
        break;
      default:
        decode_as<32>();
    }
    words += group_words(code, C);
    bases += group_columns;
  }

 private:
  /// A group of this width. A slot's four numbers are half a word (width 4), a word (8), two or four.
  template <int Width>
  void decode_as() {
    using Lanes = simd::NativeSimd<Index, C>;
    constexpr Index lanes = static_cast<Index>(Lanes::size());
    constexpr Index per_word = Width == 0 ? group_columns : 32 / Width;
    const auto* const packed = reinterpret_cast<const Index*>(words);
#pragma GCC unroll 4
    for (Index first = 0; first < C; first += lanes) {
      auto column = simd::load_as<Lanes>(columns[group_columns - 1] + first);
      Lanes bits;
      if constexpr (Width == 4) bits = simd::load_halves<Lanes>(words, first);
      if constexpr (Width == 8) bits = simd::load_as<Lanes>(packed + first);
#pragma GCC unroll 4
      for (int i = 0; i < group_columns; ++i) {
        if constexpr (Width == 16 || Width == 32)
          if (i % per_word == 0)
            bits = Lanes([&](auto lane) { return packed[((first + lane) * group_columns + i) / per_word]; });
        column += bases[i];
        if constexpr (Width == 32)
          column += bits;
        else if constexpr (Width > 0)
          column += bits >> (i % per_word * Width) & ((1 << Width) - 1);
        simd::store_as(column, columns[i] + first);
      }
    }
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

/// The sums of one slice with one vector.
template <int B, Index C, class V>
void multiply_slice(const CpuPart<V>& part, const Slice& slice, Offset first, Index count, const V* x,
                    V (&sums)[B][C]) {
  using Lanes = std::conditional_t<B == 1, simd::Simd<V>, simd::WideSimd<V>>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr int entries = B * B;
  const std::uint32_t* const words = part.words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, C, B);
  const std::uint32_t* const lengths = slice.marks & ragged ? words + layout.lengths : nullptr;
  const std::uint32_t* const masks = slice.marks & masked ? words + layout.masks : nullptr;
  Index full = slice.width;  // columns before this one need no look at the lengths
  if (lengths)
    for (Index i = 0; i < C; ++i)
      if (static_cast<Index>(lengths[i]) < full) full = static_cast<Index>(lengths[i]);

  Cursor<C> cursor{
      part.bases + static_cast<Offset>(slice.group) * group_columns, words, words + layout.groups, slice.codes, 0, {}};
  for (Index i = 0; i < count; ++i)
    cursor.columns[group_columns - 1][i] = part.order ? part.order[first + i] : static_cast<Index>(first + i);
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
        const std::uint32_t* const at = masks + (static_cast<Offset>(k) * C + i) * mask_words(B);
        const std::uint64_t mask = mask_words(B) == 1 ? at[0] : at[0] | static_cast<std::uint64_t>(at[1]) << 32;
        add_masked<B, C>(values + i, cursor.columns[k % group_columns][i], mask, x, &sums[0][i]);
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

template <int B, class V>
void multiply_blocks(const CpuPart<V>& part, const Product<V>& product, int threads) {
  constexpr Index c = cpu_slice_rows<V>;
  // A piece should take well over what handing it out does.
  constexpr Offset slices_per_piece = 8;
  const Offset pieces = (part.slice_count + slices_per_piece - 1) / slices_per_piece;
  const auto multiply_one = [&](Offset s) {
    const Offset first = s * c;
    const Index count = part.rows - first < c ? static_cast<Index>(part.rows - first) : c;
    // The slice stays in the cache from one vector to the next.
    const Slice& slice = part.slices[s];
    for (int j = 0; j < product.count; ++j) {
      if (slice.marks & in_runs) {
        const Offset row = (part.order ? part.order[first] : first) * B;
        RunSlice<B, c, V>(slice, part.words + slice.word, part.values + slice.value, product.x_of(j) + row)
            .store(product, row, j, count);
        continue;
      }
      V sums[B][c];
      multiply_slice<B, c>(part, slice, first, count, product.x_of(j), sums);
      for (Index i = 0; i < count; ++i) {
        const Offset row = part.order ? part.order[first + i] : first + i;
        for (int r = 0; r < B; ++r) simd::store_sum(product, row * B + r, j, sums[r][i]);
      }
    }
  };
  simd::for_each_piece(pieces, threads, [&](int, Offset piece) {
    const Offset end = (piece + 1) * slices_per_piece;
    for (Offset s = piece * slices_per_piece; s < (end < part.slice_count ? end : part.slice_count); ++s)
      multiply_one(s);
  });
}

}  // namespace

template <class V>
void multiply(const CpuPart<V>& part, const Product<V>& product, int threads) {
  with_block_size(part.block, [&](auto b) { multiply_blocks<b>(part, product, threads); });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuPart<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell::WEFT_ISA_NAMESPACE
