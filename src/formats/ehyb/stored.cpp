// ehyb as named arrays, for files. What comes back is believed only once all of it was decoded.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "facts/blocks.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::parse, sentence); }
[[noreturn]] void refuse_part(Offset part, const char* what) {
  refuse("part " + std::to_string(part + 1) + " " + what);
}

template <class T>
Offset size_of(const Array<T>& array) {
  return static_cast<Offset>(array.size());
}

Shape read_shape(const StoredArrays& arrays, Index rows, Index cols) {
  const Array<std::int64_t>& layout = arrays.get<std::int64_t>("layout", 4);
  const auto one_of = [&](int which, std::initializer_list<std::int64_t> allowed) {
    if (std::ranges::find(allowed, layout[which]) == allowed.end()) refuse("its 'layout' is none that there is");
    return static_cast<int>(layout[which]);
  };
  Shape shape;
  if (layout[0] < 1 || layout[0] > max_block) refuse("its 'layout' is none that there is");
  shape.block = static_cast<int>(layout[0]);
  shape.room = 0;
  shape.slice_rows = one_of(1, {8, 16, 32});
  shape.pack = one_of(2, {1, 2, 4});
  shape.value_pack = one_of(3, {1, 2, 4});
  if (rows % shape.block != 0 || cols % shape.block != 0) refuse("its blocks do not divide the matrix");
  return shape;
}

/// Parts, their rows in the order of slots, and what they cache.
template <class V>
void read_parts(const StoredArrays& arrays, Storage<V>& storage) {
  const Index nodes = storage.rows / storage.shape.block, node_cols = storage.cols / storage.shape.block;
  const bool square = storage.rows == storage.cols;
  const Array<Index>& row_begin = arrays.get<Index>("row_begin");
  if (row_begin.size() < 2 || row_begin.size() > std::size_t(std::numeric_limits<Index>::max()))
    refuse("its 'row_begin' is not that of some parts");
  const auto parts = static_cast<Index>(row_begin.size()) - 1;
  if (row_begin[0] != 0 || row_begin[parts] != nodes) refuse("its parts do not have all rows");
  storage.order = arrays.get<Index>("order", nodes);
  Array<Index> part_of(static_cast<std::size_t>(nodes), -1);
  for (Index p = 0; p < parts; ++p) {
    if (row_begin[p] > row_begin[p + 1] || row_begin[p + 1] > nodes) refuse_part(p, "ends before it begins");
    for (Index i = row_begin[p]; i < row_begin[p + 1]; ++i) {
      const Index node = storage.order[i];
      if (node < 0 || node >= nodes || part_of[node] >= 0) refuse_part(p, "has a row that is none, or not its own");
      part_of[node] = p;
    }
  }
  Caches& caches = storage.caches;
  caches = group_rows(nodes, square, std::move(part_of), parts);
  caches.whole = Array<std::uint8_t>(static_cast<std::size_t>(parts), 1);

  const Array<Offset>& guest_begin = arrays.get<Offset>("guest_begin", Offset(parts) + 1);
  const Array<Index>& guests = arrays.get<Index>("guests");
  if (guest_begin[0] != 0 || guest_begin[parts] != size_of(guests)) refuse("its guests are not those of its parts");
  caches.cache_begin = Array<Offset>(static_cast<std::size_t>(parts) + 1, 0);
  caches.cached = Array<Index>(guests.size() + (square ? static_cast<std::size_t>(nodes) : 0));
  for (Index p = 0; p < parts; ++p) {
    const Offset first = guest_begin[p], last = guest_begin[p + 1];
    if (first > last || last > size_of(guests)) refuse_part(p, "has guests that are not there");
    const Index own = caches.own_of(p);
    if (last - first > max_room - own) refuse_part(p, "caches more than 16 bits can number");
    Index* to = caches.cached.data() + caches.cache_begin[p];
    to = std::copy_n(caches.rows.data() + caches.row_begin[p], own, to);
    for (Offset i = first; i < last; ++i) {
      const Index guest = guests[i];
      if (guest < 0 || guest >= node_cols || (i > first && guest <= guests[i - 1]) ||
          (square && caches.part_of[guest] == p))
        refuse_part(p, "has guests that are not ascending columns of others");
      *to++ = guest;
    }
    caches.cache_begin[p + 1] = caches.cache_begin[p] + own + (last - first);
    storage.max_cached = std::max(storage.max_cached, caches.cached_by(p));
  }
}

