#pragma once
#include <weft/array.hpp>

#include <cstddef>

namespace weft::test {

/// What is stored as `count` vectors one after the other, row-major without gaps.
template <class V>
Array<V> to_row_major(const Array<V>& vectors, int count) {
  Array<V> result(vectors.size());
  const auto columns = static_cast<std::size_t>(count);
  const std::size_t length = vectors.size() / columns;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < length; ++i) result[i * columns + j] = vectors[j * length + i];
  return result;
}

/// And back.
template <class V>
Array<V> from_row_major(const Array<V>& rows, int count) {
  Array<V> result(rows.size());
  const auto columns = static_cast<std::size_t>(count);
  const std::size_t length = rows.size() / columns;
  for (std::size_t j = 0; j < columns; ++j)
    for (std::size_t i = 0; i < length; ++i) result[j * length + i] = rows[i * columns + j];
  return result;
}

}  // namespace weft::test
