#pragma once
#include "formats/bro_sell/setup.cuh"
#include "simt/warp.cuh"

// The kernels that cut a part into slices and pack its columns, a warp per slice. For setup.cu only.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

using namespace ::weft::bro_sell;

/// What decides about all slices.
struct Census {
  Index widest = 0;
  Index masked_slices = 0;
  int wide = 0;
  Offset max_words = 0;
};

/// A lane's slot of a slice.
struct Slot {
  Index row = 0;
  Offset begin = 0;  // blocks in the pattern
  Index length = 0;

  __device__ Slot() {}
  /// A whole row.
  __device__ Slot(const PatternView& pattern, Index whole_row) : row(whole_row), begin(pattern.offsets[whole_row]) {
    length = static_cast<Index>(pattern.offsets[row + 1] - begin);
  }
  /// A piece of one.
  __device__ Slot(const PatternView& pattern, const Index* order, Index rows, int threads, Offset slice) {
    const Offset slot = slice * 32 + simt::lane_id();
    const Offset place = slot / threads;
    if (place >= rows) return;
    row = order ? order[place] : static_cast<Index>(place);
    const Offset first = pattern.offsets[row], all = pattern.offsets[row + 1] - first;
    const auto piece = static_cast<int>(slot % threads);
    begin = first + piece_begin(all, piece, threads);
    length = static_cast<Index>(first + piece_begin(all, piece + 1, threads) - begin);
  }

  /// Column k's distance from the one before it.
  __device__ Index delta(const PatternView& pattern, Index k) const {
    return pattern.columns[begin + k] - (k == 0 ? row : pattern.columns[begin + k - 1]);
  }
};

/// Widths and marks.
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_measure(PatternView matrix, PatternView pattern, const Index* order, Index rows, int threads,
                     Index slice_count, Slice* slices, Offset* columns, Census* census) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slot slot(pattern, order, rows, threads, s);
  const Index width = simt::warp_reduce(slot.length, simt::Max{});
  bool gaps = false;
  if (pattern.block > 1 && slot.length > 0) {
    const Offset first = static_cast<Offset>(slot.row) * pattern.block;
    const Offset blocks = pattern.offsets[slot.row + 1] - pattern.offsets[slot.row];
    gaps = matrix.offsets[first + pattern.block] - matrix.offsets[first] != blocks * pattern.block * pattern.block;
  }
  const bool is_ragged = simt::any(simt::full_mask, slot.length != width);
  const bool is_masked = simt::any(simt::full_mask, gaps);
  if (simt::lane_id() != 0) return;
  Slice slice;
  slice.width = width;
  slice.marks = (is_ragged ? ragged : 0) | (is_masked ? masked : 0);
  slices[s] = slice;
  columns[s] = width;
  simt::atomic_max(census->widest, width);
  if (is_masked) simt::atomic_add(census->masked_slices, 1);
}

/// Where values and groups are stored: `columns` are running sums, or all slices are of `width`.
__global__ void bro_sell_place(Index slice_count, Index width, int block, const Offset* columns, Slice* slices,
                               Offset* groups) {
  const Offset s = simt::global_thread_id();
  if (s >= slice_count) return;
  Slice& slice = slices[s];
  const Offset before = width > 0 ? s * width : columns[s];
  if (width > 0 && slice.width != width) {
    slice.width = width;
    slice.marks |= ragged;
  }
  slice.value = before * block * block * 32;
  groups[s] = groups_of(slice.width);
}

