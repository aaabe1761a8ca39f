#pragma once
#include <gtest/gtest.h>
#include <weft/coo.hpp>
#include <weft/runtime.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

/// What the tests of src/sparse and src/facts share: a matrix as a std::map, and small makers.
namespace weft::testing {

template <class V>
struct Entry {
  Index row;
  Index column;
  V value;
};

template <class V>
using Dictionary = std::map<std::pair<Index, Index>, V>;

template <class V>
Coo<V> coo_of(Index rows, Index cols, const std::vector<Entry<V>>& entries) {
  std::vector<Index> row_indices, column_indices;
  std::vector<V> values;
  for (const Entry<V>& entry : entries) {
    row_indices.push_back(entry.row);
    column_indices.push_back(entry.column);
    values.push_back(entry.value);
  }
  return {rows, cols, Array<Index>(std::move(row_indices)), Array<Index>(std::move(column_indices)),
          Array<V>(std::move(values))};
}

/// The naive way: duplicates summed as they come.
template <class V>
Dictionary<V> dictionary_of(const std::vector<Entry<V>>& entries) {
  Dictionary<V> result;
  for (const Entry<V>& entry : entries) {
    const auto [place, fresh] = result.try_emplace({entry.row, entry.column}, entry.value);
    if (!fresh) place->second += entry.value;
  }
  return result;
}

template <class V>
Dictionary<V> dictionary_of(const Csr<V>& matrix) {
  Dictionary<V> result;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      result[{row, matrix.columns[i]}] = matrix.values[i];
  return result;
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

template <class V>
bool same_bits(const Csr<V>& a, const Csr<V>& b) {
  return a.rows == b.rows && a.cols == b.cols && same_bits(a.offsets, b.offsets) && same_bits(a.columns, b.columns) &&
         same_bits(a.values, b.values);
}

/// Sets the number of threads for one scope.
class Threads {
 public:
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(0); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
};

/// `count` entries at random places; `skew` > 1 crowds them towards row and column 0, the more the greater it is.
template <class V>
std::vector<Entry<V>> random_entries(Index rows, Index cols, std::size_t count, unsigned seed, double skew = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto index = [&](Index size) { return static_cast<Index>(std::pow(unit(random), skew) * size); };
  std::vector<Entry<V>> result(count);
  for (Entry<V>& entry : result) entry = {index(rows), index(cols), static_cast<V>(unit(random) - 0.5)};
  return result;
}

/// Calls `action`, which must throw an Error with this code and every one of these words in its sentence.
template <class F>
void expect_error(ErrorCode code, const std::vector<std::string>& words, F&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << "no '" << word << "' in: " << error.what();
    return;
  }
  ADD_FAILURE() << "no error was thrown";
}

}  // namespace weft::testing
