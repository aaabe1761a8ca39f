// Slices: where the entries of a matrix whose parts are known lie.
#include <algorithm>

#include "core/parallel.hpp"
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
    storage.most_cached = std::max(storage.most_cached, caches.cached_by(p));
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      Slice& slice = storage.slices[s];
      slice.entry = entry;
      const Index place = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      slice.width = lengths[storage.order[place]];
      entry += Offset(slice.width) * c;
    }
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1]; ++i) kept += lengths[storage.order[i]];
  }
  require_sensible<V>(entry, kept, shape.block, options);
  storage.entries = entry;
  storage.caches = std::move(caches);
  return storage;
}

template <class V>
void require_sensible(Offset entries, Offset kept, int block, const BuildOptions& options) {
  const std::size_t entry_bytes = sizeof(V) * static_cast<std::size_t>(block * block) + sizeof(std::uint16_t);
  require_little_padding("ehyb", entries, kept, entry_bytes, options, "csr");
}

template <Value V>
void fill(const Csr<V>& matrix, const Blocks& blocks, std::span<const V> csr_values, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Shape& shape = storage.shape;
  const int b = shape.block, entries = b * b;
  const Index c = shape.slice_rows;
  storage.columns = Array<std::uint16_t>(static_cast<std::size_t>(storage.entries));
  storage.values = Array<V>(static_cast<std::size_t>(storage.entries * entries));
  parallel_for(caches.parts(), caches.parts_at_once(), [&](Offset p) {
    const auto part = static_cast<Index>(p);
    const auto zero = static_cast<std::uint16_t>(caches.cached_by(part));
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      const Slice& slice = storage.slices[s];
      std::uint16_t* const columns = storage.columns.data() + slice.entry;
      V* const values = storage.values.data() + slice.entry * entries;
      std::fill_n(columns, Offset(slice.width) * c, zero);
      std::fill_n(values, Offset(slice.width) * c * entries, V(0));
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      for (Index i = 0; i < std::min(c, caches.row_begin[p + 1] - first); ++i) {
        const Index node = storage.order[first + i];
        Offset next[6];
        for (int r = 0; r < b; ++r) next[r] = matrix.offsets[Offset(node) * b + r];
        Index k = 0;
        for_each_block(blocks, caches, part, node, [&](Offset block, Index place) {
          const Offset left = Offset(blocks.pattern.columns[block]) * b;
          for (int r = 0; r < b; ++r) {
            const Offset end = matrix.offsets[Offset(node) * b + r + 1];
            for (; next[r] < end && matrix.columns[next[r]] < left + b; ++next[r]) {
              if (place < 0) continue;
              const auto e = static_cast<int>(r * b + (matrix.columns[next[r]] - left));
              values[::weft::bro_sell::value_place(i, k, e, c, slice.width, b, shape.value_pack)] = csr_values[next[r]];
            }
          }
          if (place < 0) return;
          columns[place_in_slice(i, k, c, slice.width, shape.pack)] = static_cast<std::uint16_t>(place);
          ++k;
        });
      }
    }
  });
}

#define WEFT_INSTANTIATE(V)                                                                                \
  template Storage<V> lay_out<V>(const Csr<V>&, const Blocks&, Caches, const Shape&, const BuildOptions&); \
  template void require_sensible<V>(Offset, Offset, int, const BuildOptions&);                             \
  template void fill<V>(const Csr<V>&, const Blocks&, std::span<const V>, Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
