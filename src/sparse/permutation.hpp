#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include <span>
#include <string>

namespace weft {

/// inverse[order[i]] == i. Throws Error(invalid_argument), calling it by `name`, unless `order` is a permutation of
/// 0..size-1.
Array<Index> inverse_permutation(std::span<const Index> order, Index size, const std::string& name);

}  // namespace weft
