// The matrix that a storage from a file holds, if all of it is right.
#include <algorithm>
#include <string>

#include "core/parallel.hpp"
#include "formats/column_groups.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "sparse/row_parts.hpp"

namespace weft::ehyb {
namespace {

/// Whether slots of the extra part are entries, none in a slot without a piece, and padding behind them.
template <class V>
bool extra_slot_is_good(const Storage<V>& storage, Offset slot) {
  const Extra<V>& extra = storage.extra;
  const Index c = storage.shape.slice_rows;
  const Slice& slice = extra.slices[slot / c];
  Index length = 0;
  for (Index k = 0; k < slice.width; ++k) {
    const Offset at = slice.entry + place_in_slice(static_cast<Index>(slot % c), k, c, slice.width, storage.shape.pack);
    if (extra.columns[at] >= 0) {
      if (extra.columns[at] >= storage.cols || length != k) return false;
      ++length;
    } else if (extra.columns[at] != padding_column<Index> || !(extra.values[at] == V(0))) {
      return false;
    }
  }
  return (length > 0) == (extra.places[slot] >= 0);
}

/// Where slices and pieces hold the entries of rows.
template <class V>
class Decoder {
 public:
  explicit Decoder(const Storage<V>& storage)
      : storage_(storage), slot_of_(static_cast<std::size_t>(storage.extra.pieces)) {
    for (Index slot = 0; slot < storage.extra.pieces; ++slot) slot_of_[storage.extra.places[slot]] = slot;
  }

  /// Calls body(number, column, value) for the entries of row r of slot i of slice s, cached ones and others in turn.
  /// The number of them; -1 unless they are ascending columns of the matrix.
  template <class F>
  Offset for_entries(Index part, Index s, Index i, int r, F&& body) const {
    const Slice& slice = storage_.slices[s];
    const Shape& shape = storage_.shape;
    const Index* const cached = storage_.caches.cached.data() + storage_.caches.cache_begin[part];
    const Index zero = storage_.caches.cached_by(part);
    Offset last = -1, count = 0;
    bool ascending = true;
    const auto take = [&](Offset column, V value) {
      ascending = ascending && column > last && column < storage_.cols;
      last = column;
      if (ascending) body(count, static_cast<Index>(column), value);
      ++count;
    };
    Pieces extra(*this, slice, i, r);
    for (Index k = 0; k < slice.width && ascending; ++k) {
      const Index place = column_at(slice, i, k);
      if (place > zero) return -1;
      if (place == zero) break;
      const Offset first = Offset(cached[place]) * shape.block;
      for (; extra.column() >= 0 && extra.column() < first; extra.next()) take(extra.column(), extra.value());
      for (int e = 0; e < shape.block; ++e) take(first + e, value_at(slice, i, k, r * shape.block + e));
    }
    for (; extra.column() >= 0 && ascending; extra.next()) take(extra.column(), extra.value());
    return ascending ? count : -1;
  }

  /// Whether a slot is blocks of cached columns and then padding: nothing but padding in an empty one.
  bool ends_in_padding(Index part, Index s, Index i, bool empty) const {
    const Slice& slice = storage_.slices[s];
    const int entries = storage_.shape.block * storage_.shape.block;
    const Index zero = storage_.caches.cached_by(part);
    bool padding = empty;
    for (Index k = 0; k < slice.width; ++k) {
      padding = padding || column_at(slice, i, k) == zero;
      if (!padding) continue;
      if (column_at(slice, i, k) != zero) return false;
      for (int e = 0; e < entries; ++e)
        if (!(value_at(slice, i, k, e) == V(0))) return false;
    }
    return true;
  }

 private:
  /// The entries of a row in the extra part, one after the other.
  class Pieces {
   public:
    Pieces(const Decoder& decoder, const Slice& slice, Index i, int r) : decoder_(decoder) {
      const Shape& shape = decoder.storage_.shape;
      if (slice.extra >= 0)
        range_ = decoder.storage_.extra.ranges[(Offset(slice.extra) * shape.slice_rows + i) * shape.block + r];
      find();
    }
    Index column() const { return at_ < 0 ? -1 : decoder_.storage_.extra.columns[at_]; }
    V value() const { return decoder_.storage_.extra.values[at_]; }
    void next() {
      ++k_;
      find();
    }

   private:
    void find() {
      const Extra<V>& extra = decoder_.storage_.extra;
      const Index c = decoder_.storage_.shape.slice_rows;
      at_ = -1;
      for (; range_.begin < range_.end; ++range_.begin, k_ = 0) {
        const Index slot = decoder_.slot_of_[range_.begin];
        const Slice& slice = extra.slices[slot / c];
        if (k_ >= slice.width) continue;
        const Offset at = slice.entry + place_in_slice(slot % c, k_, c, slice.width, decoder_.storage_.shape.pack);
        if (extra.columns[at] < 0) continue;
        at_ = at;
        return;
      }
    }

    const Decoder& decoder_;
    Range range_;
    Index k_ = 0;
    Offset at_ = -1;
  };

