#pragma once
#include <weft/coo.hpp>

#include "io/matrix_market_header.hpp"

namespace weft::io {

/// Moves entries above the diagonal to their mirror image below it, in place and without changing the order of the
/// entries. `skew` gives the mirror image the other sign.
template <Value V>
void fold_below_diagonal(Coo<V>& entries, bool skew);

/// The matrix whose values an array file stores, or its lower half if the file stores that; without zeros.
template <Value V>
Csr<V> array_to_csr(const Array<V>& stored, const MatrixMarketHeader& header);

}  // namespace weft::io
