#pragma once
#include <weft/io.hpp>

#include <span>
#include <string>
#include <string_view>

// Several vectors of one length in a file: right sides and their answers.
namespace weft::io {

/// Invariant: `values` has rows * count elements, column after column.
template <Value V>
struct Columns {
  std::size_t rows = 0;
  std::size_t count = 0;
  Array<V> values = {};

  std::span<const V> operator[](std::size_t column) const { return {values.data() + column * rows, rows}; }
  std::span<V> operator[](std::size_t column) { return {values.data() + column * rows, rows}; }
};

/// A Matrix Market file, array or coordinate, with a vector in each column; or plain text with one number per line,
/// which is one vector. Throws as read_vector does, and Error(parse) for a file without columns.
template <Value V>
Columns<V> read_columns(const std::string& path);

/// The same on text in memory; `name` is used in sentences in place of the file's name.
template <Value V>
Columns<V> parse_columns(std::string_view text, const std::string& name);

/// A Matrix Market array with a column for each vector. Atomic. Throws Error(invalid_argument) for a number that is not
/// finite, Error(io) when the disk refuses.
template <Value V>
void write_columns(const std::string& path, const Columns<V>& columns);

}  // namespace weft::io