/// Slices one behind the other, as their widths tell.
Offset lay_out_slices(const Array<Index>& widths, Index c, Index most, Offset room, const char* what,
                      Array<Slice>& slices) {
  slices = Array<Slice>(widths.size(), Slice{});
  Offset entry = 0;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    slices[s].entry = entry;
    slices[s].width = widths[s];
    if (widths[s] < 0 || widths[s] > most) refuse(std::string(what) + " are wider than the matrix");
    entry += Offset(widths[s]) * c;
    if (entry > room) refuse(std::string(what) + " need more columns than there are");
  }
  if (entry != room) refuse(std::string(what) + " need fewer columns than there are");
  return entry;
}

template <class V>
void read_slices(const StoredArrays& arrays, Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Index c = storage.shape.slice_rows, parts = caches.parts();
  storage.slice_begin = Array<Index>(static_cast<std::size_t>(parts) + 1, 0);
  for (Index p = 0; p < parts; ++p) {
    const Index count = caches.row_begin[p + 1] - caches.row_begin[p];
    storage.slice_begin[p + 1] = storage.slice_begin[p] + count / c + (count % c != 0);
  }
  storage.columns = arrays.get<std::uint16_t>("columns");
  storage.entries =
      lay_out_slices(arrays.get<Index>("widths", storage.slice_begin[parts]), c, storage.cols / storage.shape.block,
                     size_of(storage.columns), "its slices", storage.slices);
}

/// The extra part but for its values. Pieces stand row after row; a slice with some of them gets ranges.
template <class V>
void read_extra(const StoredArrays& arrays, Storage<V>& storage) {
  Extra<V>& extra = storage.extra;
  Caches& caches = storage.caches;
  const int b = storage.shape.block;
  const Index c = storage.shape.slice_rows;
  const Array<Index>& rows = arrays.get<Index>("extra_rows");
  if (rows.size() > std::size_t(std::numeric_limits<Index>::max() - c)) refuse("its extra part has too many pieces");
  extra.pieces = static_cast<Index>(rows.size());
  const Index slices = extra.pieces / c + (extra.pieces % c != 0);
  extra.columns = arrays.get<Index>("extra_columns");
  extra.places = arrays.get<Index>("extra_places", Offset(slices) * c);
  lay_out_slices(arrays.get<Index>("extra_widths", slices), c, storage.cols, size_of(extra.columns),
                 "slices of its extra part", extra.slices);
  std::vector<bool> seen(rows.size());
  for (Offset slot = 0; slot < size_of(extra.places); ++slot) {
    const Index piece = extra.places[slot];
    if (slot >= extra.pieces ? piece != -1 : piece < 0 || piece >= extra.pieces || seen[piece])
      refuse("slots of its extra part are not one a piece");
    if (piece >= 0) seen[piece] = true;
  }

  std::vector<Range> ranges;
  Index piece = 0;
  for (Index p = 0; p < caches.parts(); ++p)
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      const Offset first = (caches.row_begin[p] + Offset(s - storage.slice_begin[p]) * c) * b;
      const Offset last = std::min(first + Offset(c) * b, Offset(caches.row_begin[p + 1]) * b);
      if (piece == extra.pieces || rows[piece] >= last) continue;
      storage.slices[s].extra = static_cast<Index>(ranges.size() / static_cast<std::size_t>(c * b));
      caches.whole[p] = 0;
      ranges.resize(ranges.size() + static_cast<std::size_t>(c * b));
      Range* const range = ranges.data() + ranges.size() - c * b;
      for (Offset row = first; row < last; ++row) {
        const Index begin = piece;
        while (piece < extra.pieces && rows[piece] == row) ++piece;
        range[row - first] = {begin, piece};
      }
      // What is not of a row by now never will be.
      if (piece < extra.pieces && rows[piece] < last) refuse("pieces of its extra part are not row after row");
    }
  if (piece != extra.pieces) refuse("pieces of its extra part are of no row");
  extra.ranges = Array<Range>(std::move(ranges));
}

}  // namespace

