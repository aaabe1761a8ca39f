// bro-ell as named arrays, for files. What comes back is believed only once all of it was decoded.
#include <algorithm>
#include <bit>
#include <string>

#include "core/parallel.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "sparse/row_parts.hpp"

namespace weft::bro_ell {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::parse, sentence); }

/// The columns of a row, counted from 0, one call of body(k, column) each. -1 unless entries come first, all columns
/// are in the matrix, and bits behind the last delta are 0; else the number of entries.
template <class Symbol, class V, class F>
Index for_entries(const Storage<V>& storage, const Slice& slice, Index n, Index r, F&& body) {
  constexpr int symbol_bits = 8 * sizeof(Symbol);
  BitReader<Symbol> reader(reinterpret_cast<const Symbol*>(storage.words.data() + slice.word) + r, n, symbol_bits);
  Offset unused = static_cast<Offset>(slice.symbols) * symbol_bits;
  std::int64_t column = -1;
  Index length = 0;
  for (Index k = 0; k < slice.columns; ++k) {
    const int width = storage.bit_alloc[slice.width + k];
    const std::uint32_t delta = reader.take(width);
    unused -= width;
    if (delta == 0) continue;
    column += delta;
    if (length != k || column >= storage.cols) return -1;
    body(k, static_cast<Index>(column));
    ++length;
  }
  for (; unused > 0; --unused)
    if (reader.take(1) != 0) return -1;
  return length;
}

template <class V, class F>
Index for_entries_of(const Storage<V>& storage, Offset s, Index r, F&& body) {
  const Slice& slice = storage.slices[s];
  const Index n = rows_in_slice(storage.rows, storage.shape.slice_rows, static_cast<Index>(s));
  if (storage.shape.symbol_bits == 64) return for_entries<std::uint64_t>(storage, slice, n, r, body);
  return for_entries<std::uint32_t>(storage, slice, n, r, body);
}

}  // namespace

template <Value V>
StoredArrays to_arrays(const Storage<V>& storage) {
  Array<Index> columns(storage.slices.size());
  for (std::size_t s = 0; s < columns.size(); ++s) columns[s] = storage.slices[s].columns;
  StoredArrays arrays;
  arrays.numbers = numbers_of(storage.shape);
  arrays.add("layout", Array<std::int64_t>{storage.shape.slice_rows, storage.shape.symbol_bits});
  arrays.add("num_col", columns);
  arrays.add("bit_alloc", storage.bit_alloc);
  arrays.add("symbols", storage.words);
  arrays.add("values", storage.values);
  return arrays;
}

// Slices are laid out anew from what each of them says, so no place in an array is ever taken from a file.
template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols) {
  Storage<V> storage;
  storage.rows = rows;
  storage.cols = cols;
  const Array<std::int64_t>& layout = arrays.get<std::int64_t>("layout", 2);
  if (layout[0] < 32 || layout[0] > max_slice_rows || !std::has_single_bit(static_cast<std::uint64_t>(layout[0])) ||
      (layout[1] != 32 && layout[1] != 64))
    refuse("its 'layout' is none that there is");
  const auto h = static_cast<Index>(layout[0]);
  storage.shape.slice_rows = h;
  storage.shape.symbol_bits = static_cast<int>(layout[1]);
  const Array<Index>& columns = arrays.get<Index>("num_col", slice_count(rows, h));
  storage.bit_alloc = arrays.get<std::uint8_t>("bit_alloc");
  storage.words = arrays.get<std::uint32_t>("symbols");
  storage.values = arrays.get<V>("values");
  const auto room = [](const auto& array) { return static_cast<Offset>(array.size()); };

  storage.slices = Array<Slice>(columns.size(), Slice{});
  Slice next;
  for (std::size_t s = 0; s < columns.size(); ++s) {
    const auto refuse_slice = [&](const char* what) { refuse("slice " + std::to_string(s + 1) + " " + what); };
    const Index n = rows_in_slice(rows, h, static_cast<Index>(s));
    Slice& slice = storage.slices[s];
    slice = next;
    slice.columns = columns[s];
    if (slice.columns < 0 || slice.columns > cols) refuse_slice("has more columns than the matrix");
    next.value += static_cast<Offset>(slice.columns) * n;
    next.width += round_up(slice.columns, widths_together);
    if (next.value > room(storage.values) || next.width > room(storage.bit_alloc))
      refuse_slice("needs more values or widths than there are");
    Offset bits = 0;
    for (Offset k = slice.width; k < next.width; ++k) {
      const int width = storage.bit_alloc[k];
      const bool used = k - slice.width < slice.columns;
      if (used ? width < 1 || width > 31 : width != 0) refuse_slice("has widths that no delta has");
      bits += width;
    }
    slice.symbols = static_cast<Index>(symbols_for(bits, storage.shape.symbol_bits));
    next.word += static_cast<Offset>(slice.symbols) * n * (storage.shape.symbol_bits / 32);
    if (next.word > room(storage.words)) refuse_slice("needs more symbols than there are");
  }
  if (next.value != room(storage.values) || next.width != room(storage.bit_alloc) || next.word != room(storage.words))
    refuse("it has more values, widths or symbols than its slices need");
  return storage;
}

// 1. The entries of every row; 2. where rows begin; 3. columns and values. Kernels multiply padding by 0, so it must be
// 0 itself.
template <Value V>
Csr<V> decode(const Storage<V>& storage) {
  const Index h = storage.shape.slice_rows;
  Csr<V> matrix;
  matrix.rows = storage.rows;
  matrix.cols = storage.cols;
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(storage.rows) + 1);
  FirstPosition bad;
  const auto slices = static_cast<Offset>(storage.slices.size());
  parallel_for(slices, 8, [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    const Index n = rows_in_slice(storage.rows, h, static_cast<Index>(s));
    for (Index r = 0; r < n; ++r) {
      const Offset row = s * h + r;
      Index length = for_entries_of(storage, s, r, [](Index, Index) {});
      if (row >= storage.rows) {
        if (length != 0) bad.report(storage.rows - 1);
        length = 0;
      } else if (length < 0) {
        bad.report(row);
      } else {
        matrix.offsets[row] = length;
      }
      for (Index k = std::max(0, length); k < slice.columns; ++k)
        if (!(storage.values[slice.value + static_cast<Offset>(k) * n + r] == V(0)))
          bad.report(std::min<Offset>(row, storage.rows - 1));
    }
  });
  if (bad.found())
    refuse("row " + std::to_string(bad.get() + 1) + " is not ascending columns of the matrix and zeros behind them");
  prefix_sum(matrix.offsets.data(), storage.rows);
  matrix.columns = Array<Index>(static_cast<std::size_t>(matrix.nonzeros()));
  matrix.values = Array<V>(static_cast<std::size_t>(matrix.nonzeros()));
  parallel_for(slices, 8, [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    const Index n = rows_in_slice(storage.rows, h, static_cast<Index>(s));
    for (Index r = 0; r < std::min<Offset>(n, storage.rows - s * h); ++r) {
      const Offset begin = matrix.offsets[s * h + r];
      for_entries_of(storage, s, r, [&](Index k, Index column) {
        matrix.columns[begin + k] = column;
        matrix.values[begin + k] = storage.values[slice.value + static_cast<Offset>(k) * n + r];
      });
    }
  });
  return matrix;
}

#define WEFT_INSTANTIATE(V)                                              \
  template StoredArrays to_arrays<V>(const Storage<V>&);                 \
  template Storage<V> from_arrays<V>(const StoredArrays&, Index, Index); \
  template Csr<V> decode<V>(const Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell
