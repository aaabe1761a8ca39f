#pragma once
#include <sys/mman.h>
#include <unistd.h>
#include <weft/csr.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace weft::test {

/// `bytes` of address space that repeat the pages of `pattern` again and again: a huge array in little memory. A page
/// that is written to becomes a page of its own.
inline std::shared_ptr<void> repeat_pages(const void* pattern, std::size_t pattern_bytes, std::size_t bytes) {
  const int file = memfd_create("weft-test", 0);
  if (file < 0 || write(file, pattern, pattern_bytes) != static_cast<ssize_t>(pattern_bytes))
    throw Error(ErrorCode::io, "no memory file for a test");
  void* room = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (std::size_t at = 0; at < bytes; at += pattern_bytes)
    mmap(static_cast<char*>(room) + at, pattern_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
         file, 0);
  close(file);
  return {room, [bytes](void* memory) { munmap(memory, bytes); }};
}

/// A dense matrix of more than 2^32 entries in 32 MB: every row is 0 but for a 2 in column 5 and a 3 in the last one.
/// The very last entry is a 7: whoever keeps only 32 bits of its position finds a 3 instead.
inline Csr<float> huge_matrix() {
  constexpr Index cols = 1 << 22, rows = 1030;
  constexpr Offset entries = Offset(rows) * cols;
  static_assert(entries > Offset(1) << 32);
  std::vector<Index> columns(cols);
  std::vector<float> values(cols, 0.0f);
  for (Index j = 0; j < cols; ++j) columns[j] = j;
  values[5] = 2.0f;
  values[cols - 1] = 3.0f;
  const std::size_t bytes = static_cast<std::size_t>(entries) * 4, pattern = static_cast<std::size_t>(cols) * 4;
  const auto all_columns = repeat_pages(columns.data(), pattern, bytes);
  const auto all_values = repeat_pages(values.data(), pattern, bytes);
  Csr<float> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.offsets = Array<Offset>(rows + 1);
  for (Index row = 0; row <= rows; ++row) matrix.offsets[row] = Offset(row) * cols;
  matrix.columns = Array<Index>(all_columns, static_cast<Index*>(all_columns.get()), entries);
  matrix.values = Array<float>(all_values, static_cast<float*>(all_values.get()), entries);
  matrix.values[entries - 1] = 7.0f;
  return matrix;
}

/// The product of a row of it with a vector of 1s but for a 10 at position 5.
inline float huge_matrix_product(Index row, Index rows) { return row == rows - 1 ? 27.0f : 23.0f; }

}  // namespace weft::test