template <Value V>
StoredArrays to_arrays(const Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Extra<V>& extra = storage.extra;
  const Shape& shape = storage.shape;
  const Index parts = caches.parts();
  const auto widths_of = [](const Array<Slice>& slices) {
    Array<Index> widths(slices.size());
    std::ranges::transform(slices, widths.begin(), &Slice::width);
    return widths;
  };
  Array<Offset> guest_begin(static_cast<std::size_t>(parts) + 1, 0);
  for (Index p = 0; p < parts; ++p) guest_begin[p + 1] = guest_begin[p] + caches.cached_by(p) - caches.own_of(p);
  Array<Index> guests(static_cast<std::size_t>(guest_begin[parts]));
  for (Index p = 0; p < parts; ++p)
    std::copy(caches.cached.data() + caches.cache_begin[p] + caches.own_of(p),
              caches.cached.data() + caches.cache_begin[p + 1], guests.data() + guest_begin[p]);
  Array<Index> extra_rows(static_cast<std::size_t>(extra.pieces));
  const Index c = shape.slice_rows;
  for (Index p = 0; p < parts; ++p)
    for (Index s = storage.slice_begin[p]; s < storage.slice_begin[p + 1]; ++s) {
      if (storage.slices[s].extra < 0) continue;
      const Offset first = (caches.row_begin[p] + Offset(s - storage.slice_begin[p]) * c) * shape.block;
      for (Offset i = 0; i < Offset(c) * shape.block; ++i) {
        const Range range = extra.ranges[Offset(storage.slices[s].extra) * c * shape.block + i];
        std::fill(extra_rows.data() + range.begin, extra_rows.data() + range.end, static_cast<Index>(first + i));
      }
    }
  Array<V> values(storage.values.size() + extra.values.size());
  std::ranges::copy(extra.values, std::ranges::copy(storage.values, values.begin()).out);

  StoredArrays arrays;
  arrays.numbers = numbers_of(storage.shape);
  arrays.add("layout", Array<std::int64_t>{shape.block, shape.slice_rows, shape.pack, shape.value_pack});
  arrays.add("row_begin", caches.row_begin);
  arrays.add("order", storage.order);
  arrays.add("guest_begin", std::move(guest_begin));
  arrays.add("guests", std::move(guests));
  arrays.add("widths", widths_of(storage.slices));
  arrays.add("columns", storage.columns);
  arrays.add("extra_rows", std::move(extra_rows));
  arrays.add("extra_places", extra.places);
  arrays.add("extra_widths", widths_of(extra.slices));
  arrays.add("extra_columns", extra.columns);
  arrays.add("values", std::move(values));
  return arrays;
}

// Slices, caches and ranges are laid out anew from what the arrays say, so no place in an array is ever taken from a
// file but the 16-bit ones, which `decode` checks.
template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols) {
  Storage<V> storage;
  storage.rows = rows;
  storage.cols = cols;
  storage.shape = read_shape(arrays, rows, cols);
  read_parts(arrays, storage);
  read_slices(arrays, storage);
  read_extra(arrays, storage);
  const Offset own = storage.entries * storage.shape.block * storage.shape.block;
  const auto values = std::make_shared<Array<V>>(arrays.get<V>("values", own + size_of(storage.extra.columns)));
  storage.values = Array<V>(values, values->data(), static_cast<std::size_t>(own));
  storage.extra.values = Array<V>::copy_of(std::span<const V>(*values).subspan(static_cast<std::size_t>(own)));
  return storage;
}

#define WEFT_INSTANTIATE(V)                              \
  template StoredArrays to_arrays<V>(const Storage<V>&); \
  template Storage<V> from_arrays<V>(const StoredArrays&, Index, Index);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
