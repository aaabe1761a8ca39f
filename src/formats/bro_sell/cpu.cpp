// The CPU kernel of bro-sell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/block_size.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/bro_sell/cpu_runs.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

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
      for (int r = 0; r < B; ++r)
        simd::add_product(sums[r][p], simd::load_as<Lanes>(values + (r * B + c) * C + p * lanes), factor);
    }
  }
}

/// Adds one slot's block, or what its mask leaves of it.
template <int B, Index C, class V>
inline void add_masked(const V* values, Index column, std::uint64_t mask, const V* x, V* sums) {
  for (int e = 0; e < B * B; ++e)
    if (mask >> e & 1) simd::add_product(sums[(e / B) * C], values[e * C], x[static_cast<Offset>(column) * B + e % B]);
}

/// What a slice is made of. Null: all slots are as long as the slice, all blocks are full.
template <Index C>
struct Contents {
  const std::uint32_t* lengths;
  const std::uint32_t* masks;
  Cursor<C> cursor;
};

template <Index C, class V>
inline Contents<C> contents_of(const CpuPart<V>& part, const Slice& slice, Offset first, Index count, int block) {
  const std::uint32_t* const words = part.words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, C, block);
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
template <Index C>
inline std::uint64_t mask_of(const std::uint32_t* masks, Index k, Index i, int block) {
  const std::uint32_t* const at = masks + (static_cast<Offset>(k) * C + i) * mask_words(block);
  return mask_words(block) == 1 ? at[0] : at[0] | static_cast<std::uint64_t>(at[1]) << 32;
}