/// Measures the groups of a slice of `width` columns, a slot per lane: calls column(k, base) for each column and then
/// group(g, code) for each group. The whole warp must call.
template <class ForColumn, class ForGroup>
__device__ __forceinline__ void measure_groups(const PatternView& pattern, const Slot& slot, Index width,
                                               ForColumn&& column, ForGroup&& group) {
  Index before = slot.row;
  std::uint32_t largest = 0;
  for (Index k = 0; k < groups_of(width) * group_columns; ++k) {
    constexpr Index high_end = 0x7fffffff, low_end = -high_end - 1;
    Index low = high_end, high = low_end;
    if (k < slot.length) {
      const Index here = pattern.columns[slot.begin + k];
      low = high = here - before;
      before = here;
    }
    high = simt::warp_reduce(high, simt::Max{});
    low = -1 - simt::warp_reduce(-1 - low, simt::Max{});
    const bool used = low <= high;
    const std::uint32_t left = used ? static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low) : 0;
    largest = left > largest ? left : largest;
    column(k, used ? low : 0);
    if (k % group_columns != group_columns - 1) continue;
    group(k / group_columns, code_for(largest));
    largest = 0;
  }
}

/// The bases and codes of all groups, and how many words a slice takes.
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_measure_groups(PatternView pattern, const Index* order, Index rows, int threads, Index slice_count,
                            const Offset* groups, Slice* slices, Index* bases, std::uint8_t* codes, Offset* words,
                            Census* census) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slot slot(pattern, order, rows, threads, s);
  Slice slice = slices[s];
  const Offset first_group = groups[s];
  const bool writes = simt::lane_id() == 0;
  Offset count = word_layout(slice.width, slice.marks, 32, pattern.block).groups;
  measure_groups(
      pattern, slot, slice.width,
      [&](Index k, Index base) {
        if (writes) bases[first_group * group_columns + k] = base;
      },
      [&](Index g, std::uint32_t code) {
        if (code == widths - 1) slice.marks |= wide;
        if (g < codes_per_word) slice.codes |= code << (g * code_bits);
        if (writes) codes[first_group + g] = static_cast<std::uint8_t>(code);
        count += group_words(code, 32);
      });
  if (!writes) return;
  slice.group = static_cast<std::uint32_t>(first_group);
  slices[s] = slice;
  words[s] = count;
  simt::atomic_max(census->max_words, count);
  if (slice.marks & wide) simt::atomic_or(census->wide, 1);
}

/// Bytes of a slice whose slots the lanes hold, whatever it is stored as in the end.
__device__ Offset bytes_of(const PatternView& pattern, const Slot& slot, Index width, std::uint32_t marks,
                           Offset value_bytes) {
  Offset words = word_layout(width, marks, 32, pattern.block).groups;
  measure_groups(
      pattern, slot, width, [](Index, Index) {}, [&](Index, std::uint32_t code) { words += group_words(code, 32); });
  return slice_bytes(width, words, 32, pattern.block, value_bytes);
}

/// Which slices with blocks that are not full take fewer bytes as rows of single entries, cut in the order of the rows.
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_compare_bytes(PatternView matrix, PatternView pattern, const Index* order, Index rows, int threads,
                           Index slice_count, const Slice* slices, Offset value_bytes, std::uint8_t* cheaper) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slice slice = slices[s];
  bool is_cheaper = false;
  if (slice.marks & masked) {
    const int b = pattern.block;
    const Offset rows_per_slice = 32 / threads, first = s * rows_per_slice;
    const Offset singles = (rows - first < rows_per_slice ? rows - first : rows_per_slice) * b;
    Offset as_singles = 0;
    for (Offset before = 0; before < singles; before += 32) {
      const Offset i = before + simt::lane_id();
      Slot slot;
      if (i < singles) {
        const Offset place = first + i / b;
        slot = Slot(matrix, (order ? order[place] : static_cast<Index>(place)) * b + static_cast<Index>(i % b));
      }
      const Index width = simt::warp_reduce(slot.length, simt::Max{});
      const bool is_ragged = simt::any(simt::full_mask, slot.length != width);
      as_singles += bytes_of(matrix, slot, width, is_ragged ? ragged : 0, value_bytes);
    }
    const Slot slot(pattern, order, rows, threads, s);
    is_cheaper = as_singles < bytes_of(pattern, slot, slice.width, slice.marks, value_bytes);
  }
  if (simt::lane_id() == 0) cheaper[s] = is_cheaper ? 1 : 0;
}

