// Slices: where the entries of a matrix whose parts are known are stored.
#include <algorithm>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "formats/padding_limit.hpp"

namespace weft::ehyb {
namespace {

/// Node rows by the number of their cached blocks, the most first, equals as they stood.
void sort_rows(const Array<Index>& lengths, const Index* rows, Index count, Index* order) {
  std::copy(rows, rows + count, order);
  std::sort(order, order + count,
            [&](Index a, Index b) { return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b; });
}

}  // namespace

template <Value V>
Storage<V> lay_out(const Csr<V>& matrix, const Blocks& blocks, Caches caches, const Shape& shape,
                   const BuildOptions& options) {
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.cols = matrix.cols;
  const Pattern& pattern = blocks.pattern;
  const Index c = shape.slice_rows, parts = caches.parts();

  Array<Index> lengths(static_cast<std::size_t>(pattern.rows));
  storage.order = Array<Index>(caches.rows.size());
  storage.slice_begin = Array<Index>(static_cast<std::size_t>(parts) + 1);
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    const Index first = caches.row_begin[p], count = caches.row_begin[p + 1] - first;
    for (Index i = first; i < first + count; ++i) {
      const Index node = caches.rows[i];
      lengths[node] = static_cast<Index>(pattern.offsets[node + 1] - pattern.offsets[node]);
      if (caches.whole[p]) continue;
      Index inside = 0;
      for_each_block(blocks, caches, static_cast<Index>(p), node, [&](Offset, Index place) { inside += place >= 0; });
      lengths[node] = inside;
    }
    sort_rows(lengths, caches.rows.data() + first, count, storage.order.data() + first);
    storage.slice_begin[p] = (count + c - 1) / c;
  });
  prefix_sum(storage.slice_begin.data(), parts);

  storage.slices = Array<Slice>(static_cast<std::size_t>(storage.slice_begin[parts]), Slice{});
  Offset entry = 0, kept = 0;
  for (Index p = 0; p < parts; ++p) {
    storage.max_cached = std::max(storage.max_cached, caches.cached_by(p));
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      Slice& slice = storage.slices[s];
      slice.entry = entry;
      const Index place = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      slice.width = lengths[storage.order[place]];
      entry += Offset(slice.width) * c;
    }
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1]; ++i) kept += lengths[storage.order[i]];
  }
  require_sensible(entry, kept, shape.block, sizeof(V), options);
  storage.entries = entry;
  storage.caches = std::move(caches);
  return storage;
}

void require_sensible(Offset entries, Offset kept, int block, std::size_t value_bytes, const BuildOptions& options) {
  const std::size_t entry_bytes = value_bytes * static_cast<std::size_t>(block * block) + sizeof(std::uint16_t);
  require_little_padding("ehyb", entries, kept, entry_bytes, options, "csr");
}

namespace {

/// Calls body(part, slice, slot, node) for all slots that have a node row, slices of a part on one thread; before the
/// slots of a slice, begin(part, slice).
template <Value V, class Begin, class F>
void for_each_slot(const Storage<V>& storage, Begin&& begin, F&& body) {
  const Caches& caches = storage.caches;
  const Index c = storage.shape.slice_rows;
  parallel_for(caches.parts(), caches.parts_at_once(), [&](Offset p) {
    const auto part = static_cast<Index>(p);
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      begin(part, storage.slices[s]);
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      for (Index i = 0; i < std::min(c, caches.row_begin[p + 1] - first); ++i)
        body(part, storage.slices[s], i, storage.order[first + i]);
    }
  });
}

}  // namespace

template <Value V>
void fill_columns(const Blocks& blocks, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Shape& shape = storage.shape;
  const int entries = shape.block * shape.block;
  const Index c = shape.slice_rows;
  storage.columns = Array<std::uint16_t>(static_cast<std::size_t>(storage.entries));
  storage.values = Array<V>(static_cast<std::size_t>(storage.entries * entries));
  const auto clear = [&](Index part, const Slice& slice) {
    std::fill_n(storage.columns.data() + slice.entry, Offset(slice.width) * c,
                static_cast<std::uint16_t>(caches.cached_by(part)));
    std::fill_n(storage.values.data() + slice.entry * entries, Offset(slice.width) * c * entries, V(0));
  };
  for_each_slot(storage, clear, [&](Index part, const Slice& slice, Index i, Index node) {
    Index k = 0;
    for_each_block(blocks, caches, part, node, [&](Offset, Index place) {
      if (place < 0) return;
      storage.columns[slice.entry + place_in_slice(i, k, c, slice.width, shape.pack)] =
          static_cast<std::uint16_t>(place);
      ++k;
    });
  });
}

template <Value V>
void place_values(const Array<Offset>& offsets, const Array<Index>& columns, std::span<const V> csr_values,
                  Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Shape& shape = storage.shape;
  const int b = shape.block;
  const Index c = shape.slice_rows;
  for_each_slot(
      storage, [](Index, const Slice&) {},
      [&](Index part, const Slice& slice, Index i, Index node) {
        const Index* const cached = caches.cached.data() + caches.cache_begin[part];
        const Index padding = caches.cached_by(part);
        V* const values = storage.values.data() + slice.entry * b * b;
        Offset next[max_block];
        for (int r = 0; r < b; ++r) next[r] = offsets[Offset(node) * b + r];
        for (Index k = 0; k < slice.width; ++k) {
          const Index place = storage.columns[slice.entry + place_in_slice(i, k, c, slice.width, shape.pack)];
          if (place == padding) break;
          const Offset left = Offset(cached[place]) * b;
          for (int r = 0; r < b; ++r) {
            if (!caches.whole[part])
              while (columns[next[r]] < left) ++next[r];  // an entry of the extra part
            for (int e = r * b; e < (r + 1) * b; ++e)
              values[::weft::bro_sell::value_place(i, k, e, c, slice.width, b, shape.value_pack)] =
                  csr_values[static_cast<std::size_t>(next[r]++)];
          }
        }
      });
  Extra<V>& extra = storage.extra;
  parallel_for(static_cast<Offset>(extra.values.size()), 1 << 14,
               [&](Offset i) { extra.values[i] = extra.positions[i] < 0 ? V(0) : csr_values[extra.positions[i]]; });
}

#define WEFT_INSTANTIATE(V)                                                                                \
  template Storage<V> lay_out<V>(const Csr<V>&, const Blocks&, Caches, const Shape&, const BuildOptions&); \
  template void fill_columns<V>(const Blocks&, Storage<V>&);                                               \
  template void place_values<V>(const Array<Offset>&, const Array<Index>&, std::span<const V>, Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