/// The sums of one slice with one vector.
template <int B, Index C, class V>
void multiply_slice(const CpuPart<V>& part, const Slice& slice, Offset first, Index count, const V* x,
                    V (&sums)[B][C]) {
  using Lanes = std::conditional_t<B == 1, simd::Simd<V>, simd::WideSimd<V>>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  constexpr int entries = B * B;
  auto [lengths, masks, cursor] = contents_of<C>(part, slice, first, count, B);
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
        add_masked<B, C>(values + i, cursor.columns[k % group_columns][i], mask_of<C>(masks, k, i, B), x, &sums[0][i]);
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

/// One slice of runs with row-major vectors.
template <int Block, Index C, class Vectors, class V>
void multiply_runs_rows(const CpuPart<V>& part, const Vectors& vectors, const Slice& slice, Offset first, Index count) {
  constexpr int room = Block > 0 ? Block : max_block;
  const int block = Block > 0 ? Block : part.block;
  const RunWords runs(slice, part.words + slice.word, block);
  const V* const values = part.values + slice.value;
  const Offset own = (part.order ? part.order[first] : first) * block;
  for (Index i = 0; i < count; ++i) {
    const Index element = i * block;
    typename Vectors::Sums sums[room];
    for (Index run = 0; run < runs.count; ++run) {
      if (run >= runs.full && !(runs.masks(run)[element / C] >> (element % C) & 1)) continue;
      const Offset column = own + runs.distance(run) + element;
      const V* const entry = values + run_value_place(i, run, 0, 0, C, block);
#pragma GCC unroll 3
      for (int c = 0; c < block; ++c) {
        const V* const x = vectors.x(column + c);
#pragma GCC unroll 3
        for (int r = 0; r < block; ++r) vectors.add(sums[r], entry[r * C * block + c], x);
      }
    }
    for (int r = 0; r < block; ++r) vectors.store(own + element + r, sums[r]);
  }
}

/// One slice with row-major vectors. The sums of a slot are in registers while it takes the columns of a group. Block
/// is the size of the blocks, or 0 if it is only known in the part.
template <int Block, Index C, class Vectors, class V>
void multiply_slice_rows(const CpuPart<V>& part, const Vectors& vectors, const Slice& slice, Offset first,
                         Index count) {
  constexpr int room = Block > 0 ? Block : max_block;
  const int block = Block > 0 ? Block : part.block;
  const int entries = block * block;
  auto [lengths, masks, cursor] = contents_of<C>(part, slice, first, count, block);
  const V* values = part.values + slice.value;
  V sums[C][room][max_row_major_vectors];
  for (Index i = 0; i < count; ++i)
    for (int r = 0; r < block; ++r) vectors.save({}, sums[i][r]);
  for (Index k = 0; k < slice.width; k += group_columns) {
    cursor.decode();
    const Index width = slice.width - k < group_columns ? slice.width - k : group_columns;
    for (Offset e = 0; e < static_cast<Offset>(width) * entries; ++e)
      __builtin_prefetch(reinterpret_cast<const char*>(values + e * C) + bytes_ahead);
    for (Index i = 0; i < count; ++i) {
      const Index left = lengths ? static_cast<Index>(lengths[i]) - k : width;
      const Index end = left < width ? left : width;
      typename Vectors::Sums running[room];
#pragma GCC unroll 3
      for (int r = 0; r < block; ++r) running[r] = vectors.saved(sums[i][r]);
      for (Index j = 0; j < end; ++j) {
        const V* const entry = values + static_cast<Offset>(j) * entries * C + i;
        const Offset column = static_cast<Offset>(cursor.columns[j][i]) * block;
        if (masks) {
          const std::uint64_t mask = mask_of<C>(masks, k + j, i, block);
          for (int e = 0; e < entries; ++e)
            if (mask >> e & 1) vectors.add(running[e / block], entry[e * C], vectors.x(column + e % block));
          continue;
        }
#pragma GCC unroll 3
        for (int c = 0; c < block; ++c) {
          const V* const x = vectors.x(column + c);
#pragma GCC unroll 3
          for (int r = 0; r < block; ++r) vectors.add(running[r], entry[(r * block + c) * C], x);
        }
      }
#pragma GCC unroll 3
      for (int r = 0; r < block; ++r) vectors.save(running[r], sums[i][r]);
    }
    values += static_cast<Offset>(width) * entries * C;
  }
  for (Index i = 0; i < count; ++i) {
    const Offset row = part.order ? part.order[first + i] : first + i;
    for (int r = 0; r < block; ++r) vectors.store(row * block + r, vectors.saved(sums[i][r]));
  }
}

/// Calls body(slice, its first slot, how many of its slots there are) for the slices of a piece.
template <class V, class F>
inline void for_each_slice(const CpuPart<V>& part, Offset begin, Offset slices, F&& body) {
  constexpr Index c = cpu_slice_rows<V>;
  const Offset end = begin + slices < part.slice_count ? begin + slices : part.slice_count;
  for (Offset s = begin; s < end; ++s) {
    const Offset first = s * c;
    body(part.slices[s], first, part.rows - first < c ? static_cast<Index>(part.rows - first) : c);
  }
}

// A piece should take well over what handing it out does.
constexpr Offset slices_per_piece = 8;
inline Offset pieces_of(Offset slices, Offset per_piece) { return (slices + per_piece - 1) / per_piece; }

template <int B, class V>
void multiply_blocks(const CpuPart<V>& part, const Product<V>& product, int threads) {
  constexpr Index c = cpu_slice_rows<V>;
  // With several vectors each goes through a piece that stays in the second-level cache, and that is long enough for
  // the CPU's own prefetching of x and y.
  constexpr Offset rows_per_piece = 512;
  const Offset slices = product.count == 1 ? slices_per_piece : slices_per_piece + rows_per_piece / (c * B);
  simd::for_each_piece(pieces_of(part.slice_count, slices), threads, [&](int, Offset piece) {
    for (int j = 0; j < product.count; ++j) {
      const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
      for_each_slice(part, piece * slices, slices, [&](const Slice& slice, Offset first, Index count) {
        if (slice.marks & in_runs) {
          const Offset row = (part.order ? part.order[first] : first) * B;
          RunSlice<B, c, V>(slice, part.words + slice.word, part.values + slice.value, x + row)
              .store(product, row, j, count);
          return;
        }
        V sums[B][c];
        multiply_slice<B, c>(part, slice, first, count, x, sums);
        for (Index i = 0; i < count; ++i) {
          const Offset row = part.order ? part.order[first + i] : first + i;
          for (int r = 0; r < B; ++r) simd::store_sum(product, row * B + r, j, sums[r][i]);
        }
      });
    }
  });
}

}  // namespace

template <class V>
void multiply(const CpuPart<V>& part, const Product<V>& product, int threads) {
  if (product.layout == Layout::column_major)
    return with_block_size(part.block, [&](auto b) { multiply_blocks<b>(part, product, threads); });
  with_small_block_size(part.block, [&](auto b) {
    constexpr int block = decltype(b)::value;
    simd::with_row_vectors(product, [&](const auto& vectors) {
      simd::for_each_piece(pieces_of(part.slice_count, slices_per_piece), threads, [&](int, Offset piece) {
        for_each_slice(part, piece * slices_per_piece, slices_per_piece,
                       [&](const Slice& slice, Offset first, Index count) {
                         if (slice.marks & in_runs)
                           multiply_runs_rows<block, cpu_slice_rows<V>>(part, vectors, slice, first, count);
                         else
                           multiply_slice_rows<block, cpu_slice_rows<V>>(part, vectors, slice, first, count);
                       });
      });
    });
  });
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuPart<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell::WEFT_ISA_NAMESPACE
