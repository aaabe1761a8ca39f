#pragma once
#include <weft/types.hpp>

#include <cstdint>

#include "formats/column_groups.hpp"

// How a slice's column numbers are packed, on every device. README.md draws it.
//
// A slot's column k is the one before it (its block row's own number before the first) plus a delta. Four columns of
// a slice are a group. A group has four bases, the smallest delta of each of its columns, and one width: the bits that
// what is left of its deltas needs in every slot. Where all rows of a slice look alike nothing is left.
namespace weft::bro_sell {

inline constexpr int group_columns = 4;
inline constexpr int code_bits = 4, codes_per_word = 8;

/// Widths are one of these bits; a group's code is its place in the list.
inline constexpr int widths = 5;
WEFT_HOST_DEVICE constexpr int width_of(std::uint32_t code) { return code == 0 ? 0 : 2 << code; }  // 0 4 8 16 32
WEFT_HOST_DEVICE constexpr std::uint32_t code_for(std::uint32_t largest) {
  return largest == 0 ? 0u : largest < (1u << 4) ? 1u : largest < (1u << 8) ? 2u : largest < (1u << 16) ? 3u : 4u;
}

/// Words of 32 bits that a group takes: the slots' bits are stored one after the other, slot after slot.
WEFT_HOST_DEVICE constexpr Offset group_words(std::uint32_t code, Index slice_rows) {
  return static_cast<Offset>(slice_rows) * width_of(code) * group_columns / 32;
}

/// Where a slice lies, in 32 bytes.
struct alignas(16) Slice {
  Offset value = 0;         ///< of its first value
  Offset word = 0;          ///< of its first word
  std::uint32_t group = 0;  ///< the number of its first group
  Index width = 0;          ///< columns (of blocks) of its longest slot
  std::uint32_t codes = 0;  ///< those of its first eight groups, from the lowest bits
  std::uint32_t marks = 0;  ///< `ragged`, `masked` and `wide`, or `in_runs` and `repeats`
  bool operator==(const Slice&) const = default;
};
inline constexpr std::uint32_t ragged = 1;  ///< slots differ in length
inline constexpr std::uint32_t masked = 2;  ///< some blocks are not full
inline constexpr std::uint32_t wide = 4;    ///< a group has a width of 32 bits
/// Only on a CPU: a slice of block rows that follow each other, and whose blocks are stored by their distances from the
/// diagonal. It has no groups and no lengths; `width` is the number of runs, `codes` that of the full ones among them.
inline constexpr std::uint32_t in_runs = 8;
inline constexpr std::uint32_t repeats = 16;  ///< and its words are those of the slice before it

/// A slice's words are, one after the other:
/// 1. the codes of groups after the eighth, eight per word,
/// 2. if it is ragged, the length of each slot,
/// 3. if it is masked, a bit for each entry of each block: column k of slot i has mask_words(b) words at
///    (k * C + i) * mask_words(b), entry (r, c) of the block is bit r * b + c,
/// 4. the groups.
struct WordLayout {
  Offset lengths = 0, masks = 0, groups = 0;  ///< where they begin in the slice's words
};
WEFT_HOST_DEVICE constexpr Index groups_of(Index width) { return width / group_columns + (width % group_columns != 0); }
WEFT_HOST_DEVICE constexpr int mask_words(int block) { return block * block > 32 ? 2 : 1; }
WEFT_HOST_DEVICE constexpr WordLayout word_layout(Index width, std::uint32_t marks, Index slice_rows, int block) {
  WordLayout layout;
  const Index groups = groups_of(width);
  // Lengths and groups are read by several words at once, so they begin at multiples of four.
  layout.lengths = groups <= codes_per_word ? 0 : (groups - 1) / codes_per_word;
  layout.lengths = (layout.lengths + 3) / 4 * 4;
  layout.masks = layout.lengths + (marks & ragged ? slice_rows : 0);
  layout.groups = layout.masks + (marks & masked ? static_cast<Offset>(slice_rows) * width * mask_words(block) : 0);
  return layout;
}

/// A slice in runs has these words instead:
/// 1. for each run, how far what it needs of x is from the first slot's own place there: the distance in columns; full
///    runs, in which every slot has a block, come first, then partial ones, both by ascending distance,
/// 2. for each partial run b pieces of C bits, one word each: bit j of piece p is set if element p * C + j of the run's
///    C * b elements of x is that of a slot that has a block.
struct RunWords {
  const std::uint32_t* words;
  Index full, count;
  int block;

  WEFT_HOST_DEVICE constexpr RunWords(const Slice& slice, const std::uint32_t* of_slice, int b)
      : words(of_slice), full(static_cast<Index>(slice.codes)), count(slice.width), block(b) {}
  WEFT_HOST_DEVICE constexpr Index distance(Index run) const { return static_cast<Index>(words[run]); }
  WEFT_HOST_DEVICE constexpr const std::uint32_t* masks(Index run) const {
    return words + count + static_cast<Offset>(run - full) * block;
  }
};
WEFT_HOST_DEVICE constexpr Offset words_of_runs(const Slice& slice, int block) {
  return slice.marks & repeats
             ? 0
             : slice.width + static_cast<Offset>(slice.width - static_cast<Index>(slice.codes)) * block;
}
/// Where it keeps entry (row, column) of the block of slot i in one of its runs: like x, so that nothing need be moved
/// between lanes.
WEFT_HOST_DEVICE constexpr Offset run_value_place(Index slot, Index run, int row, int column, Index slice_rows,
                                                  int block) {
  return ((static_cast<Offset>(run) * block + row) * slice_rows + slot) * block + column;
}

/// Bytes of a slice, its own and in the arrays; `words` are all of its words.
WEFT_HOST_DEVICE constexpr Offset slice_bytes(Index width, Offset words, Index slice_rows, int block,
                                              Offset value_bytes) {
  const Offset bases = static_cast<Offset>(groups_of(width)) * group_columns;
  const Offset entries = static_cast<Offset>(width) * block * block * slice_rows;
  return static_cast<Offset>(sizeof(Slice)) + bases * static_cast<Offset>(sizeof(Index)) +
         words * static_cast<Offset>(sizeof(std::uint32_t)) + entries * value_bytes;
}

/// Where entry e of block k of slot i lies among a slice's values. Single entries lie in groups of columns, those of a
/// block in groups of its entries.
WEFT_HOST_DEVICE constexpr Offset value_place(Index slot, Index k, int e, Index slice_rows, Index width, int block,
                                              int pack) {
  if (block == 1) return place_in_slice(slot, k, slice_rows, width, pack);
  const int entries = block * block;
  return static_cast<Offset>(k) * entries * slice_rows + place_in_slice(slot, e, slice_rows, entries, pack);
}

/// The first block of piece `piece` of a block row of `length` blocks that is cut into `pieces`.
WEFT_HOST_DEVICE constexpr Offset piece_begin(Offset length, int piece, int pieces) { return length * piece / pieces; }

}  // namespace weft::bro_sell
