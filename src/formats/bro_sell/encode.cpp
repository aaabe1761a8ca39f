// A part of a matrix into slices, on the CPU.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "formats/bro_sell/runs.hpp"
#include "formats/sell/sell.hpp"

namespace weft::bro_sell {
namespace {

constexpr Index slots_at_once = 1024;  // of a parallel loop
constexpr Index max_slots = 64;

/// The slots of one slice: which block rows, and which of their blocks.
struct Slots {
  Slots(const Shape& shape, const Pattern& pattern, std::span<const Index> order, Index part_rows, Offset slice) {
    count = shape.slice_rows;
    for (Index i = 0; i < count; ++i) {
      const Offset slot = slice * shape.slice_rows + i;
      const Offset place = slot / shape.threads;
      if (place >= part_rows) continue;
      row[i] = order.empty() ? static_cast<Index>(place) : order[place];
      const Offset first = pattern.offsets[row[i]], length = pattern.offsets[row[i] + 1] - first;
      const auto piece = static_cast<int>(slot % shape.threads);
      begin[i] = first + piece_begin(length, piece, shape.threads);
      end[i] = first + piece_begin(length, piece + 1, shape.threads);
      width = std::max(width, static_cast<Index>(end[i] - begin[i]));
    }
    for (Index i = 0; i < count; ++i) is_ragged |= end[i] - begin[i] != width;
  }

  Index length(Index i) const { return static_cast<Index>(end[i] - begin[i]); }
  /// Column k's distance from the one before it.
  Index delta(const Pattern& pattern, Index i, Index k) const {
    return pattern.columns[begin[i] + k] - (k == 0 ? row[i] : pattern.columns[begin[i] + k - 1]);
  }

  Index count = 0;
  Index width = 0;
  bool is_ragged = false;
  Index row[max_slots] = {};
  Offset begin[max_slots] = {}, end[max_slots] = {};
};

/// The bases of group g, and the largest number that is left of a delta.
std::uint32_t measure_group(const Pattern& pattern, const Slots& slots, Index g, Index bases[group_columns]) {
  std::uint32_t largest = 0;
  for (int i = 0; i < group_columns; ++i) {
    const Index k = g * group_columns + i;
    bases[i] = 0;
    Index low = std::numeric_limits<Index>::max(), high = std::numeric_limits<Index>::min();
    for (Index slot = 0; slot < slots.count; ++slot) {
      if (k >= slots.length(slot)) continue;
      const Index delta = slots.delta(pattern, slot, k);
      low = std::min(low, delta);
      high = std::max(high, delta);
    }
    if (low > high) continue;  // no slot is so long: the slice was widened
    bases[i] = low;
    largest = std::max(largest, static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low));
  }
  return largest;
}

/// Adds the bits of group g to zeroed words.
void pack_group(const Pattern& pattern, const Slots& slots, Index g, const Index* bases, std::uint32_t code,
                std::uint32_t* words) {
  const int bits = width_of(code);
  if (bits == 0) return;
  for (Index slot = 0; slot < slots.count; ++slot)
    for (int i = 0; i < group_columns; ++i) {
      const Index k = g * group_columns + i;
      if (k >= slots.length(slot)) break;
      const std::uint32_t left =
          static_cast<std::uint32_t>(slots.delta(pattern, slot, k)) - static_cast<std::uint32_t>(bases[i]);
      const Offset bit = (static_cast<Offset>(slot) * group_columns + i) * bits;
      words[bit / 32] |= left << (bit % 32);
    }
}

/// Whether some block of a block row is not full.
template <Value V>
bool has_gaps(const Csr<V>& matrix, const Pattern& pattern, Index row) {
  const Offset first = Offset(row) * pattern.block;
  const Offset blocks = pattern.offsets[row + 1] - pattern.offsets[row];
  return matrix.offsets[first + pattern.block] - matrix.offsets[first] != blocks * pattern.block * pattern.block;
}

template <Value V>
void write_masks(const Csr<V>& matrix, const Pattern& pattern, const Slots& slots, std::uint32_t* masks) {
  const int b = pattern.block, words = mask_words(b);
  for (Index slot = 0; slot < slots.count; ++slot) {
    for (int r = 0; r < b && slots.length(slot) > 0; ++r) {
      const Offset row = Offset(slots.row[slot]) * b + r;
      const Index* const end = matrix.columns.data() + matrix.offsets[row + 1];
      const Index* entry =
          std::lower_bound(matrix.columns.data() + matrix.offsets[row], end, pattern.columns[slots.begin[slot]] * b);
      for (Index k = 0; k < slots.length(slot); ++k) {
        const Offset first = Offset(pattern.columns[slots.begin[slot] + k]) * b;
        for (; entry != end && *entry < first + b; ++entry) {
          const auto bit = static_cast<int>(r * b + (*entry - first));
          masks[(Offset(k) * slots.count + slot) * words + bit / 32] |= 1u << (bit % 32);
        }
      }
    }
  }
}

/// The width to make all slices of, or 0 when that would cost more than 3 % of padding or is not asked for.
template <class V>
Index width_if_equal(const Part<V>& part) {
  if (!part.shape.may_widen) return 0;
  Index widest = 0;
  Offset columns = 0;
  for (const Slice& slice : part.slices) {
    widest = std::max(widest, slice.width);
    columns += slice.width;
  }
  return equal_width(widest, columns, static_cast<Offset>(part.slices.size()));
}

}  // namespace

