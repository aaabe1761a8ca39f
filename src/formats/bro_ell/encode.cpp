// bro-ell: the encoder on the CPU.
#include <algorithm>
#include <atomic>
#include <vector>

#include "core/parallel.hpp"
#include "formats/bro_ell/bro_ell.hpp"

namespace weft::bro_ell {
namespace {

constexpr Index rows_at_once = 4096;  // of a parallel loop

/// The rows that are slice s.
SliceRows rows_of_slice(const Array<Offset>& offsets, const Index* columns, Index rows, Index slice_rows, Offset s) {
  const Offset first = s * slice_rows;
  return {offsets.data() + first, columns, static_cast<Index>(std::min<Offset>(slice_rows, rows - first))};
}

template <class F>
void for_each_slice(Offset slices, Index slice_rows, F&& body) {
  parallel_for(slices, std::max(1, rows_at_once / slice_rows), body);
}

/// How many entries every slice's rows have at most, where its values and widths are stored, and how many entries are
/// kept. Returns the values and the widths that all take.
template <Value V>
std::pair<Offset, Offset> lay_out_columns(const Csr<V>& matrix, Storage<V>& storage) {
  const Index h = storage.shape.slice_rows;
  std::atomic<Offset> kept{0};
  for_each_slice(static_cast<Offset>(storage.slices.size()), h, [&](std::int64_t s) {
    const SliceRows rows = rows_of_slice(matrix.offsets, nullptr, matrix.rows, h, s);
    Offset longest = 0, all = 0;
    for (Index r = 0; r < rows.count; ++r) {
      const Offset length = std::min<Offset>(rows.offsets[r + 1] - rows.offsets[r], storage.shape.max_columns);
      longest = std::max(longest, length);
      all += length;
    }
    storage.slices[s].columns = static_cast<Index>(longest);
    kept.fetch_add(all, std::memory_order_relaxed);
  });
  storage.kept = kept;
  Offset value = 0, width = 0;
  Index s = 0;
  for (Slice& slice : storage.slices) {
    slice.value = value;
    slice.width = width;
    value += static_cast<Offset>(slice.columns) * rows_in_slice(storage.rows, h, s++);
    width += round_up(slice.columns, widths_together);
  }
  return {value, width};
}

/// Where every slice's symbols are stored. Returns the words that all take.
template <Value V>
Offset lay_out_symbols(Storage<V>& storage) {
  const int words_per_symbol = storage.shape.symbol_bits / 32;
  Offset word = 0;
  Index s = 0;
  for (Slice& slice : storage.slices) {
    slice.word = word;
    word += static_cast<Offset>(slice.symbols) * rows_in_slice(storage.rows, storage.shape.slice_rows, s++) *
            words_per_symbol;
  }
  return word;
}

}  // namespace

void measure_slice(const SliceRows& rows, Index columns, std::uint8_t* widths, int min_bits) {
  // The largest delta of a column has as many bits as all of them or-ed together.
  std::vector<std::uint32_t> deltas(static_cast<std::size_t>(columns), 0);
  for (Index r = 0; r < rows.count; ++r) {
    const Index* const row = rows.columns + rows.offsets[r];
    const Offset length = std::min<Offset>(columns, rows.offsets[r + 1] - rows.offsets[r]);
    std::uint32_t before = 0;
    for (Offset k = 0; k < length; ++k) {
      const std::uint32_t column = static_cast<std::uint32_t>(row[k]) + 1;
      deltas[static_cast<std::size_t>(k)] |= column - before;
      before = column;
    }
  }
  for (Index k = 0; k < columns; ++k)
    widths[k] = static_cast<std::uint8_t>(std::max(min_bits, bits_for(deltas[static_cast<std::size_t>(k)])));
}

template <class Symbol>
void pack_slice(const SliceRows& rows, Index columns, const std::uint8_t* widths, int symbol_bits, Index n,
                Symbol* to) {
  for (Index r = 0; r < n; ++r) {
    BitWriter<Symbol> writer(to + r, n, symbol_bits);
    const Offset begin = r < rows.count ? rows.offsets[r] : 0;
    const Offset length = r < rows.count ? rows.offsets[r + 1] - begin : 0;
    pack_row(rows.columns + begin, static_cast<Index>(std::min<Offset>(length, columns)), widths, columns, writer);
  }
}

template <Value V>
void place_values(const Storage<V>& storage, const Array<Offset>& offsets, const V* csr_values, V* values) {
  const Index h = storage.shape.slice_rows;
  for_each_slice(static_cast<Offset>(storage.slices.size()), h, [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    const SliceRows rows = rows_of_slice(offsets, nullptr, storage.rows, h, s);
    const Index n = rows_in_slice(storage.rows, h, static_cast<Index>(s));
    // A few rows at a time, so that what is written stays in the cache until its line is full.
    constexpr Index together = 16;
    for (Index first = 0; first < n; first += together)
      for (Index k = 0; k < slice.columns; ++k)
        for (Index r = first; r < std::min(n, first + together); ++r) {
          const bool live = r < rows.count && k < rows.offsets[r + 1] - rows.offsets[r];
          values[slice.value + static_cast<Offset>(k) * n + r] = live ? csr_values[rows.offsets[r] + k] : V(0);
        }
  });
}

/// 1. The columns of each slice, and with them the places of values and widths; 2. the widths; 3. the places of the
/// symbols; 4. symbols and values.
template <Value V>
Storage<V> encode(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options) {
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.cols = matrix.cols;
  const Index h = shape.slice_rows;
  const Offset slices = slice_count(matrix.rows, h);
  storage.slices = Array<Slice>(static_cast<std::size_t>(slices), Slice{});
  const auto [values, widths] = lay_out_columns(matrix, storage);
  refuse_padding(shape, values, storage.kept, sizeof(V), options);

  storage.bit_alloc = Array<std::uint8_t>(static_cast<std::size_t>(widths), std::uint8_t(0));
  for_each_slice(slices, h, [&](std::int64_t s) {
    Slice& slice = storage.slices[s];
    std::uint8_t* const bits = storage.bit_alloc.data() + slice.width;
    measure_slice(rows_of_slice(matrix.offsets, matrix.columns.data(), matrix.rows, h, s), slice.columns, bits,
                  shape.min_bits);
    Offset sum = 0;
    for (Index k = 0; k < slice.columns; ++k) sum += bits[k];
    slice.symbols = static_cast<Index>(symbols_for(sum, shape.symbol_bits));
  });

  storage.words = Array<std::uint32_t>(static_cast<std::size_t>(lay_out_symbols(storage)));
  storage.values = Array<V>(static_cast<std::size_t>(values));
  for_each_slice(slices, h, [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    const auto pack = [&](auto* symbols) {
      pack_slice(rows_of_slice(matrix.offsets, matrix.columns.data(), matrix.rows, h, s), slice.columns,
                 storage.bit_alloc.data() + slice.width, shape.symbol_bits,
                 rows_in_slice(matrix.rows, h, static_cast<Index>(s)), symbols);
    };
    std::uint32_t* const words = storage.words.data() + slice.word;
    if (shape.symbol_bits == 64)
      pack(reinterpret_cast<std::uint64_t*>(words));
    else
      pack(words);
  });
  place_values(storage, matrix.offsets, matrix.values.data(), storage.values.data());
  return storage;
}

template <Value V>
Savings savings_of(const Csr<V>& matrix, const Shape& shape) {
  const Index h = shape.slice_rows;
  const Index slices = slice_count(matrix.rows, h);
  struct Sizes {
    Offset words, columns;
  };
  Array<Sizes> sizes(static_cast<std::size_t>(slices));
  for_each_slice(slices, h, [&](std::int64_t s) {
    const SliceRows rows = rows_of_slice(matrix.offsets, matrix.columns.data(), matrix.rows, h, s);
    Offset longest = 0;
    for (Index r = 0; r < rows.count; ++r) longest = std::max(longest, rows.offsets[r + 1] - rows.offsets[r]);
    std::vector<std::uint8_t> widths(static_cast<std::size_t>(std::min<Offset>(longest, shape.max_columns)));
    measure_slice(rows, static_cast<Index>(widths.size()), widths.data(), shape.min_bits);
    Offset bits = 0;
    for (const std::uint8_t width : widths) bits += width;
    sizes[s].words = symbols_for(bits, shape.symbol_bits) * (shape.symbol_bits / 32) *
                     rows_in_slice(matrix.rows, h, static_cast<Index>(s));
    sizes[s].columns = static_cast<Offset>(widths.size());
  });
  Offset words = 0, columns = 0, longest = 0;
  for (const Sizes& one : sizes) {
    words += one.words;
    columns += one.columns;
    longest = std::max(longest, one.columns);
  }
  return savings_of(matrix.rows, slices, words, columns, longest);
}

#define WEFT_INSTANTIATE(V)                                                        \
  template Storage<V> encode<V>(const Csr<V>&, const Shape&, const BuildOptions&); \
  template Savings savings_of<V>(const Csr<V>&, const Shape&);                     \
  template void place_values<V>(const Storage<V>&, const Array<Offset>&, const V*, V*);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
template void pack_slice<std::uint8_t>(const SliceRows&, Index, const std::uint8_t*, int, Index, std::uint8_t*);

}  // namespace weft::bro_ell