  Index column_at(const Slice& slice, Index i, Index k) const {
    const Shape& shape = storage_.shape;
    return storage_.columns[slice.entry + place_in_slice(i, k, shape.slice_rows, slice.width, shape.pack)];
  }
  V value_at(const Slice& slice, Index i, Index k, int e) const {
    const Shape& shape = storage_.shape;
    return storage_
        .values[slice.entry * shape.block * shape.block +
                ::weft::bro_sell::value_place(i, k, e, shape.slice_rows, slice.width, shape.block, shape.value_pack)];
  }

  const Storage<V>& storage_;
  Array<Index> slot_of_;  // of pieces
};

}  // namespace

// 1. Padding; 2. the entries of every row; 3. where rows begin; 4. columns and values.
template <Value V>
Csr<V> decode(const Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const int b = storage.shape.block;
  const Index c = storage.shape.slice_rows;
  FirstPosition bad;
  parallel_for(static_cast<Offset>(storage.extra.places.size()), 1 << 10, [&](Offset slot) {
    if (!extra_slot_is_good(storage, slot)) bad.report(slot);
  });
  if (bad.found())
    throw Error(ErrorCode::parse,
                "slot " + std::to_string(bad.get() + 1) + " of its extra part is not entries and zeros behind them");

  const Decoder<V> decoder(storage);
  Csr<V> matrix;
  matrix.rows = storage.rows;
  matrix.cols = storage.cols;
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(storage.rows) + 1);
  // Calls body(part, slice, slot of it, node or -1).
  const auto for_slots = [&](auto&& body) {
    parallel_for(caches.parts(), 1, [&](Offset p) {
      for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s)
        for (Index i = 0; i < c; ++i) {
          const Offset place = caches.row_begin[p] + Offset(s - storage.slice_begin[p]) * c + i;
          body(static_cast<Index>(p), s, i, place < caches.row_begin[p + 1] ? storage.order[place] : Index(-1));
        }
    });
  };
  for_slots([&](Index p, Index s, Index i, Index node) {
    bool good = decoder.ends_in_padding(p, s, i, node < 0);
    for (int r = 0; r < b && node >= 0; ++r) {
      const Offset length = decoder.for_entries(p, s, i, r, [](Offset, Index, V) {});
      good = good && length >= 0;
      matrix.offsets[Offset(node) * b + r] = length;
    }
    if (!good) bad.report(p);
  });
  if (bad.found())
    throw Error(ErrorCode::parse, "part " + std::to_string(bad.get() + 1) +
                                      " has a row that is not ascending columns of the matrix and zeros behind them");
  prefix_sum(matrix.offsets.data(), storage.rows);
  matrix.columns = Array<Index>(static_cast<std::size_t>(matrix.nonzeros()));
  matrix.values = Array<V>(static_cast<std::size_t>(matrix.nonzeros()));
  for_slots([&](Index p, Index s, Index i, Index node) {
    for (int r = 0; r < b && node >= 0; ++r) {
      const Offset begin = matrix.offsets[Offset(node) * b + r];
      decoder.for_entries(p, s, i, r, [&](Offset number, Index column, V value) {
        matrix.columns[begin + number] = column;
        matrix.values[begin + number] = value;
      });
    }
  });
  return matrix;
}

template <Value V>
void find_positions(const Csr<V>& matrix, Storage<V>& storage) {
  Extra<V>& extra = storage.extra;
  const Caches& caches = storage.caches;
  const int b = storage.shape.block, pack = storage.shape.pack;
  const Index c = storage.shape.slice_rows;
  extra.positions = Array<Offset>(extra.columns.size(), -1);
  if (extra.pieces == 0) return;
  Array<Index> slot_of(static_cast<std::size_t>(extra.pieces));
  for (Index slot = 0; slot < extra.pieces; ++slot) slot_of[extra.places[slot]] = slot;
  const auto find_row = [&](Index row, const Range& range) {
    const Index* const columns = matrix.columns.data();
    Offset next = matrix.offsets[row];
    for (Index piece = range.begin; piece < range.end; ++piece) {
      const Index slot = slot_of[piece];
      const Slice& slice = extra.slices[slot / c];
      for (Index k = 0; k < slice.width; ++k) {
        const Offset at = slice.entry + place_in_slice(slot % c, k, c, slice.width, pack);
        if (extra.columns[at] < 0) break;
        next = std::lower_bound(columns + next, columns + matrix.offsets[row + 1], extra.columns[at]) - columns;
        extra.positions[at] = next;
      }
    }
  };
  parallel_for(caches.parts(), 1, [&](Offset p) {
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      if (storage.slices[s].extra < 0) continue;
      const Index first = caches.row_begin[p] + (s - storage.slice_begin[p]) * c;
      for (Index i = 0; i < std::min(c, caches.row_begin[p + 1] - first); ++i)
        for (int r = 0; r < b; ++r)
          find_row(storage.order[first + i] * b + r, extra.ranges[(Offset(storage.slices[s].extra) * c + i) * b + r]);
    }
  });
}

#define WEFT_INSTANTIATE(V)                     \
  template Csr<V> decode<V>(const Storage<V>&); \
  template void find_positions<V>(const Csr<V>&, Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
