#pragma once
#include <gtest/gtest.h>
#include <weft/csr.hpp>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "formats/bro_sell/runs.hpp"

// Matrices for tests of bro-sell, and a slow decoder that follows the words of packing.hpp.
namespace weft::bro_sell::test {

inline Csr<double> matrix_of(Index rows, Index cols, const std::vector<std::set<Index>>& columns) {
  Csr<double> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(rows) + 1, 0);
  std::vector<Index> all;
  for (std::size_t r = 0; r < columns.size(); ++r) {
    all.insert(all.end(), columns[r].begin(), columns[r].end());
    matrix.offsets[r + 1] = static_cast<Offset>(all.size());
  }
  matrix.columns = Array<Index>(std::move(all));
  matrix.values = Array<double>(matrix.columns.size());
  for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = static_cast<double>(i * 7 % 13) - 6;
  EXPECT_EQ(check(matrix), "");
  return matrix;
}

/// Block rows of 0 to `most` b x b blocks within `span` block columns, `missing` of 100 entries left out.
inline Csr<double> blocky(int b, Index block_rows, Index block_cols, int most, int missing, unsigned seed,
                          Index span = 1 << 30) {
  std::mt19937 random(seed);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(block_rows * b));
  for (Index row = 0; row < block_rows; ++row) {
    const Index reach = std::min(block_cols, span);
    const Index first = block_rows < 2 ? 0 : static_cast<Index>(Offset(block_cols - reach) * row / (block_rows - 1));
    for (int n = below(most + 1); n > 0; --n) {
      const Index column = first + below(reach);
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c)
          if (below(100) >= missing) rows[static_cast<std::size_t>(row * b + r)].insert(column * b + c);
    }
  }
  return matrix_of(block_rows * b, block_cols * b, rows);
}

/// Block rows that have blocks at these distances from the diagonal, but for one of so many stretches of rows: runs
/// that begin and end anywhere.
inline Csr<double> banded(int b, Index block_rows, Index block_cols, const std::vector<Index>& distances, int one_in,
                          unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(block_rows * b));
  for (const Index distance : distances) {
    Index left = 0;  // of a stretch
    bool is_there = true;
    for (Index row = 0; row < block_rows; ++row, --left) {
      if (left == 0) {
        left = 1 + static_cast<Index>(random() % 30);
        is_there = one_in == 0 || random() % static_cast<unsigned>(one_in) != 0;
      }
      const Index column = row + distance;
      if (!is_there || column < 0 || column >= block_cols) continue;
      for (int r = 0; r < b; ++r)
        for (int c = 0; c < b; ++c) rows[static_cast<std::size_t>(row * b + r)].insert(column * b + c);
    }
  }
  return matrix_of(block_rows * b, block_cols * b, rows);
}