/// The masks of a lane's slot.
__device__ void write_masks(const PatternView& matrix, const PatternView& pattern, const Slot& slot, Index width,
                            std::uint32_t* masks) {
  const int b = pattern.block, words = mask_words(b);
  const auto at = [&](Index k) { return masks + (static_cast<Offset>(k) * 32 + simt::lane_id()) * words; };
  for (Index k = 0; k < width; ++k)
    for (int w = 0; w < words; ++w) at(k)[w] = 0;
  if (slot.length == 0) return;
  const Offset left = static_cast<Offset>(pattern.columns[slot.begin]) * b;
  for (int r = 0; r < b; ++r) {
    const Offset row = static_cast<Offset>(slot.row) * b + r;
    const Offset end = matrix.offsets[row + 1];
    Offset entry = matrix.offsets[row];
    while (entry < end && matrix.columns[entry] < left) ++entry;
    for (Index k = 0; k < slot.length; ++k) {
      const Offset first = static_cast<Offset>(pattern.columns[slot.begin + k]) * b;
      for (; entry < end && matrix.columns[entry] < first + b; ++entry) {
        const auto bit = static_cast<int>(r * b + (matrix.columns[entry] - first));
        at(k)[bit / 32] |= 1u << (bit % 32);
      }
    }
  }
}

/// The words of all slices: `words` are the running sums of what they take.
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_pack(PatternView matrix, PatternView pattern, const Index* order, Index rows, int threads,
                  Index slice_count, const Offset* word_sums, const std::uint8_t* all_codes, const Index* all_bases,
                  Slice* slices, std::uint32_t* all_words) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slot slot(pattern, order, rows, threads, s);
  const Slice slice = slices[s];
  const int lane = simt::lane_id();
  std::uint32_t* const words = all_words + word_sums[s];
  const std::uint8_t* const codes = all_codes + slice.group;
  const Index* bases = all_bases + static_cast<Offset>(slice.group) * group_columns;
  const WordLayout layout = word_layout(slice.width, slice.marks, 32, pattern.block);
  const Index groups = groups_of(slice.width);
  for (Offset w = lane; w < layout.lengths; w += 32) {
    std::uint32_t eight = 0;
    for (int i = 0; i < codes_per_word; ++i) {
      const Offset g = (w + 1) * codes_per_word + i;
      if (g < groups) eight |= static_cast<std::uint32_t>(codes[g]) << (i * code_bits);
    }
    words[w] = eight;
  }
  if (slice.marks & ragged) words[layout.lengths + lane] = static_cast<std::uint32_t>(slot.length);
  if (slice.marks & masked) write_masks(matrix, pattern, slot, slice.width, words + layout.masks);
  std::uint32_t* to = words + layout.groups;
  for (Index g = 0; g < groups; ++g, bases += group_columns) {
    const std::uint32_t code = codes[g];
    std::uint32_t left[group_columns];
    WEFT_UNROLL
    for (int i = 0; i < group_columns; ++i) {
      const Index k = g * group_columns + i;
      left[i] = k < slot.length
                    ? static_cast<std::uint32_t>(slot.delta(pattern, k)) - static_cast<std::uint32_t>(bases[i])
                    : 0;
    }
    if (code == 1) {
      reinterpret_cast<std::uint16_t*>(to)[lane] =
          static_cast<std::uint16_t>(left[0] | left[1] << 4 | left[2] << 8 | left[3] << 12);
    } else if (code == 2) {
      to[lane] = left[0] | left[1] << 8 | left[2] << 16 | left[3] << 24;
    } else if (code == 3) {
      to[2 * lane] = left[0] | left[1] << 16;
      to[2 * lane + 1] = left[2] | left[3] << 16;
    } else if (code == 4) {
      WEFT_UNROLL
      for (int i = 0; i < group_columns; ++i) to[4 * lane + i] = left[i];
    }
    to += group_words(code, 32);
  }
  if (lane == 0) slices[s].word = word_sums[s];
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
