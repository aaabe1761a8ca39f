#pragma once
#include "formats/bro_sell/blocks.cuh"
#include "formats/bro_sell/values.cuh"
#include "formats/sort_windows.cuh"

// The set-up of a part on a GPU, a warp a slice. It delivers the same arrays as build_part on the CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

using ::weft::bro_sell::group_columns;

/// What decides about all slices.
struct Census {
  Index widest = 0;
  Index masked_slices = 0;
  int wide = 0;
  Offset most_words = 0;
};

/// A lane's slot of a slice.
struct Slot {
  Index row = 0;
  Offset begin = 0;  // blocks in the pattern
  Index length = 0;

  __device__ Slot(const PatternView& pattern, const Index* order, Index rows, int threads, Offset slice) {
    const Offset slot = slice * 32 + simt::lane_id();
    const Offset place = slot / threads;
    if (place >= rows) return;
    row = order ? order[place] : static_cast<Index>(place);
    const Offset first = pattern.offsets[row], all = pattern.offsets[row + 1] - first;
    const auto piece = static_cast<int>(slot % threads);
    begin = first + ::weft::bro_sell::piece_begin(all, piece, threads);
    length = static_cast<Index>(first + ::weft::bro_sell::piece_begin(all, piece + 1, threads) - begin);
  }

  /// Column k's distance from the one before it.
  __device__ Index delta(const PatternView& pattern, Index k) const {
    return pattern.columns[begin + k] - (k == 0 ? row : pattern.columns[begin + k - 1]);
  }
};

/// Widths and marks.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    bro_sell_measure(Source<V> source, PatternView pattern, const Index* order, Index rows, int threads,
                     Index slice_count, Slice* slices, Offset* columns, Census* census) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slot slot(pattern, order, rows, threads, s);
  const Index width = simt::warp_reduce(slot.length, simt::Max{});
  bool gaps = false;
  if (pattern.block > 1 && slot.length > 0) {
    const Offset first = static_cast<Offset>(slot.row) * pattern.block;
    const Offset blocks = pattern.offsets[slot.row + 1] - pattern.offsets[slot.row];
    gaps = source.offsets[first + pattern.block] - source.offsets[first] != blocks * pattern.block * pattern.block;
  }
  const bool is_ragged = simt::any(simt::full_mask, slot.length != width);
  const bool is_masked = simt::any(simt::full_mask, gaps);
  if (simt::lane_id() != 0) return;
  Slice slice;
  slice.width = width;
  slice.marks = (is_ragged ? ::weft::bro_sell::ragged : 0) | (is_masked ? ::weft::bro_sell::masked : 0);
  slices[s] = slice;
  columns[s] = width;
  simt::atomic_max(census->widest, width);
  if (is_masked) simt::atomic_add(census->masked_slices, 1);
}

/// Where values and groups lie: `columns` are running sums, or all slices are of `width`.
template <class V>
__global__ void bro_sell_place(Index slice_count, Index width, int block, const Offset* columns, Slice* slices,
                               Offset* groups) {
  const Offset s = simt::global_thread_id();
  if (s >= slice_count) return;
  Slice& slice = slices[s];
  const Offset before = width > 0 ? s * width : columns[s];
  if (width > 0 && slice.width != width) {
    slice.width = width;
    slice.marks |= ::weft::bro_sell::ragged;
  }
  slice.value = before * block * block * 32;
  groups[s] = ::weft::bro_sell::groups_of(slice.width);
}

