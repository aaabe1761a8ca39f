#pragma once
#include <weft/order.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "order/methods.hpp"
#include "structures.hpp"

// What the tests of this folder share.
namespace weft::ordering {

inline bool is_permutation(const Array<Index>& order, Index size) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  for (const Index i : order) {
    if (i < 0 || i >= size || seen[i]) return false;
    seen[i] = true;
  }
  return order.size() == seen.size();
}

inline std::vector<Index> shuffled(Index size, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

/// Rows and columns in the same random order.
inline Csr<double> shuffle(const Csr<double>& matrix, unsigned seed) {
  const std::vector<Index> order = shuffled(matrix.rows, seed);
  return permute(matrix, order, order);
}

template <class F>
auto run_with_threads(int count, F&& body) {
  set_threads(count);
  auto result = body();
  set_threads(0);
  return result;
}

inline bool has_amd() {
  try {
    order(test::random_rows<double>(1, {1}), Ordering::amd);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace weft::ordering