Index equal_width(Index widest, Offset columns, Offset slices) {
  constexpr Index longest = 16;  // longer rows do not gain by it (bench/NOTES.md)
  if (widest > longest) return 0;
  return static_cast<double>(slices) * widest <= 1.03 * static_cast<double>(columns) ? widest : 0;
}

namespace {

/// Calls body(number, slice, its slots) for all slices, in parallel.
template <Value V, class F>
void for_each_slice(Part<V>& part, const Pattern& pattern, F&& body) {
  const Index c = part.shape.slice_rows;
  parallel_for(static_cast<Offset>(part.slices.size()), std::max(1, slots_at_once / c),
               [&](Offset s) { body(s, part.slices[s], Slots(part.shape, pattern, part.order, part.rows, s)); });
}

}  // namespace

template <Value V>
Part<V> measure_part(const Csr<V>& matrix, const Pattern& pattern, const Shape& shape, Array<Index> order) {
  Part<V> part;
  part.shape = shape;
  part.rows = order.empty() ? pattern.rows : static_cast<Index>(order.size());
  part.order = order.empty() ? sorted_rows(pattern.offsets, pattern.rows, shape.window) : std::move(order);
  const Index c = shape.slice_rows;
  const Offset slots = Offset(part.rows) * shape.threads;
  part.slices = Array<Slice>(static_cast<std::size_t>((slots + c - 1) / c));
  for_each_slice(part, pattern, [&](Offset, Slice& slice, const Slots& in) {
    slice = {};
    slice.width = in.width;
    slice.marks = in.is_ragged ? ragged : 0;
    for (Index i = 0; i < c && shape.block > 1; ++i)
      if (in.end[i] > in.begin[i] && has_gaps(matrix, pattern, in.row[i])) slice.marks |= masked;
  });
  find_runs(pattern, part);
  for (const Slice& slice : part.slices) part.masked_slices += (slice.marks & masked) != 0;
  return part;
}

template <Value V>
void finish_part(const Csr<V>& matrix, const Pattern& pattern, Part<V>& part, const BuildOptions& options) {
  const Shape& shape = part.shape;
  const Index c = shape.slice_rows;
  const auto count = static_cast<Offset>(part.slices.size());

  // 1. Where values and groups lie.
  Offset value = 0;
  std::uint32_t group = 0;
  const Index equal_width = width_if_equal(part);
  part.equally_wide = equal_width > 0;
  for (Slice& slice : part.slices) {
    if (part.equally_wide && slice.width != equal_width) {
      slice.width = equal_width;
      slice.marks |= ragged;
    }
    slice.value = value;
    slice.group = group;
    value += Offset(slice.width) * shape.block * shape.block * c;
    if (!(slice.marks & in_runs)) group += static_cast<std::uint32_t>(groups_of(slice.width));
  }

  require_sensible(value, 0, matrix.nonzeros(), sizeof(V), options);

  // 2. Bases and codes, then where the words lie. Codes are kept aside until there is a place for them.
  part.bases = Array<Index>(static_cast<std::size_t>(group) * group_columns);
  Array<std::uint8_t> codes(group);
  Array<Offset> words(static_cast<std::size_t>(count) + 1);
  for_each_slice(part, pattern, [&](Offset s, Slice& slice, const Slots& in) {
    if (slice.marks & in_runs) {
      words[s] = words_of_runs(slice, shape.block);
      return;
    }
    words[s] = word_layout(slice.width, slice.marks, c, shape.block).groups;
    for (Index g = 0; g < groups_of(slice.width); ++g) {
      const std::size_t number = slice.group + static_cast<std::size_t>(g);
      const std::uint32_t code = code_for(measure_group(pattern, in, g, part.bases.data() + number * group_columns));
      codes[number] = static_cast<std::uint8_t>(code);
      if (code == widths - 1) slice.marks |= wide;
      if (g < codes_per_word) slice.codes |= code << (g * code_bits);
      words[s] += group_words(code, c);
    }
  });
  Offset max_words = 0;
  for (Offset s = 0; s < count; ++s) {
    max_words = std::max(max_words, words[s]);
    part.wide = part.wide || (part.slices[s].marks & wide) != 0;
  }
  require_sensible(value, max_words, matrix.nonzeros(), sizeof(V), options);
  prefix_sum(words.data(), count);

  // 3. The words.
  part.words = Array<std::uint32_t>(static_cast<std::size_t>(words[count]), 0);
  for_each_slice(part, pattern, [&](Offset s, Slice& slice, const Slots& in) {
    slice.word = words[s];
    std::uint32_t* const to = part.words.data() + slice.word;
    if (slice.marks & in_runs) {
      RunCut cut;
      if (slice.marks & repeats) return;
      cut.find(pattern, in.row[0], static_cast<Index>(std::min<Offset>(c, part.rows - s * c)), c);
      write_runs(cut, shape.block, c, to);
      return;
    }
    const WordLayout layout = word_layout(slice.width, slice.marks, c, shape.block);
    if (slice.marks & ragged)
      for (Index i = 0; i < c; ++i) to[layout.lengths + i] = static_cast<std::uint32_t>(in.length(i));
    if (slice.marks & masked) write_masks(matrix, pattern, in, to + layout.masks);
    Offset place = layout.groups;
    for (Index g = 0; g < groups_of(slice.width); ++g) {
      const std::size_t number = slice.group + static_cast<std::size_t>(g);
      if (g >= codes_per_word)
        to[g / codes_per_word - 1] |= static_cast<std::uint32_t>(codes[number]) << (g % codes_per_word * code_bits);
      pack_group(pattern, in, g, part.bases.data() + number * group_columns, codes[number], to + place);
      place += group_words(codes[number], c);
    }
  });

  for (Offset s = 0; s < count; ++s)
    if (part.slices[s].marks & repeats) part.slices[s].word = part.slices[s - 1].word;

  // 4. The values.
  part.values = Array<V>(static_cast<std::size_t>(value));
  place_values<V>(part, matrix.offsets, matrix.values, part.values.data());
}

