#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "formats/bce/bce.hpp"

namespace weft::bce {

template <class T>
std::vector<T> to_vector(const Array<T>& array) {
  return {array.begin(), array.end()};
}

template <Value V>
Storage<V> set_up(const Csr<V>& matrix, const Settings& settings) {
  return set_up(MatrixSource<V>(matrix), settings);
}

/// Empty when `storage` holds `matrix` as Storage's comment says, else what is wrong.
template <Value V>
std::string check(const Storage<V>& storage, const Csr<V>& matrix, const Settings& settings) {
  const Layout& layout = storage.layout;
  const auto says = [](const std::string& what, Offset where) { return what + " at " + std::to_string(where); };
  if (storage.rows != matrix.rows) return "another number of rows";
  if (static_cast<Offset>(storage.row_numbers.size()) != layout.numbers(matrix.rows)) return "numbers are missing";
  const std::set<Index> numbers(storage.row_numbers.begin(), storage.row_numbers.end());
  if (numbers.size() != storage.row_numbers.size()) return "a number stands twice";
  if (!numbers.empty() &&
      (*numbers.begin() != -static_cast<Index>(layout.pieces.size()) || *numbers.rbegin() != matrix.rows - 1))
    return "a number is out of range";
  if (layout.block_rows.back() + layout.long_rows() != static_cast<Offset>(storage.row_numbers.size()))
    return "sub-blocks and long rows are not all rows";
  if (storage.positions.back() != static_cast<Offset>(storage.values.size()) ||
      storage.columns.size() != storage.values.size())
    return "the arrays of entries have other lengths";

  Offset entries = 0;
  for (Offset s = 0; s < layout.sub_blocks(); ++s) {
    const auto rows = static_cast<Index>(layout.block_rows[s + 1] - layout.block_rows[s]);
    const Index width = storage.widths[s], threads = layout.threads[s];
    if (rows < 1 || rows > std::max(1, settings.lanes / threads)) return says("too many or no rows", s);
    if (width % threads != 0) return says("a width that is no multiple", s);
    if (storage.positions[s] % settings.alignment != 0) return says("a position that is not aligned", s);
    if (storage.positions[s + 1] < storage.positions[s] + Offset(rows) * width) return says("an overlap", s);
    std::vector<bool> seen(static_cast<std::size_t>(storage.positions[s + 1] - storage.positions[s]));
    Offset longest = 0;
    for (Index r = 0; r < rows; ++r) {
      const Index number = storage.row_numbers[layout.block_rows[s] + r];
      const Piece range =
          number >= 0 ? Piece{matrix.offsets[number], matrix.offsets[number + 1]} : layout.pieces[~number];
      longest = std::max(longest, range.end - range.begin);
      if (!storage.full_widths.empty() && storage.full_widths[s] > range.end - range.begin)
        return says("a row shorter than the full width", s);
      for (Index k = 0; k < width; ++k) {
        const Offset in_block = place_in_slice(r, k, rows, width, threads > 1 ? threads : layout.group);
        const Offset at = storage.positions[s] + in_block, from = range.begin + k;
        seen[static_cast<std::size_t>(in_block)] = true;
        const bool padding = from >= range.end;
        if (storage.columns[at] != (padding ? -1 : matrix.columns[from])) return says("a wrong column", at);
        if (storage.values[at] != (padding ? V(0) : matrix.values[from])) return says("a wrong value", at);
        entries += !padding;
      }
    }
    if (width < longest || width >= longest + threads) return says("a wrong width", s);
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (!seen[i] && storage.columns[static_cast<std::size_t>(storage.positions[s]) + i] != -1)
        return says("no padding behind a sub-block", s);
  }
  return entries == matrix.nonzeros() ? "" : "entries are missing";
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// The arrays in which two storages differ.
template <Value V>
std::string differences(const Storage<V>& a, const Storage<V>& b) {
  std::string text;
  const auto compare = [&](const char* name, bool same) { text += same ? "" : std::string(name) + " "; };
  compare("rows", a.rows == b.rows);
  compare("partition", a.layout.partition == b.layout.partition);
  compare("block_rows", same_bits(a.layout.block_rows, b.layout.block_rows));
  compare("threads", same_bits(a.layout.threads, b.layout.threads));
  compare("piece_starts", same_bits(a.layout.piece_starts, b.layout.piece_starts));
  compare("pieces", same_bits(a.layout.pieces, b.layout.pieces));
  compare("row_numbers", same_bits(a.row_numbers, b.row_numbers));
  compare("widths", same_bits(a.widths, b.widths));
  compare("positions", same_bits(a.positions, b.positions));
  compare("columns", same_bits(a.columns, b.columns));
  compare("values", same_bits(a.values, b.values));
  return text;
}

}  // namespace weft::bce
