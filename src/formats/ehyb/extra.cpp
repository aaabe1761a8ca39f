// The extra part: entries that are not cached.
#include <algorithm>
#include <cmath>
#include <numeric>
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
      const Offset right = (Offset(blocks.pattern.columns[block]) + 1) * b;
      for (; next < end && matrix.columns[next] < right; ++next)
        if (place < 0) body(r, next);
    });
  }
}

/// The entries that each row has left; rows stand as their nodes do in `order`.
template <Value V>
Array<Offset> count_left(const Csr<V>& matrix, const Blocks& blocks, const Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const int b = storage.shape.block;
  Array<Offset> left(static_cast<std::size_t>(matrix.rows), 0);
  parallel_for(caches.parts(), caches.parts_at_once(), [&](Offset p) {
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1] && !caches.whole[p]; ++i)
      for_each_left(matrix, blocks, caches, static_cast<Index>(p), storage.order[i],
                    [&](int r, Offset) { ++left[Offset(i) * b + r]; });
  });
  return left;
}

/// Cuts what is left of rows into pieces and returns their lengths. Slices that have some get ranges.
template <Value V>
std::vector<Index> cut_pieces(const Array<Offset>& left, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const int b = storage.shape.block;
  const Index c = storage.shape.slice_rows;
  std::vector<Range> ranges;
  std::vector<Index> lengths;
  for (Index p = 0; p < caches.parts(); ++p) {
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1] && !caches.whole[p]; ++s) {
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      const Index last = std::min(first + c, caches.row_begin[p + 1]);
      if (std::all_of(left.data() + Offset(first) * b, left.data() + Offset(last) * b, [](Offset n) { return n == 0; }))
        continue;
      storage.slices[s].extra = static_cast<Index>(ranges.size() / static_cast<std::size_t>(c * b));
      ranges.resize(ranges.size() + static_cast<std::size_t>(c * b));
      Range* const range = ranges.data() + ranges.size() - c * b;
      for (Offset row = Offset(first) * b; row < Offset(last) * b; ++row) {
        const auto begin = static_cast<Index>(lengths.size());
        const Offset longest = piece_length(left[row]);
        for (Index q = 0; q < pieces_of(left[row]); ++q)
          lengths.push_back(static_cast<Index>(std::min(longest, left[row] - q * longest)));
        range[row - Offset(first) * b] = {begin, static_cast<Index>(lengths.size())};
      }
    }
  }
  storage.extra.pieces = static_cast<Index>(lengths.size());
  storage.extra.ranges = Array<Range>(std::move(ranges));
  return lengths;
}

/// Gives pieces their slots, the longest first, and slots their slices. Returns the slot of each piece.
template <Value V>
std::vector<Index> lay_out_slots(const std::vector<Index>& lengths, Index c, Extra<V>& extra) {
  std::vector<Index> by_length(lengths.size()), slot_of(lengths.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::ranges::sort(by_length,
                    [&](Index m, Index n) { return lengths[m] != lengths[n] ? lengths[m] > lengths[n] : m < n; });
  const Index slices = (extra.pieces + c - 1) / c;
  extra.places = Array<Index>(static_cast<std::size_t>(slices) * static_cast<std::size_t>(c), -1);
  for (Index slot = 0; slot < extra.pieces; ++slot) {
    extra.places[slot] = by_length[slot];
    slot_of[by_length[slot]] = slot;
  }
  extra.slices = Array<Slice>(static_cast<std::size_t>(slices), Slice{});
  Offset entry = 0;
  for (Index s = 0; s < slices; ++s) {
    extra.slices[s].entry = entry;
    extra.slices[s].width = lengths[by_length[s * c]];
    entry += Offset(extra.slices[s].width) * c;
  }
  extra.columns = Array<Index>(static_cast<std::size_t>(entry), padding_column<Index>);
  extra.positions = Array<Offset>(static_cast<std::size_t>(entry), -1);
  extra.values = Array<V>(static_cast<std::size_t>(entry), V(0));
  return slot_of;
}

/// Columns and positions of the entries.
template <Value V>
void place_entries(const Csr<V>& matrix, const Blocks& blocks, const Array<Offset>& left,
                   const std::vector<Index>& slot_of, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const int b = storage.shape.block, pack = storage.shape.pack;
  const Index c = storage.shape.slice_rows;
  Extra<V>& extra = storage.extra;
  parallel_for(caches.parts(), caches.parts_at_once(), [&](Offset p) {
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

}  // namespace

template <Value V>
void lay_out_extra(const Csr<V>& matrix, const Blocks& blocks, Storage<V>& storage) {
  storage.extra = {};
  if (std::ranges::all_of(storage.caches.whole, [](std::uint8_t whole) { return whole != 0; })) return;
  const Array<Offset> left = count_left(matrix, blocks, storage);
  const std::vector<Index> lengths = cut_pieces(left, storage);
  if (lengths.empty()) return;
  const std::vector<Index> slot_of = lay_out_slots(lengths, storage.shape.slice_rows, storage.extra);
  place_entries(matrix, blocks, left, slot_of, storage);
}

#define WEFT_INSTANTIATE(V) template void lay_out_extra<V>(const Csr<V>&, const Blocks&, Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