/// What the matrices below have in common is that something is awkward about them.
inline std::vector<std::pair<std::string, Csr<double>>> awkward() {
  constexpr Index far = 2147483646;  // the last column there can be
  std::vector<std::pair<std::string, Csr<double>>> matrices;
  const auto add = [&](const std::string& name, Csr<double> matrix) { matrices.emplace_back(name, std::move(matrix)); };
  add("no rows", matrix_of(0, 5, {}));
  add("no entries", matrix_of(70, 5, std::vector<std::set<Index>>(70)));
  add("one entry", matrix_of(1, 1, {{0}}));
  add("one row", matrix_of(1, 100, {{0, 1, 2, 50, 98, 99}}));
  std::vector<std::set<Index>> rows(40);
  rows[0] = {0, far};  // deltas of 0 and 2^31 - 2
  rows[1] = {far};
  rows[39] = {0, 1, 2, 3, far - 1, far};
  add("columns far apart", matrix_of(40, far + 1, rows));
  std::vector<std::set<Index>> diagonals(100);
  for (Index r = 0; r < 100; ++r)
    for (const Index d : {-30, -1, 0, 1, 30})
      if (r + d >= 0 && r + d < 100) diagonals[static_cast<std::size_t>(r)].insert(r + d);
  add("diagonals", matrix_of(100, 100, diagonals));
  std::vector<std::set<Index>> edges(65);  // what is left of a delta at the edges of the widths
  const Index left[] = {0, 1, 15, 16, 255, 256, 65535, 65536};
  for (Index r = 0; r < 65; ++r)
    for (Index k = 0; k < 9; ++k)
      edges[static_cast<std::size_t>(r)].insert(k * 100000 + (r % 32 == 5 ? left[k % 8] : 0) + r);
  add("edges of the widths", matrix_of(65, 1000000, edges));
  std::vector<std::set<Index>> wide(33);
  for (Index r = 0; r < 33; ++r)
    for (Index k = 0; k < 100 + r % 3; ++k) wide[static_cast<std::size_t>(r)].insert(k * (k % 7 == 0 ? 30 : 29) + r);
  add("more groups than a slice's own codes", matrix_of(33, 4000, wide));
  add("more columns than rows", blocky(1, 50, 3000, 9, 0, 1));
  add("more rows than columns", blocky(1, 900, 20, 9, 0, 2));
  for (int b = 1; b <= 6; ++b) {
    const std::string size = std::to_string(b) + " x " + std::to_string(b);
    add(size + " blocks", blocky(b, 70, 70, 9, 0, static_cast<unsigned>(b)));
    add(size + " blocks, one row", blocky(b, 1, 30, 20, 0, 3));
    add(size + " blocks with a few gaps", blocky(b, 67, 67, 9, 3, static_cast<unsigned>(10 + b)));
    add(size + " blocks that are hardly any", blocky(b, 40, 40, 5, 60, static_cast<unsigned>(20 + b)));
  }
  for (int b = 1; b <= 6; ++b) {
    const std::string size = std::to_string(b) + " x " + std::to_string(b) + " blocks, ";
    const std::vector<Index> distances{-17, -3, -1, 0, 1, 2, 9, 10, 30};
    const auto seed = static_cast<unsigned>(30 + b);
    add(size + "bands", banded(b, 133, 133, distances, 0, seed));
    add(size + "bands with holes", banded(b, 133, 131, distances, 9, seed));
    add(size + "bands that are mostly holes", banded(b, 91, 140, distances, 2, seed));
  }
  Csr<double> mixed = blocky(3, 200, 200, 6, 0, 7);  // half of the rows have lost what makes them blocks
  std::vector<std::set<Index>> halves(600);
  for (Index r = 0; r < 600; ++r)
    for (Offset i = mixed.offsets[r]; i < mixed.offsets[r + 1]; ++i)
      if (r < 300 || i % 3 == 0) halves[static_cast<std::size_t>(r)].insert(mixed.columns[i]);
  add("blocks in some rows", matrix_of(600, 600, halves));
  return matrices;
}

/// The same for a slice in runs.
template <class V>
void decode_runs(const Part<V>& part, Offset s, std::map<std::pair<Index, Index>, V>& entries) {
  const Slice& slice = part.slices[s];
  const Index c = part.shape.slice_rows;
  const int b = part.shape.block;
  ASSERT_EQ(slice.marks & ~repeats, in_runs);
  const RunWords runs(slice, part.words.data() + slice.word, b);
  ASSERT_LE(runs.full, runs.count);
  for (Index k = 0; k < runs.count; ++k) {
    if (k != 0 && k != runs.full) {
      ASSERT_LT(runs.distance(k - 1), runs.distance(k));
    }
    ASSERT_EQ(runs.distance(k) % b, 0);
    for (Index i = 0; i < c; ++i) {
      int bits = k < runs.full ? b : 0;  // of this slot
      for (int e = 0; e < b && k >= runs.full; ++e) bits += runs.masks(k)[(i * b + e) / c] >> ((i * b + e) % c) & 1u;
      const bool is_there = bits > 0;
      ASSERT_TRUE(bits == 0 || bits == b);
      ASSERT_TRUE(!is_there || s * c + i < part.rows);
      const Offset place = s * c + i;
      const Index row = !is_there ? 0 : part.order.empty() ? static_cast<Index>(place) : part.order[place];
      if (is_there && i > 0) {
        ASSERT_TRUE(part.order.empty() || row == part.order[place - 1] + 1);
      }
      for (int e = 0; e < b * b; ++e) {
        const V value = part.values[slice.value + run_value_place(i, k, e / b, e % b, c, b)];
        if (!is_there) {
          ASSERT_EQ(value, V(0));
          continue;
        }
        const std::pair<Index, Index> key(row * b + e / b, row * b + runs.distance(k) + e % b);
        ASSERT_TRUE(entries.emplace(key, value).second) << "twice: row " << key.first << " column " << key.second;
      }
    }
  }
}

