#pragma once
#include <weft/io.hpp>

#include "sparse/as_stored.hpp"

namespace weft {

/// read_matrix that leaves a Matrix Market file with half of a symmetric matrix as that half; generators and .weft
/// files give whole matrices, marked with their symmetry.
template <Value V>
AsStored<V> read_as_stored(const std::string& source, const ReadOptions& options = {});

}  // namespace weft
