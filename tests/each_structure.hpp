#pragma once
#include <gtest/gtest.h>

#include <exception>

#include "structures.hpp"

namespace weft::test {

/// Calls body(matrix) for every awkward structure. Failures and exceptions name the structure, and the first that
/// fails is the last: what is wrong for one is mostly wrong for all, and would be reported thousands of times.
template <Value V, class F>
void for_each_structure(bool large, F&& body) {
  for (const auto& [name, matrix] : awkward_structures<V>(large)) {
    SCOPED_TRACE(name);
    try {
      body(matrix);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "exception: " << error.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace weft::test