/// Entry (row, column) -> value, as a part holds it. Fails where it holds what it should not.
template <class V>
void decode(const Part<V>& part, std::map<std::pair<Index, Index>, V>& entries) {
  const Index c = part.shape.slice_rows;
  const int b = part.shape.block;
  for (Offset slot = 0; slot < static_cast<Offset>(part.slices.size()) * c; ++slot) {
    const Slice& slice = part.slices[slot / c];
    const auto i = static_cast<Index>(slot % c);
    if (slice.marks & in_runs) {
      if (i == 0) {
        ASSERT_NO_FATAL_FAILURE(decode_runs(part, slot / c, entries));
      }
      continue;
    }
    const std::uint32_t* const words = part.words.data() + slice.word;
    const WordLayout layout = word_layout(slice.width, slice.marks, c, b);
    const Index length = slice.marks & ragged ? static_cast<Index>(words[layout.lengths + i]) : slice.width;
    ASSERT_LE(length, slice.width);
    if (slot / part.shape.threads >= part.rows) {
      ASSERT_EQ(length, 0);
    }
    if (length == 0) continue;
    const Index row =
        part.order.empty() ? static_cast<Index>(slot / part.shape.threads) : part.order[slot / part.shape.threads];
    std::int64_t column = row;
    Offset place = layout.groups;
    for (Index k = 0; k < slice.width; ++k) {
      const Index g = k / group_columns;
      const std::uint32_t codes = g < codes_per_word ? slice.codes : words[g / codes_per_word - 1];
      const std::uint32_t code = codes >> (g % codes_per_word * code_bits) & 15u;
      const int bits = width_of(code);
      const Offset at = (Offset(i) * group_columns + k % group_columns) * bits;
      const std::uint64_t word = bits == 0 ? 0 : words[place + at / 32] >> (at % 32);
      column += part.bases[(Offset(slice.group) + g) * group_columns + k % group_columns];
      column += static_cast<std::int64_t>(word & ((std::uint64_t(1) << bits) - 1));
      if (k % group_columns == group_columns - 1) place += group_words(code, c);
      std::uint64_t mask = k < length ? ~std::uint64_t(0) : 0;
      if (k < length && slice.marks & masked) {
        const std::uint32_t* const m = words + layout.masks + (Offset(k) * c + i) * mask_words(b);
        mask = mask_words(b) == 1 ? m[0] : m[0] | std::uint64_t(m[1]) << 32;
      }
      for (int e = 0; e < b * b; ++e) {
        const V value = part.values[slice.value + value_place(i, k, e, c, slice.width, b, part.shape.pack)];
        if (!(mask >> e & 1)) {
          ASSERT_EQ(value, V(0));
          continue;
        }
        const std::pair<Index, Index> key(row * b + e / b, static_cast<Index>(column * b + e % b));
        ASSERT_TRUE(entries.emplace(key, value).second) << "twice: row " << key.first << " column " << key.second;
      }
    }
  }
}

}  // namespace weft::bro_sell::test