namespace {

Offset bytes_of(const Pattern& pattern, const Slots& slots, std::uint32_t marks, std::size_t value_bytes) {
  Offset words = word_layout(slots.width, marks, slots.count, pattern.block).groups;
  for (Index g = 0; g < groups_of(slots.width); ++g) {
    Index bases[group_columns];
    words += group_words(code_for(measure_group(pattern, slots, g, bases)), slots.count);
  }
  return slice_bytes(slots.width, words, slots.count, pattern.block, static_cast<Offset>(value_bytes));
}

}  // namespace

template <Value V>
Split split_by_bytes(const Csr<V>& matrix, const Pattern& pattern, const Part<V>& part) {
  const Shape& shape = part.shape;
  const Index c = shape.slice_rows, rows_per_slice = c / shape.threads;
  const Pattern single{1, matrix.rows, matrix.offsets, matrix.columns};
  const Shape single_shape{.block = 1, .slice_rows = c};
  Array<std::uint8_t> cheaper(part.slices.size(), 0);
  parallel_for(static_cast<Offset>(part.slices.size()), std::max(1, slots_at_once / c), [&](Offset s) {
    const Slice& slice = part.slices[s];
    if (!(slice.marks & masked)) return;
    std::vector<Index> rows;
    for (Offset place = s * rows_per_slice; place < std::min<Offset>(part.rows, (s + 1) * rows_per_slice); ++place)
      for (int r = 0; r < shape.block; ++r)
        rows.push_back((part.order.empty() ? static_cast<Index>(place) : part.order[place]) * shape.block + r);
    const Offset as_blocks = bytes_of(pattern, Slots(shape, pattern, part.order, part.rows, s), slice.marks, sizeof(V));
    Offset as_singles = 0;
    for (Offset q = 0; q * c < static_cast<Offset>(rows.size()); ++q) {
      const Slots slots(single_shape, single, rows, static_cast<Index>(rows.size()), q);
      as_singles += bytes_of(single, slots, slots.is_ragged ? ragged : 0, sizeof(V));
    }
    cheaper[s] = as_singles < as_blocks;
  });
  return split_rows(shape, part.rows, part.order, cheaper);
}

Split split_rows(const Shape& shape, Index rows, const Array<Index>& order, const Array<std::uint8_t>& cheaper) {
  const Index rows_per_slice = shape.slice_rows / shape.threads;
  std::vector<Index> blocks, singles;
  for (Index place = 0; place < rows; ++place)
    (cheaper[place / rows_per_slice] ? singles : blocks).push_back(order.empty() ? place : order[place]);
  std::ranges::sort(singles);
  return {Array<Index>(std::move(blocks)), Array<Index>(std::move(singles))};
}

#define WEFT_INSTANTIATE(V)                                                                    \
  template Part<V> measure_part<V>(const Csr<V>&, const Pattern&, const Shape&, Array<Index>); \
  template void finish_part<V>(const Csr<V>&, const Pattern&, Part<V>&, const BuildOptions&);  \
  template Split split_by_bytes<V>(const Csr<V>&, const Pattern&, const Part<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell
