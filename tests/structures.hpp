#pragma once
#include <weft/coo.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weft::test {

/// Small reproducible random numbers for tests.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  Index below(Index limit) { return static_cast<Index>(next() % static_cast<std::uint64_t>(limit)); }
  double uniform() { return static_cast<double>(next() >> 11) / 4503599627370496.0 - 1.0; }  // -1 .. 1

 private:
  std::uint64_t state_;
};

template <Value V>
Array<V> random_vector(std::size_t size, std::uint64_t seed) {
  Dice dice(seed);
  Array<V> result(size);
  for (V& element : result) element = static_cast<V>(dice.uniform());
  return result;
}

/// A matrix whose row i has lengths[i] entries at random places.
template <Value V>
Csr<V> random_rows(Index cols, const std::vector<Index>& lengths, std::uint64_t seed = 1) {
  Dice dice(seed);
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<V> values;
  for (Index length : lengths) {
    // Walk the columns once, taking each with the chance that leaves exactly `length` of them.
    Index wanted = std::min(length, cols);
    if (wanted * 4 > cols) {
      for (Index column = 0; column < cols && wanted > 0; ++column)
        if (dice.below(cols - column) < wanted) {
          columns.push_back(column);
          --wanted;
        }
    } else {
      const Index stride = wanted > 0 ? cols / wanted : 1;
      for (Index k = 0; k < wanted; ++k) columns.push_back(k * stride + dice.below(stride));
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  for (std::size_t k = 0; k < columns.size(); ++k) values.push_back(static_cast<V>(dice.uniform()));
  return make_csr<V>(static_cast<Index>(lengths.size()), cols, Array<Offset>(std::move(offsets)),
                     Array<Index>(std::move(columns)), Array<V>(std::move(values)));
}

template <Value V>
struct Named {
  std::string name;
  Csr<V> matrix;
};

/// Every awkward structure the formats must survive. `large` adds those that only fast devices can multiply in a test.
template <Value V>
std::vector<Named<V>> awkward_structures(bool large) {
  const auto repeat = [](std::size_t count, std::vector<Index> cycle) {
    std::vector<Index> lengths(count);
    for (std::size_t i = 0; i < count; ++i) lengths[i] = cycle[i % cycle.size()];
    return lengths;
  };
  const auto with_row = [](std::size_t rows, Index length, std::size_t place, Index long_length) {
    std::vector<Index> lengths(rows, length);
    lengths[place] = long_length;
    return lengths;
  };
  std::vector<Named<V>> all;
  const auto add = [&](std::string name, Csr<V> matrix) { all.push_back({std::move(name), std::move(matrix)}); };

  add("0 x 0", random_rows<V>(0, {}));
  add("0 x 5", random_rows<V>(5, {}));
  add("5 x 0", random_rows<V>(0, {0, 0, 0, 0, 0}));
  add("no entries", random_rows<V>(7, repeat(9, {0})));
  add("1 x 1", random_rows<V>(1, {1}));
  add("one row", random_rows<V>(300, {257}));
  add("one column", random_rows<V>(1, repeat(100, {1, 0, 1})));
  add("diagonal", random_rows<V>(65, repeat(65, {1})));
  add("lengths 0 to 40", [&] {
    std::vector<Index> lengths;
    for (Index length = 0; length <= 40; ++length) lengths.push_back(length);
    return random_rows<V>(50, lengths, 2);
  }());
  add("lengths around powers of two",
      random_rows<V>(
          300, repeat(70, {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}),
          3));
  add("empty rows first and last", random_rows<V>(40, repeat(67, {0, 0, 0, 5, 1, 0}), 4));
  add("long runs of empty rows", [&] {
    std::vector<Index> lengths(400, 0);
    for (const std::size_t place : {31u, 32u, 33u, 255u, 256u, 300u}) lengths[place] = 12;
    return random_rows<V>(50, lengths, 5);
  }());
  add("huge first row", random_rows<V>(3000, with_row(40, 2, 0, 2900), 6));
  add("huge last row", random_rows<V>(3000, with_row(40, 2, 39, 2900), 7));
  add("huge row among empty ones", random_rows<V>(3000, with_row(130, 0, 64, 2900), 8));
  add("wide", random_rows<V>(2000, repeat(20, {30, 1, 77}), 9));
  add("tall", random_rows<V>(5, repeat(700, {1, 2, 0, 3}), 10));
  add("257 short rows", random_rows<V>(257, repeat(257, {7}), 11));
  add("dense", random_rows<V>(48, repeat(48, {48}), 12));
  add("unsorted input with duplicates", [&] {
    Dice dice(13);
    const std::size_t entries = 600;
    Coo<V> coo{50, 40, Array<Index>(entries), Array<Index>(entries), Array<V>(entries)};
    for (std::size_t k = 0; k < entries; ++k) {
      coo.row_indices[k] = dice.below(50);
      coo.column_indices[k] = dice.below(40);
      coo.values[k] = static_cast<V>(dice.uniform());
    }
    return to_csr(coo);
  }());
  if (large) {
    add("row longer than several chunks", random_rows<V>(60000, with_row(500, 6, 250, 50000), 14));
    add("two neighbouring huge rows", [&] {
      std::vector<Index> lengths = with_row(300, 3, 100, 30000);
      lengths[101] = 25000;
      return random_rows<V>(40000, lengths, 15);
    }());
    add("many rows", random_rows<V>(30000, repeat(30000, {0, 1, 2, 9, 27, 4}), 16));
  }
  return all;
}

}  // namespace weft::test
