// The extra part: entries that are not cached.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "formats/column_groups.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {
namespace {

/// Pieces are short, but a row has not more of them than one has entries.
Offset piece_length(Offset entries) {
  constexpr Offset shortest = 64;
  return std::max(shortest, static_cast<Offset>(std::ceil(std::sqrt(static_cast<double>(entries)))));
}
Index pieces_of(Offset entries) {
  const Offset length = piece_length(entries);
  return static_cast<Index>((entries + length - 1) / length);
}

/// Calls body(r, entry of csr) for the entries of a node row that are not cached, row after row.
template <Value V, class F>
void for_each_left(const Csr<V>& matrix, const Blocks& blocks, const Caches& caches, Index part, Index node, F&& body) {
  const int b = blocks.pattern.block;
  for (int r = 0; r < b; ++r) {
    Offset next = matrix.offsets[Offset(node) * b + r];
    const Offset end = matrix.offsets[Offset(node) * b + r + 1];
    for_each_block(blocks, caches, part, node, [&](Offset block, Index place) {
      const Offset behind = (Offset(blocks.pattern.columns[block]) + 1) * b;
      for (; next < end && matrix.columns[next] < behind; ++next)
        if (place < 0) body(r, next);
    });
  }
}

}  // namespace

template <Value V>
void lay_out_extra(const Csr<V>& matrix, const Blocks& blocks, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const int b = storage.shape.block, pack = storage.shape.pack;
  const Index c = storage.shape.slice_rows, parts = caches.parts();
  Extra<V>& extra = storage.extra;
  extra = {};
  if (std::ranges::all_of(caches.whole, [](std::uint8_t whole) { return whole != 0; })) return;

  // 1. What each row has left; rows stand as their nodes do in `order`.
  Array<Offset> left(static_cast<std::size_t>(matrix.rows), 0);
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1] && !caches.whole[p]; ++i)
      for_each_left(matrix, blocks, caches, static_cast<Index>(p), storage.order[i],
                    [&](int r, Offset) { ++left[Offset(i) * b + r]; });
  });

  // 2. Its pieces. Slices that have some get ranges.
  std::vector<Range> ranges;
  std::vector<Index> lengths;  // of pieces
  for (Index p = 0; p < parts; ++p) {
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1] && !caches.whole[p]; ++s) {
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      const Index last = std::min(first + c, caches.row_begin[p + 1]);
      if (std::all_of(left.data() + Offset(first) * b, left.data() + Offset(last) * b, [](Offset n) { return n == 0; }))
        continue;
      storage.slices[s].extra = static_cast<Index>(ranges.size() / static_cast<std::size_t>(c * b));
      ranges.resize(ranges.size() + static_cast<std::size_t>(c * b));
      Range* const range = ranges.data() + ranges.size() - c * b;
      for (Offset row = Offset(first) * b; row < Offset(last) * b; ++row) {
        const Index pieces = pieces_of(left[row]);
        const auto begin = static_cast<Index>(lengths.size());
        for (Index q = 0; q < pieces; ++q)
          lengths.push_back(
              static_cast<Index>(std::min(piece_length(left[row]), left[row] - q * piece_length(left[row]))));
        range[row - Offset(first) * b] = {begin, static_cast<Index>(lengths.size())};
      }
    }
  }
  if (lengths.empty()) return;
  extra.pieces = static_cast<Index>(lengths.size());
  extra.ranges = Array<Range>(std::move(ranges));

  // 3. Slots, the longest pieces first, and slices.
  const Index slices = (extra.pieces + c - 1) / c;
  std::vector<Index> by_length(lengths.size());
  for (Index piece = 0; piece < extra.pieces; ++piece) by_length[piece] = piece;
  std::ranges::sort(by_length,
                    [&](Index m, Index n) { return lengths[m] != lengths[n] ? lengths[m] > lengths[n] : m < n; });
  std::vector<Index> slot_of(lengths.size());
  extra.places = Array<Index>(static_cast<std::size_t>(slices) * static_cast<std::size_t>(c), -1);
  extra.slices = Array<Slice>(static_cast<std::size_t>(slices), Slice{});
  for (Index slot = 0; slot < extra.pieces; ++slot) {
    extra.places[slot] = by_length[slot];
    slot_of[by_length[slot]] = slot;
  }
  Offset entry = 0;
  for (Index s = 0; s < slices; ++s) {
    extra.slices[s].entry = entry;
    extra.slices[s].width = lengths[by_length[s * c]];
    entry += Offset(extra.slices[s].width) * c;
  }

  // 4. Entries.
  extra.columns = Array<Index>(static_cast<std::size_t>(entry), padding_column<Index>);
  extra.positions = Array<Offset>(static_cast<std::size_t>(entry), -1);
  extra.values = Array<V>(static_cast<std::size_t>(entry));
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      if (storage.slices[s].extra < 0) continue;
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      for (Index i = 0; i < std::min(c, caches.row_begin[p + 1] - first); ++i) {
        int row = -1;
        Offset number = 0;  // of the entry in its row
        for_each_left(matrix, blocks, caches, static_cast<Index>(p), storage.order[first + i], [&](int r, Offset at) {
          if (r != row) number = 0;
          row = r;
          const Offset length = piece_length(left[Offset(first + i) * b + r]);
          const Range& range = extra.ranges[(Offset(storage.slices[s].extra) * c + i) * b + r];
          const Index slot = slot_of[range.begin + number / length];
          const Slice& slice = extra.slices[slot / c];
          const Offset to =
              slice.entry + place_in_slice(slot % c, static_cast<Index>(number % length), c, slice.width, pack);
          extra.columns[to] = matrix.columns[at];
          extra.positions[to] = at;
          ++number;
        });
      }
    }
  });
}

template <Value V>
void fill_extra(std::span<const V> csr_values, Extra<V>& extra) {
  parallel_for(static_cast<Offset>(extra.values.size()), 1 << 14,
               [&](Offset i) { extra.values[i] = extra.positions[i] < 0 ? V(0) : csr_values[extra.positions[i]]; });
}

#define WEFT_INSTANTIATE(V)                                                  \
  template void lay_out_extra<V>(const Csr<V>&, const Blocks&, Storage<V>&); \
  template void fill_extra<V>(std::span<const V>, Extra<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
