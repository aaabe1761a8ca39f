#pragma once
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "formats/ehyb/ehyb.hpp"

// A slow decoder for tests of ehyb.
namespace weft::ehyb::test {

/// Entry (row, column) -> value, as the storage holds it. Fails where it holds what it should not.
template <class V>
void decode(const Storage<V>& storage, std::map<std::pair<Index, Index>, V>& entries) {
  const Shape& shape = storage.shape;
  const Caches& caches = storage.caches;
  const int b = shape.block;
  const Index c = shape.slice_rows;
  std::vector<int> seen(static_cast<std::size_t>(storage.extra.pieces), 0);
  std::map<Index, Index> row_of_piece;
  const auto add = [&](Index row, Index column, V value) {
    ASSERT_TRUE(entries.emplace(std::pair(row, column), value).second) << "twice: row " << row << " column " << column;
  };
  for (Index p = 0; p < caches.parts(); ++p) {
    ASSERT_LE(caches.cached_by(p), shape.room);
    ASSERT_LE(caches.cached_by(p), storage.max_cached);
    const Index rows = caches.row_begin[p + 1] - caches.row_begin[p];
    ASSERT_EQ(storage.slice_begin[p + 1] - storage.slice_begin[p], (rows + c - 1) / c);
    for (Index place = 0; place < (storage.slice_begin[p + 1] - storage.slice_begin[p]) * c; ++place) {
      const Slice& slice = storage.slices[storage.slice_begin[p] + place / c];
      const Index i = place % c;
      const Index node = place < rows ? storage.order[caches.row_begin[p] + place] : -1;
      if (node >= 0) {
        ASSERT_EQ(caches.part_of[node], p);
      }
      for (Index k = 0; k < slice.width; ++k) {
        const Index local = storage.columns[slice.entry + place_in_slice(i, k, c, slice.width, shape.pack)];
        ASSERT_LE(local, caches.cached_by(p));
        for (int e = 0; e < b * b; ++e) {
          const V value = storage.values[slice.entry * b * b +
                                         ::weft::bro_sell::value_place(i, k, e, c, slice.width, b, shape.value_pack)];
          if (local == caches.cached_by(p)) {
            ASSERT_EQ(value, V(0));
            continue;
          }
          ASSERT_GE(node, 0);
          ASSERT_NO_FATAL_FAILURE(
              add(node * b + e / b, caches.cached[caches.cache_begin[p] + local] * b + e % b, value));
        }
      }
      for (int r = 0; r < b && slice.extra >= 0; ++r) {
        const Range range = storage.extra.ranges[(Offset(slice.extra) * c + i) * b + r];
        for (Index piece = range.begin; piece < range.end; ++piece) {
          ASSERT_GE(node, 0);
          ++seen[static_cast<std::size_t>(piece)];
          row_of_piece[piece] = node * b + r;
        }
      }
    }
  }
  for (const int times : seen) ASSERT_EQ(times, 1);
  for (Offset slot = 0; slot < static_cast<Offset>(storage.extra.slices.size()) * c; ++slot) {
    const Slice& slice = storage.extra.slices[slot / c];
    const Index piece = storage.extra.places[slot];
    for (Index k = 0; k < slice.width; ++k) {
      const Offset at = slice.entry + place_in_slice(static_cast<Index>(slot % c), k, c, slice.width, shape.pack);
      if (storage.extra.columns[at] < 0) {
        ASSERT_EQ(storage.extra.values[at], V(0));
        continue;
      }
      ASSERT_GE(piece, 0);
      ASSERT_NO_FATAL_FAILURE(add(row_of_piece.at(piece), storage.extra.columns[at], storage.extra.values[at]));
    }
  }
}

}  // namespace weft::ehyb::test