/// The bases and codes of all groups, and how many words a slice takes.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    bro_sell_measure_groups(PatternView pattern, const Index* order, Index rows, int threads, Index slice_count,
                            const Offset* groups, Slice* slices, Index* bases, std::uint8_t* codes, Offset* words,
                            Census* census) {
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slot slot(pattern, order, rows, threads, s);
  Slice slice = slices[s];
  const Offset first_group = groups[s];
  Offset count = ::weft::bro_sell::word_layout(slice.width, slice.marks, 32, pattern.block).groups;
  Index before = slot.row;
  std::uint32_t largest = 0;
  for (Index k = 0; k < ::weft::bro_sell::groups_of(slice.width) * group_columns; ++k) {
    constexpr Index high_end = 0x7fffffff, low_end = -high_end - 1;
    Index low = high_end, high = low_end;
    if (k < slot.length) {
      const Index column = pattern.columns[slot.begin + k];
      low = high = column - before;
      before = column;
    }
    high = simt::warp_reduce(high, simt::Max{});
    low = -1 - simt::warp_reduce(-1 - low, simt::Max{});
    const bool used = low <= high;
    const std::uint32_t left = used ? static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low) : 0;
    largest = left > largest ? left : largest;
    const Index g = k / group_columns;
    if (simt::lane_id() == 0) bases[first_group * group_columns + k] = used ? low : 0;
    if (k % group_columns != group_columns - 1) continue;
    const std::uint32_t code = ::weft::bro_sell::code_for(largest);
    largest = 0;
    if (code == ::weft::bro_sell::widths - 1) slice.marks |= ::weft::bro_sell::wide;
    if (g < ::weft::bro_sell::codes_a_word) slice.codes |= code << (g * ::weft::bro_sell::code_bits);
    if (simt::lane_id() == 0) codes[first_group + g] = static_cast<std::uint8_t>(code);
    count += ::weft::bro_sell::group_words(code, 32);
  }
  if (simt::lane_id() != 0) return;
  slice.group = static_cast<std::uint32_t>(first_group);
  slices[s] = slice;
  words[s] = count;
  simt::atomic_max(census->most_words, count);
  if (slice.marks & ::weft::bro_sell::wide) simt::atomic_or(census->wide, 1);
}

/// The masks of a lane's slot.
template <class V>
__device__ void write_masks(const Source<V>& source, const PatternView& pattern, const Slot& slot, Index width,
                            std::uint32_t* masks) {
  const int b = pattern.block, words = ::weft::bro_sell::mask_words(b);
  const auto at = [&](Index k) { return masks + (static_cast<Offset>(k) * 32 + simt::lane_id()) * words; };
  for (Index k = 0; k < width; ++k)
    for (int w = 0; w < words; ++w) at(k)[w] = 0;
  if (slot.length == 0) return;
  const Offset left = static_cast<Offset>(pattern.columns[slot.begin]) * b;
  for (int r = 0; r < b; ++r) {
    const Offset row = static_cast<Offset>(slot.row) * b + r;
    const Offset end = source.offsets[row + 1];
    Offset entry = source.offsets[row];
    while (entry < end && source.columns[entry] < left) ++entry;
    for (Index k = 0; k < slot.length; ++k) {
      const Offset first = static_cast<Offset>(pattern.columns[slot.begin + k]) * b;
      for (; entry < end && source.columns[entry] < first + b; ++entry) {
        const auto bit = static_cast<int>(r * b + (source.columns[entry] - first));
        at(k)[bit / 32] |= 1u << (bit % 32);
      }
    }
  }
}

/// The words of all slices: `words` are the running sums of what they take.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    bro_sell_pack(Source<V> source, PatternView pattern, const Index* order, Index rows, int threads, Index slice_count,
                  const Offset* word_sums, const std::uint8_t* all_codes, const Index* all_bases, Slice* slices,
                  std::uint32_t* all_words) {
  using namespace ::weft::bro_sell;
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
    for (int i = 0; i < codes_a_word; ++i) {
      const Offset g = (w + 1) * codes_a_word + i;
      if (g < groups) eight |= static_cast<std::uint32_t>(codes[g]) << (i * code_bits);
    }
    words[w] = eight;
  }
  if (slice.marks & ragged) words[layout.lengths + lane] = static_cast<std::uint32_t>(slot.length);
  if (slice.marks & masked) write_masks(source, pattern, slot, slice.width, words + layout.masks);
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

/// The slices' widths and marks: enough to see which blocks are not full.
template <class V>
struct Measured {
  DevicePart<V> part;
  DeviceBuffer<Offset> columns;  // a slice's width
};

template <class V>
Measured<V> measure(Device device, const Source<V>& source, const PatternView& pattern, const Shape& shape,
                    DeviceBuffer<Index> order, Index rows) {
  constexpr int threads = ::weft::simt::block_threads;
  Measured<V> measured;
  DevicePart<V>& part = measured.part;
  part.shape = shape;
  part.rows = rows;
  part.order = std::move(order);
  part.slice_count = static_cast<Index>((static_cast<Offset>(rows) * shape.threads + 31) / 32);
  part.slices = DeviceBuffer<Slice>(device, static_cast<std::size_t>(part.slice_count));
  measured.columns = DeviceBuffer<Offset>(device, static_cast<std::size_t>(part.slice_count) + 1);
  const Census zero;
  DeviceBuffer<Census> census(device, std::span<const Census>(&zero, 1));
  simt::launch(WEFT_KERNEL(bro_sell_measure<V>), simt::blocks_for(static_cast<Offset>(part.slice_count) * 32, threads),
               threads, 0, {}, source, pattern, part.order_data(), rows, shape.threads, part.slice_count,
               part.slices.data(), measured.columns.data(), census.data());
  const Census found = census.download()[0];
  part.masked_slices = found.masked_slices;
  part.width = found.widest;
  return measured;
}

/// Where everything lies, the packed columns and the values.
template <class V>
DevicePart<V> finish(Device device, const Source<V>& source, const PatternView& pattern, Measured<V> measured,
                     Offset nonzeros, const BuildOptions& options) {
  constexpr int threads = ::weft::simt::block_threads;
  DevicePart<V> part = std::move(measured.part);
  const Index slices = part.slice_count;
  const auto count = static_cast<std::size_t>(slices);
  const auto total = [&](const DeviceBuffer<Offset>& sums) {
    Offset last = 0;
    ::weft::detail::copy_to_host(device, &last, sums.data() + slices, sizeof last, {});
    return last;
  };
  const unsigned a_thread_each = simt::blocks_for(slices, threads);
  const unsigned a_warp_each = simt::blocks_for(static_cast<Offset>(slices) * 32, threads);
  const Index* const order = part.order_data();

  simt::exclusive_scan(device, measured.columns.data(), slices);
  Offset columns = total(measured.columns);
  part.width = part.shape.may_widen ? ::weft::bro_sell::equal_width(part.width, columns, slices) : 0;
  if (part.width > 0) columns = static_cast<Offset>(slices) * part.width;
  const Offset entries = columns * part.shape.block * part.shape.block * 32;
  ::weft::bro_sell::require_sensible(entries, 0, nonzeros, sizeof(V), options);
  DeviceBuffer<Offset> groups(device, count + 1);
  simt::launch(WEFT_KERNEL(bro_sell_place<V>), a_thread_each, threads, 0, {}, slices, part.width, part.shape.block,
               std::as_const(measured.columns).data(), part.slices.data(), groups.data());
  simt::exclusive_scan(device, groups.data(), slices);

  const auto all_groups = static_cast<std::size_t>(total(groups));
  part.bases = DeviceBuffer<Index>(device, all_groups * group_columns);
  DeviceBuffer<std::uint8_t> codes(device, all_groups);
  DeviceBuffer<Offset> words(device, count + 1);
  const Census zero;
  DeviceBuffer<Census> census(device, std::span<const Census>(&zero, 1));
  simt::launch(WEFT_KERNEL(bro_sell_measure_groups<V>), a_warp_each, threads, 0, {}, pattern, order, part.rows,
               part.shape.threads, slices, std::as_const(groups).data(), part.slices.data(), part.bases.data(),
               codes.data(), words.data(), census.data());
  const Census found = census.download()[0];
  part.wide = found.wide != 0;
  ::weft::bro_sell::require_sensible(entries, found.most_words, nonzeros, sizeof(V), options);
  simt::exclusive_scan(device, words.data(), slices);

  part.words = DeviceBuffer<std::uint32_t>(device, static_cast<std::size_t>(total(words)));
  simt::launch(WEFT_KERNEL(bro_sell_pack<V>), a_warp_each, threads, 0, {}, source, pattern, order, part.rows,
               part.shape.threads, slices, std::as_const(words).data(), std::as_const(codes).data(),
               std::as_const(part.bases).data(), part.slices.data(), part.words.data());
  part.values = DeviceBuffer<V>(device, static_cast<std::size_t>(entries));
  fill(device, source.offsets, source.values, part);
  return part;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
